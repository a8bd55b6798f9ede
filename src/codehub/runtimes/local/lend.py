"""Open an archive of the directory store to a job that is another user of the host.

As root a job is its workspace's user, to whom the store's files are closed. They are opened to one group, which only
jobs are in, and which is all that the archive of one workspace and a fork of it have to do with each other."""

import os
import stat
from pathlib import Path

from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.local.users import READERS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def lend(folder: Path, *, writable: bool) -> None:
    """What a job wrote there before becomes codehub's: afterwards it can be read by jobs, and written by none."""
    try:
        descriptor = os.open(folder, _FOLDER)
        try:
            _open_to_jobs(descriptor, 0o770 if writable else 0o750)
            for name in os.listdir(descriptor):  # noqa: PTH208 - by its descriptor, which Path cannot
                _open_file(descriptor, name)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise RuntimeFault(f"the archive's folder {folder} cannot be opened to a job: {error}") from error


def _open_file(folder: int, name: str) -> None:
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            _open_to_jobs(descriptor, 0o640)
    finally:
        os.close(descriptor)


def _open_to_jobs(descriptor: int, mode: int) -> None:
    os.fchown(descriptor, os.geteuid(), READERS)
    os.fchmod(descriptor, mode)
