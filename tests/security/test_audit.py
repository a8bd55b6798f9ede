"""What codehub is made of (control C38): locked, audited or said not to be, and listed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
LOCKS = sorted((REPOSITORY / "requirements").glob("*.lock"))
MADE_BY_OTHERS = ("*.min.js", "*.iife.js", "*.min.css", "*.woff2")


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_package_is_locked_by_hash(lock: Path) -> None:
    packages = [each for each in lock.read_text().replace("\\\n", " ").splitlines() if each and each[0] not in "# "]
    assert len(packages) > 20
    assert [each for each in packages if "==" not in each or "--hash=sha256:" not in each] == []
    assert "://" not in lock.read_text()


@pytest.mark.parametrize("part", ["packages", "ide_packages"])
def test_an_audit_without_its_data_fails_with_a_sentence(tmp_path: Path, part: str) -> None:
    nowhere = dict.fromkeys(
        ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), "http://127.0.0.1:1"
    )
    code = f"import runpy, sys; sys.exit(runpy.run_path('scripts/audit.py')['{part}']())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env=os.environ
        | nowhere
        | {"NO_PROXY": "", "no_proxy": "", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "could not be audited, so nothing is known of them: " in done.stderr
    assert "No module" not in done.stderr


def test_what_is_brought_along_is_listed_with_version_and_licence() -> None:
    folders = (REPOSITORY / "src", REPOSITORY / "tests")
    brought = [path for folder in folders for kind in MADE_BY_OTHERS for path in folder.rglob(kind)]
    listed = (REPOSITORY / "docs/security.md").read_text()
    assert brought
    assert [path.name for path in brought if f"`{path.relative_to(REPOSITORY)}`" not in listed] == []
    assert [path.name for path in brought if not list(path.parent.glob("LICENSE*"))] == []
