"""Archives in a directory: for one machine, or for a network file system that the operator trusts.

Not obstore's LocalStore: that follows links out of its folder, makes files that everybody may read, and does not sync
them (docs/adr/0006-object-store.md).
"""

import asyncio
import errno
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import ParamSpec, TypeVar

from codehub.archives.draft import Draft, draft_name
from codehub.archives.errors import (
    ObjectNotFound,
    StoreError,
    StoreFull,
    StoreLied,
    StoreRefused,
    StoreUnreachable,
    UploadBroken,
)
from codehub.archives.folders import file_status, foreign, opened, prune
from codehub.archives.keys import check_key
from codehub.archives.lend import lend_folder, require_room
from codehub.archives.object_store import Loan, ObjectInfo, UnfinishedUpload, Upload, clip_range
from codehub.archives.probe import try_to_write
from codehub.archives.walk import Found, walk
from codehub.job.order import DirectoryPlace

_CHUNK_BYTES = 1024 * 1024
_LIST_BATCH = 500  # files per trip to a thread
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.EOPNOTSUPP}

P = ParamSpec("P")
T = TypeVar("T")


class DirectoryStore:
    """One file per object, at the path that its key spells. Private to its user, atomic, durable; see ObjectStore.

    Two keys of which one is the folder of the other (`a` and `a/b`) cannot both be kept here; the second is refused.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, key: str, data: bytes) -> None:
        await _in_thread(key, self._write, check_key(key), data, replace=True)

    async def create(self, key: str, data: bytes) -> None:
        await _in_thread(key, self._write, check_key(key), data, replace=False)

    async def head(self, key: str) -> ObjectInfo | None:
        try:
            return _info(key, await _in_thread(key, self._status, check_key(key)))
        except ObjectNotFound:
            return None

    async def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        descriptor, size = await _in_thread(key, self._open, check_key(key))
        try:
            position, end = clip_range(key, size, start, length)
            while position < end:
                # pread, because a cancelled thread may still be reading when the descriptor is closed and used again
                wanted = min(_CHUNK_BYTES, end - position)
                piece = await _in_thread(key, os.pread, descriptor, wanted, position)
                if not piece:
                    raise StoreLied(f"The object {key} ended before its size of {size} bytes.")
                position += len(piece)
                yield piece
        finally:
            os.close(descriptor)

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        async for found in self._found(prefix):
            if found.upload_id is None:
                yield _info(found.key, found.status)

    async def delete(self, key: str) -> None:
        with suppress(ObjectNotFound):
            *folders, name = check_key(key)
            await _in_thread(key, self._remove, folders, name)

    @asynccontextmanager
    async def upload(self, key: str) -> AsyncIterator[Upload]:
        draft = await _in_thread(key, Draft, self._root, check_key(key))
        try:
            yield _DirectoryUpload(key, draft)
        finally:
            with suppress(
                StoreError
            ):  # what cannot be removed now stays listed as unfinished; it must hide no other error
                await _in_thread(key, draft.discard)

    async def unfinished(self, prefix: str = "") -> AsyncIterator[UnfinishedUpload]:
        async for found in self._found(prefix):
            if found.upload_id is not None:
                yield UnfinishedUpload(found.key, found.upload_id, _modified(found.status))

    async def discard(self, upload: UnfinishedUpload) -> None:
        with suppress(ObjectNotFound):
            *folders, name = check_key(upload.key)
            await _in_thread(upload.key, self._remove, folders, draft_name(name, upload.upload_id))

    @property
    def address(self) -> None:
        return None

    async def lend(self, key: str, loan: Loan) -> DirectoryPlace:
        return await _in_thread(key, lend_folder, self._root, check_key(key)[:-1], loan)

    async def ping(self) -> None:
        await _in_thread("", self._ping)

    async def require_room(self) -> None:
        await _in_thread("", require_room, self._root)
        await try_to_write(self)

    async def _found(self, prefix: str) -> AsyncIterator[Found]:
        files = walk(self._root, prefix)
        while batch := await _in_thread(prefix, list, islice(files, _LIST_BATCH)):
            for found in batch:
                yield found

    def _write(self, segments: tuple[str, ...], data: bytes, *, replace: bool) -> None:
        draft = Draft(self._root, segments)
        try:
            draft.write(data)
            draft.publish(replace=replace)
        finally:
            draft.discard()

    def _status(self, segments: tuple[str, ...]) -> os.stat_result:
        with opened(self._root, segments[:-1]) as folder:
            return file_status(folder, segments[-1])

    def _open(self, segments: tuple[str, ...]) -> tuple[int, int]:
        with opened(self._root, segments[:-1]) as folder:
            file_status(folder, segments[-1])
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(segments[-1], flags, dir_fd=folder)
        return descriptor, os.fstat(descriptor).st_size

    def _remove(self, folders: Sequence[str], name: str) -> None:
        with opened(self._root, folders) as folder:
            file_status(folder, name)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)
        prune(self._root, folders)

    def _ping(self) -> None:
        with opened(self._root, ()) as folder:
            if not os.access(".", os.R_OK | os.W_OK | os.X_OK, dir_fd=folder):
                raise StoreRefused(f"The archive folder {self._root} may not be read and written by this user.")


class _DirectoryUpload:
    def __init__(self, key: str, draft: Draft) -> None:
        self._key = key
        self._draft = draft
        self._whole = True

    async def write(self, data: bytes) -> None:
        whole, self._whole = self._whole, False
        await _in_thread(self._key, self._draft.write, data)
        self._whole = whole

    async def complete(self) -> ObjectInfo:
        if not self._whole:
            raise UploadBroken(f"The upload of {self._key} is over, or one of its writes failed or was cut short.")
        self._whole = False
        return _info(self._key, await _in_thread(self._key, self._draft.publish, replace=True))


async def _in_thread(key: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Make a blocking call off the event loop, and map what the operating system says of it."""
    with _explained(key):
        return await asyncio.to_thread(call, *args, **kwargs)


@contextmanager
def _explained(key: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ObjectNotFound(f"There is no object {key} in the archive folder.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise foreign(key) from error
        if error.errno in _FULL:
            raise StoreFull(
                f"The archive folder has no room for {key} ({error.strerror}).", "Free some space."
            ) from error
        if error.errno in _REFUSED:
            raise StoreRefused(f"The archive folder refuses {key or 'access'} ({error.strerror}).") from error
        raise StoreUnreachable(f"The archive folder fails at {key or 'its root'} ({error.strerror}).") from error


def _info(key: str, status: os.stat_result) -> ObjectInfo:
    etag = f"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"
    return ObjectInfo(key, status.st_size, etag, _modified(status))


def _modified(status: os.stat_result) -> datetime:
    return datetime.fromtimestamp(status.st_mtime, UTC)
