"""Read files of a cold home before tar comes to them: many at once, where tar waits for each alone.

Of a home that nobody touched for hours nothing is in memory, and tar spends most of its time waiting for small reads.
"""

import os
import queue
import threading
from contextlib import suppress

_THREADS = 8
_FILE_BYTES = 1024 * 1024  # behind that the kernel's own read-ahead has long begun
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ReadAhead:
    """Tell it some files shortly before tar is told. It never fails: tar meets every error itself.

    Of the files that it is told at once the first is tried: where that one is in memory, its neighbours are too.
    """

    def __init__(self, home: int) -> None:
        self._home = home
        self._files: queue.Queue[list[bytes] | None] = queue.Queue(maxsize=_THREADS * 4)
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(_THREADS)]
        for thread in self._threads:
            thread.start()

    def add(self, paths: list[bytes]) -> None:
        self._files.put(paths)

    def close(self) -> None:
        for _ in self._threads:
            self._files.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (batch := self._files.get()) is not None:
            if batch and not self._is_warm(batch[0]):
                for path in batch:
                    self._load(path)

    def _is_warm(self, path: bytes) -> bool:
        """Whether a first byte can be had without waiting. A file system that cannot tell is taken for a cold one."""
        with suppress(OSError):
            descriptor = os.open(path, _OPEN, dir_fd=self._home)
            try:
                os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT)
            finally:
                os.close(descriptor)
            return True
        return False

    def _load(self, path: bytes) -> None:
        with suppress(OSError):
            descriptor = os.open(path, _OPEN, dir_fd=self._home)
            try:
                os.posix_fadvise(descriptor, 0, _FILE_BYTES, os.POSIX_FADV_WILLNEED)
            finally:
                os.close(descriptor)
