"""Homes to move, archives to move them to, and stores that keep a job waiting, for the contract of jobs."""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codehub.job.order import DirectoryPlace, Kind, Order, S3Place
from codehub.runtimes.protocols import Job, JobSpec, JobState, Runtime, VolumeSpec

KEY = "workspace/archive/home.tar.zst"
SECONDS = 110  # jobs give way to everything else that runs here


def fill(home: Path) -> None:
    """What a home may hold, all of it its owner's: an odd name, links, a hole, a pipe, an attribute, odd modes."""
    (home / "folder/below").mkdir(parents=True)
    (home / "folder/below/file").write_bytes(os.urandom(100_000))
    (home / "new\nline").write_text("odd")
    (home / "link").symlink_to("/usr/bin/python3")
    (home / "again").hardlink_to(home / "folder/below/file")
    with (home / "sparse").open("wb") as file:
        file.truncate(3 * 1024**2)
        file.seek(1024**2)
        file.write(b"island")
    os.mkfifo(home / "pipe")
    os.setxattr(home / "sparse", "user.note", b"kept")
    owner = home.stat()
    for path in home.rglob("*"):
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    (home / "folder/below").chmod(0o2711)
    (home / "folder").chmod(0o500)


@dataclass(frozen=True)
class Errand:
    """What is to be done with one archive."""

    place: DirectoryPlace | S3Place
    op_id: uuid.UUID = field(default_factory=uuid.uuid4)

    def spec(self, kind: Kind, home: VolumeSpec) -> JobSpec:
        order = Order(kind, KEY, str(home.workspace_id), "1.2.3", Path("/nowhere"), self.place)
        return JobSpec(f"{home.name}-{kind}", home.workspace_id, self.op_id, 1, home.name, order)


def errand(folder: Path) -> Errand:
    """An archive in a folder of its own below this one."""
    archive = folder / uuid.uuid4().hex
    archive.mkdir(mode=0o700)
    return Errand(DirectoryPlace(archive))


@dataclass
class SilentStore:
    """Takes calls and answers none: whoever reads an archive there waits until it is removed."""

    folder: Path
    secret: str = field(default_factory=lambda: uuid.uuid4().hex)
    calls: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def errand(self) -> Errand:
        url = f"http://store.example/{self.secret}?signature={self.secret}"
        socket = str(self.folder / "store.sock")
        return Errand(S3Place(url, url, url, None, None, socket=socket, retry_waits=(0.05, 0.05)))

    def hang_up(self) -> None:
        """Nobody answers there any more."""
        (self.folder / "store.sock").unlink()

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls.add(writer)
        await reader.read()  # the request, and then nothing until the caller is gone
        self.calls.discard(writer)
        writer.close()

    async def is_called(self) -> None:
        async with asyncio.timeout(SECONDS):
            while not self.calls:
                await asyncio.sleep(0.02)

    async def is_left_alone(self) -> None:
        async with asyncio.timeout(SECONDS):
            while self.calls:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def silent_store(folder: Path) -> AsyncIterator[SilentStore]:
    """In a folder that holds nothing but its socket, as that of a controller does."""
    relay = folder / uuid.uuid4().hex[:8]
    relay.mkdir()
    relay.chmod(0o755)
    store = SilentStore(relay)
    server = await asyncio.start_unix_server(store.take, relay / "store.sock")
    (relay / "store.sock").chmod(0o666)
    try:
        yield store
    finally:
        server.close()
        for call in list(store.calls):
            call.transport.abort()
        await server.wait_closed()


async def ended(runtime: Runtime, name: str) -> Job:
    async with asyncio.timeout(SECONDS):
        while (job := await runtime.jobs.status(name)).state is not JobState.ENDED:
            await asyncio.sleep(0.02)
    return job


async def done(runtime: Runtime, spec: JobSpec) -> Job:
    """Begun, and followed until its end."""
    await runtime.jobs.run(spec)
    return await ended(runtime, spec.name)
