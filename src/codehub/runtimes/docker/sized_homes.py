"""Homes with an end: each a file system of its own in a file of its template's size, which a workspace can fill without
taking anything from the others, blocks or inodes.

The file takes up only what was ever written to it. It is mounted by codehub and given to the engine as a folder to
bind: the engine mounts no loop devices itself, and one named by its number would be another file's after a reboot. A
home that is not mounted shows as a folder that nobody may write to, never as an empty home."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from codehub.runtimes.docker.commands import run
from codehub.runtimes.docker.container import USER

PROGRAMS = ("mkfs.ext4", "debugfs", "mount", "umount")
BLOCK_BYTES = 512


class SizedHomes:
    """The folder is this installation's, on the machine and in the mount namespace of the engine."""

    def __init__(self, folder: Path, fence: Callable[[], None]) -> None:
        self._folder = folder
        self._fence = fence

    @staticmethod
    def obstacle() -> str | None:
        """Why there can be none here; None where there can."""
        if os.geteuid() != 0:
            return "codehub does not run as root"
        missing = [program for program in PROGRAMS if shutil.which(program) is None]
        return f"{' and '.join(missing)} cannot be found" if missing else None

    async def make(self, name: str, size_bytes: int) -> Path:
        """The folder to bind. A file that is there is used as it is: only a whole file system ever gets the name."""
        if not self._image(name).exists():
            await self._write(name, size_bytes)
        await self.mount(name)
        return self._point(name)

    async def _write(self, name: str, size_bytes: int) -> None:
        draft = self._folder / f"{name}.{uuid4().hex}.new"
        self._fence()
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with draft.open("wb") as file:
            file.truncate(size_bytes)
        await run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", f"root_owner={USER}:{USER}", str(draft))
        await run("debugfs", "-w", "-R", "rmdir lost+found", str(draft))
        await run("sync", str(draft))
        self._fence()
        with suppress(FileExistsError):  # of two who make it at once the first gives it the name
            self._image(name).hardlink_to(draft)
        draft.unlink()

    async def mount(self, name: str) -> None:
        """Nothing to do for one that is mounted, or that is not of this kind. After a reboot none is. One at a time, by
        a lock that other processes see: mounted through two loop devices at once a file system is lost."""
        image, point = self._image(name), self._point(name)
        if point.is_mount() or not image.exists():
            return
        with image.open("rb") as file:
            await asyncio.to_thread(fcntl.flock, file, fcntl.LOCK_EX)
            if not point.is_mount():
                self._fence()
                point.mkdir(mode=0o700, exist_ok=True)
                await run("mount", "-o", "loop,nosuid,nodev", str(image), str(point))

    async def remove(self, name: str) -> None:
        """For good, after the engine has let go of it. In an order that can be taken up again anywhere."""
        point = self._point(name)
        while point.is_mount():
            self._fence()
            await run("umount", str(point))
        self._fence()
        if point.exists():
            point.rmdir()
        for left in (self._image(name), *self._folder.glob(f"{name}.*.new")):
            left.unlink(missing_ok=True)

    def usage(self, name: str) -> int | None:
        """None for a home that is not of this kind."""
        point = self._point(name)
        if point.is_mount():
            seen = os.statvfs(point)
            return (seen.f_blocks - seen.f_bfree) * seen.f_frsize
        return self._image(name).stat().st_blocks * BLOCK_BYTES if self._image(name).exists() else None

    def _image(self, name: str) -> Path:
        return self._folder / f"{name}.ext4"

    def _point(self, name: str) -> Path:
        return self._folder / name
