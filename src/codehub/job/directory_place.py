"""The archive in a folder of its own: written beside its name, synced, renamed.

The names are those of the directory store (codehub.archives.draft), whose collector finds what a crash has left.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from codehub.job.faults import JobFault, Missing, NoSpace, TryAgain
from codehub.job.marker import MARKER_BYTES, MARKER_SUFFIX
from codehub.job.order import DirectoryPlace

_CHUNK_BYTES = 1024 * 1024
_UNFINISHED = ".unfinished-"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PASSING = {errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOENT, errno.EINTR}


class Directory:
    """See Place."""

    def __init__(self, place: DirectoryPlace, name: str) -> None:
        self._folder = place.folder
        self._name = name
        self._marker = name + MARKER_SUFFIX

    def size(self) -> int | None:
        with _explained(), suppress(FileNotFoundError), self._opened() as folder:
            return os.stat(self._name, dir_fd=folder, follow_symlinks=False).st_size
        return None

    def read(self) -> Iterator[bytes]:
        with _explained(), self._opened() as folder:
            try:
                descriptor = os.open(self._name, _OLD, dir_fd=folder)
            except FileNotFoundError as error:
                raise Missing("The archive is not there.") from error
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                while piece := file.read(_CHUNK_BYTES):
                    yield piece

    def marker(self) -> bytes | None:
        with (
            _explained(),
            suppress(FileNotFoundError),
            self._opened() as folder,
            os.fdopen(os.open(self._marker, _OLD, dir_fd=folder), "rb") as file,
        ):
            return file.read(MARKER_BYTES)
        return None

    def create_marker(self, data: bytes) -> None:
        with _explained(), self._opened() as folder, _draft(folder, self._marker) as draft:
            draft.write(data)
            draft.sync()
            with suppress(FileExistsError):
                os.link(draft.name, self._marker, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            os.fsync(folder)

    @contextmanager
    def upload(self) -> Iterator["_Upload"]:
        """What earlier runs have left unfinished goes first: this is the only job of its key."""
        with _explained(), self._opened() as folder:
            for name in os.listdir(folder):  # noqa: PTH208  # by its descriptor, which Path cannot
                if name.startswith(_UNFINISHED):
                    os.unlink(name, dir_fd=folder)
            with _draft(folder, self._name) as draft:
                yield _Upload(draft, folder, self._name)

    def close(self) -> None:
        """The folder is opened for each act, and closed after it."""

    @contextmanager
    def _opened(self) -> Iterator[int]:
        try:
            folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise TryAgain(f"The archive's folder cannot be opened ({error.strerror}).") from error
        try:
            yield folder
        finally:
            os.close(folder)


class _Draft:
    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def sync(self) -> None:
        os.fsync(self._descriptor)


class _Upload:
    def __init__(self, draft: _Draft, folder: int, name: str) -> None:
        self._draft = draft
        self._folder = folder
        self._name = name

    def write(self, data: bytes) -> None:
        with _explained():
            self._draft.write(data)

    def complete(self) -> None:
        """The bytes are on the disk before the name is, and the name before this returns."""
        with _explained():
            self._draft.sync()
            os.rename(self._draft.name, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            os.fsync(self._folder)


@contextmanager
def _draft(folder: int, name: str) -> Iterator[_Draft]:
    draft = f"{_UNFINISHED}{secrets.token_hex(8)}-{name}"
    descriptor = os.open(draft, _NEW, 0o600, dir_fd=folder)
    try:
        _hand_over(descriptor, os.fstat(folder))
        yield _Draft(draft, descriptor)
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)


def _hand_over(descriptor: int, folder: os.stat_result) -> None:
    """What root writes into the folder of an ordinary user's store is for that user to read."""
    if os.geteuid() == 0 != folder.st_uid:
        os.fchown(descriptor, folder.st_uid, folder.st_gid)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoSpace("The archive store has no room.") from error
        if error.errno in _PASSING:
            raise TryAgain(f"The archive store fails ({error.strerror}).") from error
        raise JobFault(f"The archive store refuses ({error.strerror}).") from error
