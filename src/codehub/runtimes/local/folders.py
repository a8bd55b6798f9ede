"""What lies where in the data folder: homes, instances, their sockets, jobs, and what is on its way out."""

import fcntl
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from codehub.runtimes.errors import NotFound, RuntimeAway, RuntimeFault

SOCKET_PATH_BYTES = 107
"""The longest that Linux takes."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True)
class Folders:
    """All of it is private to codehub's user, but for homes and the folders of sockets, which are their workspace's.
    Installations share it, and so the names in it: what lies in a folder says whose it is."""

    data: Path

    @property
    def own(self) -> Path:
        return self.data / "local"

    def instance(self, name: str) -> Path:
        return self.own / "instances" / checked(name)

    def volume(self, name: str) -> Path:
        return self.own / "volumes" / checked(name)

    def job(self, name: str) -> Path:
        return self.own / "jobs" / checked(name)

    def jobs(self) -> list[Path]:
        return self._listed(self.own / "jobs")

    def instances(self) -> list[Path]:
        return self._listed(self.own / "instances")

    def volumes(self) -> list[Path]:
        return self._listed(self.own / "volumes")

    def _listed(self, folder: Path) -> list[Path]:
        self.require()
        try:
            return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
        except FileNotFoundError:
            return []

    def sockets(self, instance: str) -> tuple[Path, Path]:
        """The folder that a workspace sees, and the place beside it that it does not see. Named by a hash, because the
        paths of sockets are short; in a folder elsewhere where even that is too long."""
        short = hashlib.sha256(instance.encode()).hexdigest()[:16]
        folder = self.own / "run"
        if len(os.fsencode(folder / f"{short}.sock")) > SOCKET_PATH_BYTES:
            name = f"codehub-local-{hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]}"
            folder = Path("/run" if os.geteuid() == 0 else tempfile.gettempdir()) / name
        return folder / short, folder / f"{short}.sock"

    def make_inside(self, inside: Path, uid: int | None) -> None:
        """Make the folder that a workspace sees, anew. The one around it may be among everybody's temporary files."""
        inside.parent.mkdir(mode=0o700, exist_ok=True)
        found = inside.parent.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise RuntimeFault(f"the folder {inside.parent}, needed for sockets, belongs to somebody else")
        self.throw_away(inside)
        inside.mkdir(mode=0o700)
        if uid is not None:
            os.chown(inside, uid, uid, follow_symlinks=False)

    def require(self) -> None:
        """The data folder is never made here: one that is gone is a disk that is not mounted, not an empty one."""
        if not self.data.is_dir():
            raise RuntimeAway(f"the data folder {self.data} is not there")

    def make(self) -> None:
        self.require()
        for folder in (self.own / "instances", self.own / "jobs", self.own / "volumes"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own.chmod(0o700)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep every other codehub from claiming or deleting a home meanwhile. The kernel frees it with its holder."""
        self.make()
        with (self.own / "lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextmanager
    def appearing(self, final: Path) -> Iterator[Path]:
        """A folder that gets its final name when the block is done, or never. To be called `alone`."""
        partial = final.with_name(f".{uuid4().hex}")
        partial.mkdir(mode=0o700)
        yield partial
        partial.rename(final)
        keep(final.parent)

    def throw_away(self, folder: Path) -> None:
        """Take it out of sight in one step. Gone already is fine."""
        with suppress(FileNotFoundError):
            folder.rename(folder.with_name(f".{uuid4().hex}"))

    def thrown_away(self) -> list[Path]:
        """What is out of sight and can be removed, also what an earlier codehub was cut off at. Looked for while nobody
        makes anything, since what is being made has no name yet either."""
        with self.alone():
            places = (*(self.own / each for each in ("instances", "jobs", "volumes")), self.sockets("")[0].parent)
            return [entry for place in places if place.is_dir() for entry in place.iterdir() if entry.name[0] == "."]

    def remembered(self, name: str, make: Callable[[], str]) -> str:
        """A fact that is made up once and lasts as long as the homes. Of two who make it up at once, both get one."""
        self.make()
        path = self.own / name
        if not path.exists():
            partial = path.with_name(f".{uuid4().hex}")
            with partial.open("x") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(partial, path)
            partial.unlink()
            keep(self.own)
        return path.read_text()


def checked(name: str) -> str:
    """A name that can be a folder's. Anything else was not made by us."""
    if NAME.fullmatch(name) is None:
        raise NotFound(f"there is nothing of the name {name!r}")
    return name


def keep(folder: Path) -> None:
    """Let the names in it survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
