"""Looks for known mistakes in the source and known holes in what it stands on. Run by scripts/audit.

Ends with 1 where it found something, and with 2 where it could not look: an audit without its data knows nothing, and
must not say that nothing was found."""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

CLEAN, FOUND, UNKNOWN = 0, 1, 2
IDES = Path("src/codehub/images/files")
LOCKED = (Path("requirements/dev.lock"), IDES / "code-server/node.txt", IDES / "jupyterlab/jupyterlab.txt")
"""The first holds all that the other locks hold, in the same versions; the others are in the images of the IDEs."""
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
PINNED_BY_NPM = IDES / "code-server/code-server.sha512"
NPM_LOCKS = ("npm-shrinkwrap.json", "package.json")
NPM_AUDIT = ("npm", "audit", "--json", "--omit=dev", "--package-lock-only", "--fetch-retries=0")
NPM_PACK = ("npm", "pack", "--silent", "--fetch-retries=0")
GRAVE = ("high", "critical")
"""Lesser ones are told: they are mended by whoever makes the IDE, and most never concern it."""


class Unreachable(Exception):
    """The data that is needed could not be had; why, in a sentence."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--bill", type=Path, metavar="FILE", help="write a bill of materials (CycloneDX) of what is shipped"
    )
    chosen = parser.parse_args()
    if chosen.bill:
        chosen.bill.write_text(json.dumps(bill(SHIPPED.read_text()), indent=2) + "\n")
    return max(source(), packages(), ide_packages())


def source() -> int:
    found, complaint = _told(*BANDIT)
    if found is None:
        return _unknown("The source", complaint)
    for each in found["results"]:
        print(f"{each['filename']}:{each['line_number']}: {each['issue_text']} ({each['test_id']})")
    print(f"bandit: {len(found['results'])} findings of high severity")
    return FOUND if found["results"] else CLEAN


def packages() -> int:
    locks = [word for lock in LOCKED for word in ("--requirement", str(lock))]
    found, complaint = _told(*PIP_AUDIT, *locks)
    if found is None:
        return _unknown("The packages", complaint)
    holes = [(each["name"], each["version"], hole) for each in found["dependencies"] for hole in each["vulns"]]
    for name, version, hole in holes:
        print(f"{name} {version}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'no version yet'}")
    print(f"pip-audit: {len(found['dependencies'])} packages looked up, {len(holes)} known holes")
    return FOUND if holes else CLEAN


def ide_packages() -> int:
    """What code-server stands on, which npm installs by the locks in its package."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            reports = [npm_report(each.parent) for each in ide_locks(Path(folder))]
    except (Unreachable, FileNotFoundError) as error:
        return _unknown("The packages of code-server", str(error))
    holes = [hole for report in reports for hole in report["vulnerabilities"].values()]
    for hole in holes:
        told = [each["url"] for each in hole["via"] if isinstance(each, dict)]
        print(f"{hole['name']}: {hole['severity']}, {', '.join(told) or 'by what it stands on'}")
    grave = [hole for hole in holes if hole["severity"] in GRAVE]
    count = sum(report["metadata"]["dependencies"]["prod"] for report in reports)
    print(f"npm audit: {count} packages looked up, {len(holes)} known holes, {len(grave)} of them grave")
    return FOUND if grave else CLEAN


def ide_locks(folder: Path) -> list[Path]:
    """The locks of the package that is pinned, put into this folder."""
    pinned, name = PINNED_BY_NPM.read_text().split()
    version = name.removeprefix("code-server-").removesuffix(".tgz")
    done = subprocess.run(
        [*NPM_PACK, f"code-server@{version}"], cwd=folder, capture_output=True, text=True, check=False
    )
    package = folder / name
    if done.returncode != 0:
        raise Unreachable(done.stderr.strip().partition("\n")[0] or "npm pack said nothing")
    if hashlib.sha512(package.read_bytes()).hexdigest() != pinned:
        raise Unreachable(f"the registry has another {name} than the one that is pinned")
    with tarfile.open(package) as archive:
        archive.extractall(folder, [each for each in archive if Path(each.name).name in NPM_LOCKS])  # noqa: S202 - pinned
    return sorted(folder.rglob(NPM_LOCKS[0]))


def npm_report(folder: Path) -> dict[str, Any]:
    done = subprocess.run([*NPM_AUDIT], cwd=folder, capture_output=True, text=True, check=False)
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise Unreachable(done.stderr.strip().partition("\n")[0] or "npm audit said nothing") from None
    if "vulnerabilities" not in report:
        raise Unreachable(str(report.get("message") or report))
    return report


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
