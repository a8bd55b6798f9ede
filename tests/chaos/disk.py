"""A disk that can be full for a while: a file system in memory, made no larger than what lies on it."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.folders import short_folder

BYTES = 64 * 2**30
"""As much as it may ever hold; it takes no more memory than what lies on it."""
PAGE = 4096


@dataclass(frozen=True)
class Disk:
    folder: Path

    @asynccontextmanager
    async def full(self) -> AsyncIterator[None]:
        """Nothing more can be written while the block lasts, and everything that is there be read."""
        while not self._shrink():  # somebody has written meanwhile
            await asyncio.sleep(0)
        try:
            yield
        finally:
            self._resize(BYTES)

    def _shrink(self) -> bool:
        found = os.statvfs(self.folder)
        return self._resize((found.f_blocks - found.f_bfree) * found.f_frsize)

    def _resize(self, size: int) -> bool:
        command = ["mount", "-o", f"remount,size={max(size, PAGE)}", str(self.folder)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def disk(folder: Path) -> Iterator[Disk]:
    """Raises CalledProcessError where one may not be made."""
    folder.mkdir(exist_ok=True)
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={BYTES},mode=755", "codehub-tests", str(folder)],
        capture_output=True,
        check=True,
    )
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_be_made() -> bool:
    """Only root may, and not in every container."""
    with short_folder() as folder:
        try:
            with disk(folder / "disk"):
                return True
        except (OSError, subprocess.CalledProcessError):
            return False
