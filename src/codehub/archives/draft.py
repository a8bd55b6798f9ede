"""A file of the directory store that is still being written, beside the place where it will appear."""

import os
import secrets
import threading
from contextlib import ExitStack, suppress
from pathlib import Path

from codehub.archives.errors import AlreadyExists, StoreRefused, StoreUnreachable, UploadBroken
from codehub.archives.folders import file_status, opened, prune
from codehub.archives.keys import DRAFT_PREFIX

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ROUNDS = 100  # a deletion may remove the empty folder under a new draft; so many in a row are no coincidence


def draft_name(name: str, upload_id: str) -> str:
    return f"{DRAFT_PREFIX}{upload_id}-{name}"


def parse_draft(file_name: str) -> tuple[str, str] | None:
    """The name and upload id of a draft's file, or None if it is none."""
    upload_id, dash, name = file_name.removeprefix(DRAFT_PREFIX).partition("-")
    return (name, upload_id) if dash and file_name.startswith(DRAFT_PREFIX) else None


class Draft:
    """Written under a reserved name in the same folder, so that appearing is one rename or link on one file system.

    The calls block and run in threads. A cancelled caller does not stop its thread, hence the lock: the file must not
    be closed, and its descriptor given to somebody else, under a write.
    """

    def __init__(self, root: Path, segments: tuple[str, ...]) -> None:
        self._root = root
        self._folders, self._name = segments[:-1], segments[-1]
        self._draft_name = draft_name(self._name, secrets.token_hex(8))
        self._lock = threading.Lock()
        self._resources = ExitStack()
        self._folder = self._begin()

    def write(self, data: bytes) -> None:
        with self._lock:
            self._file.write(data)

    def publish(self, *, replace: bool) -> os.stat_result:
        """Let the file appear: its bytes are on the disk before its name is, and its name before this returns."""
        with self._lock:
            self._file.flush()
            os.fsync(self._file.fileno())
            if replace:
                self._rename()
            else:
                self._link()
            os.fsync(self._folder)
            status = os.fstat(self._file.fileno())
            self._resources.close()
            return status

    def discard(self) -> None:
        """Leave nothing behind. Harmless after `publish`, whose file no longer has the draft's name."""
        with self._lock:
            if self._file.closed:
                return
            with suppress(FileNotFoundError):
                os.unlink(self._draft_name, dir_fd=self._folder)
            with suppress(OSError):  # closing flushes, which fails again on a full disk; the file is gone already
                self._file.close()
            self._resources.close()
        prune(self._root, self._folders)

    def _begin(self) -> int:
        for _ in range(_ROUNDS):
            with ExitStack() as resources, suppress(FileNotFoundError):
                folder = resources.enter_context(opened(self._root, self._folders, make=True))
                descriptor = os.open(self._draft_name, _NEW_FILE, 0o600, dir_fd=folder)
                self._file = resources.enter_context(os.fdopen(descriptor, "wb"))
                self._resources = resources.pop_all()
                return folder
        raise StoreUnreachable(f"The folder of {self._name} is removed again and again while it is being written.")

    def _rename(self) -> None:
        try:
            os.rename(self._draft_name, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except FileNotFoundError as error:
            raise self._discarded() from error
        except IsADirectoryError as error:
            raise self._is_folder() from error

    def _link(self) -> None:
        try:
            os.link(
                self._draft_name, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False
            )
        except FileNotFoundError as error:
            raise self._discarded() from error
        except FileExistsError as error:
            try:
                file_status(self._folder, self._name)
            except FileNotFoundError:
                raise self._is_folder() from error
            raise AlreadyExists(f"There is already an object {'/'.join((*self._folders, self._name))}.") from error
        with suppress(FileNotFoundError):  # discarded a moment too late: the object is there
            os.unlink(self._draft_name, dir_fd=self._folder)

    def _discarded(self) -> UploadBroken:
        return UploadBroken(f"The upload of {self._name} was discarded while it was being written.")

    def _is_folder(self) -> StoreRefused:
        return StoreRefused(
            f"{self._name} is the folder of other objects; a directory cannot hold an object of that name."
        )
