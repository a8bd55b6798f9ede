"""The protocol that every archive store keeps. One suite checks them all: tests/contracts/test_object_store.py.

Reading order: this file, then `directory` or `s3`, which implement it, `open`, which chooses between them, and `probe`,
which finds out whether a store keeps its promises.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from codehub.archives.errors import InvalidRange, ObjectTooLarge
from codehub.job.order import DirectoryPlace, Kind, S3Place


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a store says of an object: enough to compare it with a marker, without reading it."""

    key: str
    size: int
    etag: str  # another content has another etag; nothing else may be concluded from it
    modified: datetime


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """An upload that was begun and neither completed nor aborted, alive or left behind by a crash."""

    key: str
    upload_id: str
    since: datetime  # when it was begun (S3) or last written to (directory)


@dataclass(frozen=True, slots=True)
class Loan:
    """What a job needs an archive for, and for how long."""

    kind: Kind
    seconds: int
    home_bytes: int = 0
    """What the home takes of the disk, where it is to be archived."""
    socket: str | None = None
    """The unix socket that leads jobs to a store which they could not reach otherwise."""


class Upload(Protocol):
    """An object on its way, written piece by piece in bounded memory. Nothing is visible before `complete`."""

    async def write(self, data: bytes) -> None:
        """Append. Waits while the store is slower than the writer, instead of piling up memory."""
        ...

    async def complete(self) -> ObjectInfo:
        """Make the object visible, whole and durable, in place of any older one.

        Raises UploadBroken if any write failed or was cancelled, since the content would then have a hole, and
        StoreLied if the store shows another size than was written.
        """
        ...


class ObjectStore(Protocol):
    """Objects by key. Every failure is a StoreError.

    Keys are '/'-separated names (see `keys`). When a write returns, the object is durable and every reader sees it.
    When a write fails or is cancelled, nothing of it is visible, or the whole where only the answer was lost; never a
    part.
    """

    async def put(self, key: str, data: bytes) -> None:
        """Write a small object, replacing an older one.

        A reader at the same time gets the old or the new, never a mix.
        """
        ...

    async def create(self, key: str, data: bytes) -> None:
        """Write a small object only if there is none: of several at once one wins, the others get AlreadyExists.

        Stores exist that ignore the condition; `probe` finds them, and nothing may rest on `create` alone there.
        """
        ...

    async def head(self, key: str) -> ObjectInfo | None:
        """What is there, or None. None is said only by a store that answers for its bucket or folder (contract 1)."""
        ...

    def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        """Stream the object, or `length` bytes of it from `start` on; a range that ends behind the object ends with it.

        Delivers exactly what the object holds or raises: an early end is never taken for the end. A reader that may
        stop early wraps the stream in `contextlib.aclosing`, so that the connection or file is given back at once.
        """
        ...

    def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Every object whose key begins with `prefix`, in no promised order: complete, or raising (contract 9).

        The prefix is plain text and may end within a name.
        """
        ...

    async def delete(self, key: str) -> None:
        """Remove the object. No object is success too, so that a repeated or late deletion harms nothing."""
        ...

    def upload(self, key: str) -> AbstractAsyncContextManager[Upload]:
        """Begin a large object. Leaving the block without `complete` aborts it, and nothing of it stays."""
        ...

    def unfinished(self, prefix: str = "") -> AsyncIterator[UnfinishedUpload]:
        """Every unfinished upload whose key begins with `prefix`: complete, or raising."""
        ...

    async def discard(self, upload: UnfinishedUpload) -> None:
        """Abort it and free its space. Its writer, if it still lives, gets UploadBroken; already gone is success."""
        ...

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port that jobs have to be led to; None for a store that they see as a folder."""
        ...

    async def lend(self, key: str, loan: Loan) -> DirectoryPlace | S3Place:
        """What a job needs to reach this one object and its marker, and nothing else of the store.

        For an archive that is to be made, whatever was begun under this key before is given up. Raises ObjectNotFound
        where there is nothing to read, as far as that is known without asking, and StoreFull where there is no room.
        """
        ...

    async def ping(self) -> None:
        """One cheap request that shows that the store answers and lets us in;

        raises the StoreError that says why not.
        """
        ...

    async def require_room(self) -> None:
        """Raises the StoreError that says why not even the smallest archive could be made: no room, no right to write.
        Writes an object, and removes it."""
        ...


async def read_all(store: ObjectStore, key: str, *, limit: int) -> bytes:
    """The whole object, if it has at most `limit` bytes; else ObjectTooLarge, without reading on.

    For markers and the like: a store, or whoever can write to it, must not be able to fill our memory.
    """
    content = bytearray()
    async with aclosing(store.read(key)) as pieces:
        async for piece in pieces:
            content += piece
            if len(content) > limit:
                raise ObjectTooLarge(f"The object {key} has more than the {limit} bytes that it may have.")
    return bytes(content)


def clip_range(key: str, size: int, start: int, length: int | None) -> tuple[int, int]:
    """First byte and end of a range within an object of this size. Beginning at the very end is an empty range."""
    if start < 0 or start > size or (length is not None and length < 0):
        raise InvalidRange(f"The object {key} has {size} bytes; there is no range of {length} from {start} on.")
    return start, size if length is None else min(size, start + length)
