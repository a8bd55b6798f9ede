"""A disk that is full is told, before and after somebody has made room on it."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from urllib.parse import urlsplit

import pytest

from codehub.archives.errors import StoreError
from codehub.archives.object_store import ObjectStore
from codehub.archives.open import open_store
from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.parts import Kept
from codehub.stack.seaweedfs import PROBE_URL, SeaweedFS, remembered_ports
from codehub.telemetry.health import ArchiveStoreCheck, check_database_disk
from tests.chaos.disk import Disk, can_be_made, disk
from tests.folders import remove_seaweedfs_sockets, short_folder
from tests.tablespaces import tablespace

pytestmark = pytest.mark.skipif(not can_be_made(), reason="only root can make a disk, and not in every container")


@pytest.fixture
def small_disk() -> Iterator[Disk]:
    with short_folder() as folder, disk(folder / "disk") as made:
        yield made


async def test_that_of_a_database(small_disk: Disk, account: Account, empty_database_url: str) -> None:
    async with tablespace(empty_database_url, small_disk, account) as (connection, space):
        database = urlsplit(empty_database_url).path.strip("/")
        await connection.execute(f'ALTER DATABASE "{database}" SET temp_tablespaces = {space}')
        async with small_disk.full():
            check = await check_database_disk(empty_database_url)
            assert (check.name, check.ok) == ("database disk", False)
            assert check.detail.startswith("is full: could not write")
            assert check.remedy == "Make room on it; until then nothing new can be kept."
        check = await check_database_disk(empty_database_url)
        assert (check.ok, check.detail) == (True, "has room")


async def test_that_of_a_folder_of_archives(small_disk: Disk) -> None:
    look = ArchiveStoreCheck(open_store(small_disk.folder.as_uri()))
    async with small_disk.full():
        check = await look()
        assert not check.ok
        assert check.detail.startswith("answers, but takes nothing that is written: The archive folder has no room")
        assert check.remedy == "Free some space."
    assert (await look()).ok
    assert list(small_disk.folder.iterdir()) == []


@pytest.fixture
def server_on_disk(small_disk: Disk, account: Account) -> Iterator[SeaweedFS]:
    folder = small_disk.folder.parent
    ports = remembered_ports(folder / "ports.json")
    yield SeaweedFS(
        folder=small_disk.folder / "data",
        sockets=folder / "sockets",
        programs=binaries.reachable(binaries.seaweedfs(), account, folder / "bin"),
        account=account,
        access_key=uuid.uuid4().hex,
        secret_key=uuid.uuid4().hex,
        ports=ports,
        log=folder / "log",
    )
    remove_seaweedfs_sockets(ports.values())


@pytest.fixture
async def kept(server_on_disk: SeaweedFS) -> AsyncIterator[Kept]:
    hurry = asyncio.Event()
    part = Kept(server_on_disk, lambda _before, _after: None, hurry=hurry, is_stuck=server_on_disk.is_stuck)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(part.run())
        await part.started
        yield part
        hurry.set()
        await part.stop()


async def test_that_of_an_object_store_which_is_started_anew_when_there_is_room(
    small_disk: Disk, server_on_disk: SeaweedFS, kept: Kept
) -> None:
    """Left alone, it would never again take a name in any folder in which it had no room for one."""
    store, folders = open_store(PROBE_URL, **server_on_disk.access), tuple(server_on_disk.probed)
    look = ArchiveStoreCheck(store)
    async with small_disk.full():
        check = await look()
        assert not check.ok
        assert check.detail.startswith("answers, but ")
        assert "disk is full" in check.remedy
        for folder in folders:
            with pytest.raises(StoreError):
                await fill(store, folder)
    async with asyncio.timeout(120):
        while not await takes_all(store, folders) or not (await look()).ok:
            await asyncio.sleep(0.5)
    assert kept.status.restarts == 1


async def fill(store: ObjectStore, folder: str) -> None:
    """What is empty takes only the room of its name, which goes behind those before it."""
    for number in range(1000):
        await store.put(f"{folder}/{number}", b"")


async def takes_all(store: ObjectStore, folders: Sequence[str]) -> bool:
    try:
        for folder in folders:
            await store.put(f"{folder}/page", b"")
    except StoreError:
        return False
    return True
