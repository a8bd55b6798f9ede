"""Looks for known mistakes in the source and known holes in what it stands on. Run by scripts/audit.

Ends with 1 where it found something, and with 2 where it could not look: an audit without its data knows nothing, and
must not say that nothing was found."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

CLEAN, FOUND, UNKNOWN = 0, 1, 2
LOCKED = Path("requirements/dev.lock")
"""It holds all that the others hold, in the same versions."""
SHIPPED = Path("requirements/s3.lock")
PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
BANDIT = ("bandit", "--quiet", "--recursive", "--severity-level", "high", "--format", "json", "src", "scripts")
PIP_AUDIT = (
    "pip_audit",
    "--strict",
    "--disable-pip",
    "--require-hashes",
    "--progress-spinner",
    "off",
    "--format",
    "json",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--bill", type=Path, metavar="FILE", help="write a bill of materials (CycloneDX) of what is shipped"
    )
    chosen = parser.parse_args()
    if chosen.bill:
        chosen.bill.write_text(json.dumps(bill(SHIPPED.read_text()), indent=2) + "\n")
    return max(source(), packages())


def source() -> int:
    found, complaint = _told(*BANDIT)
    if found is None:
        return _unknown("The source", complaint)
    for each in found["results"]:
        print(f"{each['filename']}:{each['line_number']}: {each['issue_text']} ({each['test_id']})")
    print(f"bandit: {len(found['results'])} findings of high severity")
    return FOUND if found["results"] else CLEAN


def packages() -> int:
    found, complaint = _told(*PIP_AUDIT, "--requirement", str(LOCKED))
    if found is None:
        return _unknown("The packages", complaint)
    holes = [(each["name"], each["version"], hole) for each in found["dependencies"] for hole in each["vulns"]]
    for name, version, hole in holes:
        print(f"{name} {version}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version yet'}")
    print(f"pip-audit: {len(found['dependencies'])} packages looked up, {len(holes)} known holes")
    return FOUND if holes else CLEAN


def _told(*command: str) -> tuple[dict[str, Any] | None, str]:
    """What it found; nothing where it could not look, and what it says of that."""
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
    lines = done.stderr.strip().splitlines() or ["it said nothing"]
    try:
        return json.loads(done.stdout), lines[-1]
    except ValueError:
        return None, lines[-1]


def _unknown(what: str, complaint: str) -> int:
    print(f"{what} could not be audited, so nothing is known of them: {complaint}", file=sys.stderr)
    return UNKNOWN


def bill(lock: str) -> dict[str, Any]:
    """What is shipped, with the hashes that it is locked by."""
    pins = list(PINNED.finditer(lock))
    ends = [*(pin.start() for pin in pins[1:]), len(lock)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [
            {
                "type": "library",
                "name": pin[1],
                "version": pin[2],
                "purl": f"pkg:pypi/{pin[1].lower()}@{pin[2]}",
                "properties": [{"name": "sha256", "value": each} for each in HASH.findall(lock[pin.start() : end])],
            }
            for pin, end in zip(pins, ends, strict=True)
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
