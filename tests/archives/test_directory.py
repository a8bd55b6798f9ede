"""What only a directory store has to promise: privacy, order, tidiness, and that there is no way out of its folder."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import ObjectNotFound, StoreRefused
from tests.contracts.object_store_reads import content_of, keys_of, uploads_of

MIB = 1024 * 1024


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def store(root: Path) -> DirectoryStore:
    return DirectoryStore(root)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.rglob("*")}


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


async def test_an_object_is_a_file_of_its_key_that_only_its_user_can_read(store: DirectoryStore, root: Path) -> None:
    before = os.umask(0)
    try:
        await store.put("workspace/archive/home.tar.zst", b"data")
        async with store.upload("workspace/archive/other") as upload:
            await upload.complete()
    finally:
        os.umask(before)
    assert (root / "workspace/archive/home.tar.zst").read_bytes() == b"data"
    assert modes(root) == {"workspace": 0o700, "archive": 0o700, "home.tar.zst": 0o600, "other": 0o600}


async def test_objects_are_listed_in_the_order_of_their_keys(store: DirectoryStore) -> None:
    keys = ["a-b", "a.b", "a/b", "a0", "b/c/d", "b/c.d", "ä", "z"]
    for key in reversed(keys):
        await store.put(key, b"")
    assert await keys_of(store) == sorted(keys)


async def test_empty_folders_go_with_their_last_object(store: DirectoryStore, root: Path) -> None:
    await store.put("a/b/c", b"")
    await store.put("a/d", b"")
    await store.delete("a/b/c")
    assert tree(root) == ["a", "a/d"]
    async with store.upload("a/e/f"):
        pass
    assert tree(root) == ["a", "a/d"]
    await store.delete("a/d")
    assert tree(root) == []


async def test_writers_and_deleters_of_one_folder_do_not_disturb_each_other(store: DirectoryStore, root: Path) -> None:
    async def come_and_go(name: str) -> None:
        for _ in range(40):
            await store.put(f"a/b/{name}", name.encode())
            assert await content_of(store, f"a/b/{name}") == name.encode()
            await store.delete(f"a/b/{name}")

    await asyncio.gather(*(come_and_go(str(number)) for number in range(8)))
    assert tree(root) == []


async def test_a_key_below_an_object_or_above_one_is_refused(store: DirectoryStore) -> None:
    await store.put("a/b", b"data")
    for key in ("a", "a/b/c"):
        with pytest.raises(StoreRefused):
            await store.put(key, b"")
        with pytest.raises(StoreRefused):
            await store.create(key, b"")
    assert await keys_of(store) == ["a/b"]
    assert await uploads_of(store) == []


async def test_what_others_put_there_under_impossible_names_is_no_object(store: DirectoryStore, root: Path) -> None:
    await store.put("key", b"data")
    for name in (b"invalid \xff utf-8", b"back\\slash", b"new\nline"):
        (root / os.fsdecode(name)).write_bytes(b"")
    assert await keys_of(store) == ["key"]


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the store that no key may reach; whatever a test does, it is unchanged in the end."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    yield folder
    assert tree(folder) == ["secret"]
    assert (folder / "secret").read_text() == "secret"


@pytest.mark.parametrize("key", ["link/secret", "link/new", "folder/link/secret", "folder/link/new"])
async def test_a_link_to_a_folder_is_never_followed(store: DirectoryStore, root: Path, outside: Path, key: str) -> None:
    (root / "folder").mkdir()
    (root / key).parent.symlink_to(outside)
    for operation in (
        store.head(key),
        content_of(store, key),
        store.delete(key),
        store.put(key, b"overwritten"),
        store.create(key, b"overwritten"),
        keys_of(store),
        uploads_of(store),
    ):
        with pytest.raises(StoreRefused, match="links are never followed"):
            await operation


@pytest.mark.parametrize("key", ["link", "folder/link"])
async def test_a_link_to_a_file_is_never_followed(store: DirectoryStore, root: Path, outside: Path, key: str) -> None:
    (root / "folder").mkdir()
    (root / key).symlink_to(outside / "secret")
    for operation in (
        store.head(key),
        content_of(store, key),
        store.delete(key),
        store.create(key, b"overwritten"),
        keys_of(store),
    ):
        with pytest.raises(StoreRefused, match="links are never followed"):
            await operation
    await store.put(key, b"in place of the link")
    assert await content_of(store, key) == b"in place of the link"


async def test_a_pipe_in_the_folder_is_an_error_not_a_wait(store: DirectoryStore, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(StoreRefused):
        await content_of(store, "pipe")


@pytest.fixture
def read_only(root: Path) -> Iterator[None]:
    root.chmod(0o500)
    yield
    root.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
@pytest.mark.usefixtures("read_only")
async def test_a_folder_that_may_not_be_written_is_refused(store: DirectoryStore) -> None:
    for operation in (store.ping(), store.put("key", b""), store.create("a/key", b"")):
        with pytest.raises(StoreRefused):
            await operation


FILL = """
import asyncio, resource, sys
from pathlib import Path
from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import StoreFull

async def main(store):
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    for write in (store.put, store.create):
        try:
            await write("folder/key", bytes(8192))
        except StoreFull as error:
            print(error)
    async with store.upload("folder/key") as upload:
        try:
            for _ in range(100):
                await upload.write(bytes(1024))
            await upload.complete()
        except StoreFull as error:
            print(error)

asyncio.run(main(DirectoryStore(Path(sys.argv[1]))))
"""


def test_without_room_a_write_fails_with_a_sentence_and_leaves_nothing(root: Path) -> None:
    """The limit is that of a process, which the kernel reports where a full disk would be."""
    filled = subprocess.run([sys.executable, "-c", FILL, root], capture_output=True, text=True, check=True, timeout=60)
    assert filled.stdout.count("The archive folder has no room for folder/key") == 3
    assert filled.stderr == ""
    assert tree(root) == []


async def test_no_file_stays_open(store: DirectoryStore) -> None:
    async def use() -> None:
        await store.put("a/b", bytes(3 * MIB))
        async with aclosing(store.read("a/b")) as pieces:
            await anext(pieces)
        for key in ("a/b/c", "a"):
            with pytest.raises(StoreRefused):
                await store.put(key, b"")
        with pytest.raises(ObjectNotFound):
            await content_of(store, "a/missing")
        async with store.upload("a/c") as upload:
            await upload.write(b"data")
        await keys_of(store)
        await store.delete("a/b")

    await use()
    before = open_files()
    for _ in range(5):
        await use()
    assert open_files() <= before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
