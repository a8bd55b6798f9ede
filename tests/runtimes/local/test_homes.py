"""Homes as folders, also those that a workspace has left in a mess."""

import os
import uuid
from pathlib import Path

import pytest

from codehub.runtimes.errors import NotFound
from codehub.runtimes.local.users import USERS, user_of
from codehub.runtimes.protocols import Instance
from tests.runtimes.local.place import Place, inside

DEPTH = 3000
DEEP = f"python3 -c \"import os\nfor _ in range({DEPTH}):\n    os.mkdir('folder')\n    os.chdir('folder')\""


async def stopped(here: Place, command: str) -> Instance:
    """A workspace that ran this and was stopped."""
    workspace = await here.workspace()
    assert await inside(workspace, command) == ""
    await here.open().instances.stop(workspace.id, 5)
    return workspace


async def test_a_home_goes_whatever_is_in_it_and_links_are_not_followed(here: Place) -> None:
    outside = here.data / "outside"
    outside.mkdir()
    (outside / "file").write_text("kept")
    links = f"ln -s {outside} link; ln -s {outside}/file other; mkfifo pipe"
    closed = "mkdir -p closed/inner; touch closed/inner/file; chmod 0 closed/inner closed"
    workspace = await stopped(here, f"{links}; {closed}; touch -- '-rf' 'a\nb'; {DEEP}")
    await here.open().volumes.delete(workspace.volume)
    assert await here.open().volumes.list() == ()
    assert list((here.data / "local/volumes").iterdir()) == []
    assert (outside / "file").read_text() == "kept"


async def test_what_a_home_holds_is_counted_without_its_links_and_holes(here: Place) -> None:
    big = here.data / "big"
    big.write_bytes(os.urandom(2**22))
    files = f"head -c 1000000 /dev/urandom > file; ln file again; ln -s {big} link; truncate -s 1G hole; sync file"
    workspace = await stopped(here, files)
    assert 1_000_000 < await here.open().volumes.usage(workspace.volume) < 1_100_000


async def test_no_depth_keeps_a_home_from_being_counted(here: Place) -> None:
    workspace = await stopped(here, DEEP)
    assert await here.open().volumes.usage(workspace.volume) >= DEPTH * 4096


async def test_what_a_deletion_was_cut_off_at_goes_with_the_next(here: Place) -> None:
    workspace = await stopped(here, "touch file")
    left = here.data / "local/volumes/.left"
    left.mkdir()
    (left / "file").write_text("of a home that is out of sight")
    await here.open().volumes.delete(workspace.volume)
    assert not left.exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../volumes", "a/b", "/etc", ".hidden", "a\0b"])
async def test_a_name_that_is_a_path_leads_nowhere(here: Place, name: str) -> None:
    runtime = here.open()
    await runtime.volumes.delete(name)
    await runtime.instances.stop(name, 0)
    with pytest.raises(NotFound):
        await runtime.volumes.usage(name)
    with pytest.raises(NotFound):
        await runtime.instances.stats(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has users to give")
async def test_a_workspace_keeps_its_user_and_never_shares_it(here: Place) -> None:
    folders = here.open()._folders
    folders.make()
    workspace_id = uuid.uuid4()
    alike = uuid.UUID(int=(workspace_id.int + USERS) % 2**128)  # would have the same by its number alone
    users = [user_of(each, folders) for each in (workspace_id, alike, workspace_id, alike)]
    assert users[:2] == users[2:]
    assert len(set(users)) == 2


async def test_another_data_folder_is_another_engine(here: Place, tmp_path: Path) -> None:
    assert await here.open().engine() != await Place(tmp_path, here.tools).open().engine()
