"""All of it once more as an ordinary user, on a machine whose /dev/net/tun is open to everybody, as it is where udev
runs. Only root can become another user, so an ordinary user's own run of the tests has no need of this."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[3]
OPEN_TUNNEL = """
mount -t tmpfs -o mode=0711 tests /mnt
mknod -m 0666 /mnt/tun c 10 200
mount --bind /mnt/tun /dev/net/tun
exec "$@"
"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("tests", ["isolation", "life", "homes", "findings", "contract", "jobs"])
@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
@pytest.mark.skipif(not REPOSITORY.stat().st_mode & 0o004, reason="the repository is closed to others")
def test_as_an_ordinary_user(tests: str) -> None:
    uid = str(200_000_000 + secrets.randbelow(100_000_000))
    become = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    files = {
        "contract": ["tests/contracts/test_runtime.py", "tests/contracts/test_runtime_fences.py", "-k", "local"],
        "jobs": ["tests/runtimes/local/test_jobs.py", "tests/contracts/test_jobs.py", "-k", "local"],
    }
    folder = tempfile.mkdtemp(prefix="codehub-user-")
    os.chown(folder, int(uid), int(uid))
    command = ["unshare", "--mount", "sh", "-ec", OPEN_TUNNEL, "sh", *become, sys.executable, "-m", "pytest", "-q"]
    run = subprocess.run(
        [
            *command,
            *("-p", "no:cacheprovider", f"--basetemp={folder}/pytest"),
            *files.get(tests, [f"tests/runtimes/local/test_{tests}.py"]),
        ],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    shutil.rmtree(folder)
    assert run.returncode == 0, run.stdout
    assert "passed" in run.stdout
