"""A place for local workspaces, with the tool that tests run in them, and nothing left of it afterwards."""

import asyncio
import http.client
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codehub.runtimes.local.records import Record
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.runtimes.protocols import Instance

TOOL = "tool"


@dataclass(frozen=True)
class ServeTool:
    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: {"PYTHONDONTWRITEBYTECODE": "1"})

    def argv(self, socket: str) -> tuple[str, ...]:
        return ("/usr/bin/python3", "-I", str(self.folder / "serve.py"), socket)


@dataclass
class Place:
    """One data folder, and every runtime that was opened on it."""

    data: Path
    tool: ServeTool
    opened: dict[str, LocalRuntime] = field(default_factory=dict)

    def open(self, installation: str, fence: Callable[[], None] = lambda: None) -> LocalRuntime:
        runtime = LocalRuntime(self.data, installation, {TOOL: self.tool}.get, fence)
        self.opened.setdefault(installation, LocalRuntime(self.data, installation, {TOOL: self.tool}.get))
        return runtime

    def open_away(self) -> LocalRuntime:
        return LocalRuntime(self.data / "not-mounted", "away", {TOOL: self.tool}.get)

    def record(self, instance: Instance) -> Record:
        record = Record.read(self.data / "local/instances" / instance.name)
        assert record is not None
        return record

    async def clear(self) -> None:
        for runtime in self.opened.values():
            for instance in await runtime.instances.list():
                await runtime.instances.stop(instance.id, 0)
            for volume in await runtime.volumes.list():
                await runtime.volumes.delete(volume.name)


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    """In a short path, because sockets need one."""
    folder = Path(tempfile.mkdtemp(prefix="codehub-"))
    tool = folder / "tool"
    tool.mkdir()
    shutil.copy(Path(__file__).with_name("serve.py"), tool)
    (folder / "data").mkdir()
    made = Place(folder / "data", ServeTool(tool))
    try:
        yield made
    finally:
        await made.clear()
        shutil.rmtree(folder)


async def fetch(instance: Instance, path: str) -> bytes:
    """A file as the tool in it serves it."""
    return await asyncio.to_thread(_ask, instance, "GET", path)


async def inside(instance: Instance, command: str) -> str:
    """What a shell command prints that runs in the workspace."""
    return (await asyncio.to_thread(_ask, instance, "POST", "/", command)).decode()


def _ask(instance: Instance, method: str, path: str, body: str | None = None) -> bytes:
    assert instance.endpoint is not None
    connection = http.client.HTTPConnection("localhost", timeout=60)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(60)
    try:
        connection.sock.connect(instance.endpoint.address.removeprefix("unix:"))
        connection.request(method, path, body)
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        return answer.read()
    finally:
        connection.close()
