"""A disk that is full is told, before and after somebody has made room on it."""

import uuid
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from codehub.archives.open import ensure_bucket, open_store
from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports
from codehub.telemetry.health import ArchiveStoreCheck, check_database_disk
from tests.chaos.disk import Disk, can_be_made, disk
from tests.conftest import running
from tests.coordinators.house import until
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
    server = SeaweedFS(
        folder=small_disk.folder / "data",
        sockets=folder / "sockets",
        programs=binaries.reachable(binaries.seaweedfs(), account, folder / "bin"),
        account=account,
        access_key=uuid.uuid4().hex,
        secret_key=uuid.uuid4().hex,
        ports=remembered_ports(folder / "ports.json"),
        log=folder / "log",
    )
    with running(server, politely=False):
        yield server
    remove_seaweedfs_sockets(server.ports.values())


async def test_that_of_an_object_store(small_disk: Disk, server_on_disk: SeaweedFS) -> None:
    await ensure_bucket("s3://archives", **server_on_disk.access)
    look = ArchiveStoreCheck(open_store("s3://archives", **server_on_disk.access))

    async def is_well() -> bool | None:
        return (await look()).ok or None

    async with small_disk.full():
        check = await look()
        assert not check.ok
        assert check.detail.startswith("answers, but ")
        assert "disk is full" in check.remedy
    assert await until(is_well, 60)
