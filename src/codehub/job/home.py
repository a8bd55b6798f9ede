"""Walk a home: what is in it, in the order in which it is archived, and whether it could be restored."""

import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from codehub.job.faults import JobFault, NoSpace, TryAgain
from codehub.job.tar_headers import BLOCK, PATH_BYTES, block_size

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HEADER_BYTES = 3 * BLOCK  # an extended header with its record, and the header itself
_KINDS = {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK, stat.S_IFIFO}
_OF_THE_FILE_SYSTEM = b"./lost+found"  # what a fresh ext4 volume is never without


@dataclass(frozen=True, slots=True)
class Found:
    """One entry of a home. Its path begins with `./`, as in the archive."""

    path: bytes
    is_folder: bool
    is_file: bool
    status: os.stat_result | None = None  # where it was asked for


@dataclass(frozen=True, slots=True)
class Survey:
    """A home at one moment; another one is another home, or one that has changed."""

    entries: int
    bytes: int  # about what the tar will have
    content: int  # what the files take of the disk, or less
    fingerprint: int  # of all paths and change times


class Home:
    """A home by its folder. Every path is opened below it, so that no link on the way leads elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise JobFault(f"The home {folder} cannot be opened ({error.strerror}).") from error

    def close(self) -> None:
        os.close(self.descriptor)

    def walk(self, *, look: bool = False) -> Iterator[Found]:
        """Folders before what they hold, and the files of a folder by inode, which is about how they lie on the disk.

        Sockets and devices are left out: a socket is nothing without its process, and no home may bring a device.
        """
        folders = [Found(b".", is_folder=True, is_file=False, status=os.fstat(self.descriptor))]
        while folders:
            folder = folders.pop()
            yield folder
            for found in self._items(folder.path, look=look):
                if found.is_folder:
                    folders.append(found)
                else:
                    yield found

    def survey(self, seen: Callable[[int, int], None]) -> Survey:
        """Look at every entry once. Raises JobFault for what could be archived but never restored."""
        entries = size = total = fingerprint = 0
        linked: set[int] = set()
        with self.explained():
            for found in self.walk(look=True):
                if len(found.path) > PATH_BYTES:
                    raise JobFault(
                        f"A path in the home has {len(found.path)} bytes and could not be restored; "
                        f"{PATH_BYTES} are possible. It begins with {ascii(found.path[:200])[1:]}."
                    )
                status = found.status
                assert status is not None  # noqa: S101  # asked for above
                content = min(status.st_size, status.st_blocks * BLOCK) if found.is_file else 0
                if found.is_file and status.st_nlink > 1:
                    content = 0 if status.st_ino in linked else content
                    linked.add(status.st_ino)
                entries += 1
                total += content
                size += _HEADER_BYTES + block_size(content)
                fingerprint = zlib.crc32(b"%b\0%d" % (found.path, status.st_ctime_ns), fingerprint)
                seen(size, entries)
        return Survey(entries, size, total, fingerprint)

    def require_empty(self) -> None:
        with self.explained():
            names = {found.path for found in self._items(b".", look=False)} - {_OF_THE_FILE_SYSTEM}
        if names:
            raise JobFault(f"The home {self.folder} is not empty; an archive is restored into a fresh one only.")

    def require_room(self, size: int, entries: int) -> None:
        """Raises NoSpace, before anything is written, where files of this size can never fit.

        How much more a file system needs for them is not known before; a home that was almost full must come back.
        """
        room = os.fstatvfs(self.descriptor)
        free = room.f_bavail * room.f_frsize
        if free < size:
            raise NoSpace(f"The files of the archive have {size} bytes, and the volume has room for {free}.")
        if room.f_files and room.f_favail < entries:
            raise NoSpace(f"The archive has {entries} entries, and the volume has room for {room.f_favail} files.")

    def _items(self, path: bytes, *, look: bool) -> list[Found]:
        descriptor = os.open(path, _OPEN_FOLDER, dir_fd=self.descriptor)
        try:
            with os.scandir(descriptor) as items:
                found = [(item.inode(), _found(path, item, look=look)) for item in items]
        finally:
            os.close(descriptor)
        return [entry for _, entry in sorted(found, key=itemgetter(0)) if entry is not None]

    @contextmanager
    def explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise TryAgain("The home changes while it is read.") from error
        except OSError as error:
            raise JobFault(f"The home cannot be read at {error.filename!r} ({error.strerror}).") from error


def _found(path: bytes, item: "os.DirEntry[str]", *, look: bool) -> Found | None:
    is_folder, is_file = item.is_dir(follow_symlinks=False), item.is_file(follow_symlinks=False)
    status = item.stat(follow_symlinks=False) if look or not (is_folder or is_file or item.is_symlink()) else None
    if status is not None and stat.S_IFMT(status.st_mode) not in _KINDS:
        return None
    return Found(path + b"/" + os.fsencode(item.name), is_folder, is_file, status)
