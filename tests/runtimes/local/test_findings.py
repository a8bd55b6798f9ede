"""What an administrator is told about a machine."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.runtimes.local import limits, network
from tests.runtimes.local.place import Place, inside

DISK = "Homes have no size limit of their own: one workspace can fill the disk of all."


async def test_what_a_machine_lacks_is_told(here: Place) -> None:
    assert await here.open().obstacles() == []
    found = await here.open().findings()
    assert found[-1] == DISK
    assert bool([each for each in found if "codehub's own user" in each]) is (os.geteuid() != 0)
    assert bool([each for each in found if "Memory is limited" in each]) is (limits.groups_obstacle() is not None)
    assert bool([each for each in found if "no network" in each]) is (network.obstacle() is not None)


async def test_missing_programs_are_named_with_their_packages(
    here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    obstacles = await here.open().obstacles()
    assert "Nothing can be started, because bwrap is missing (package bubblewrap)." in obstacles
    assert "Workspaces have no network, because slirp4netns is not installed." in await here.open().findings()


@pytest.fixture
def without_slirp4netns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with all the programs of this one but that one."""
    with tempfile.TemporaryDirectory(prefix="codehub-") as folder:
        Path(folder).chmod(0o755)
        for name in ("sh", "mkdir", "mount", "unshare", "setpriv", "prlimit", "bwrap"):
            (Path(folder) / name).symlink_to(str(shutil.which(name)))
        monkeypatch.setattr("codehub.runtimes.local.shims.SYSTEM_PATH", folder)
        yield


@pytest.mark.usefixtures("without_slirp4netns")
async def test_without_slirp4netns_a_workspace_runs_and_has_only_itself_to_talk_to(here: Place) -> None:
    workspace = await here.workspace()
    assert len(here.life(workspace).others) == 1
    assert await inside(workspace, "ls /sys/class/net 2>/dev/null || tail -n +3 /proc/net/dev | cut -d: -f1") == "lo"
