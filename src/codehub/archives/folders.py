"""Folders of the directory store, opened one below the other by file descriptor.

A path is resolved again by every call that uses it, and a link planted in between leads out of the store. A
descriptor is the folder itself: every step here opens the next name in the folder before it and refuses links, so
there is no way out.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from codehub.archives.errors import StoreRefused, StoreUnreachable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@contextmanager
def opened(root: Path, segments: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """The descriptor of a folder below the root; with `make`, missing ones are made, private and durable.

    Raises FileNotFoundError where the folder is missing, and StoreUnreachable where the root itself is: a disk that
    is not mounted must never look like a store without archives.
    """
    descriptor = _open_root(root)
    try:
        for segment in segments:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(segment, 0o700, dir_fd=descriptor)
                os.fsync(descriptor)  # also of a folder that is there: whoever made it may not have come so far yet
            below = _open_below(descriptor, segment, make=make)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def prune(root: Path, segments: Sequence[str]) -> None:
    """Remove the folder and its parents, as long as they are empty. Whoever adds something meanwhile wins."""
    for depth in range(len(segments), 0, -1):
        try:
            with opened(root, segments[: depth - 1]) as parent:
                os.rmdir(segments[depth - 1], dir_fd=parent)
        except OSError:  # not empty, or already gone: both are fine, and a folder too many harms nobody
            return


def file_status(folder: int, name: str) -> os.stat_result:
    """The status of an object's file. A folder is no object (FileNotFoundError); a link or device is refused."""
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(status.st_mode):
        raise FileNotFoundError(name)
    if not stat.S_ISREG(status.st_mode):
        raise foreign(name)
    return status


def foreign(name: str) -> StoreRefused:
    return StoreRefused(
        f"{name} in the archive folder is neither a file nor a folder, and links are never followed.",
        "Remove it, or point ARCHIVE_URL at the folder that really holds the archives.",
    )


def _open_root(root: Path) -> int:
    try:
        return os.open(root, _FOLDER)
    except PermissionError as error:
        raise StoreRefused(f"The archive folder {root} may not be opened by this user.") from error
    except OSError as error:
        raise StoreUnreachable(
            f"The archive folder {root} is not there ({error.strerror}).", "Is it mounted?"
        ) from error


def _open_below(folder: int, segment: str, *, make: bool) -> int:
    try:
        return os.open(segment, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except NotADirectoryError:
        if not stat.S_ISREG(os.stat(segment, dir_fd=folder, follow_symlinks=False).st_mode):
            raise foreign(segment) from None
        if make:
            raise StoreRefused(f"{segment} is an object; a directory cannot hold other objects below it.") from None
        raise FileNotFoundError(segment) from None
