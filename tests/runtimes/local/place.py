"""A place for local workspaces, with the tool that tests run in them, and nothing left of it afterwards."""

import asyncio
import http.client
import shutil
import socket
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from codehub.model.workspace import incarnation_name
from codehub.runtimes.local.records import Life, Record
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, Resources, VolumeSpec

TOOL = "tool"
INSTALLATION = "tests"
LIMITS = Resources(memory_bytes=128 * 1024**2, cpus=1.0, pids=32)


@dataclass(frozen=True)
class SmallTool:
    folder: Path
    command: tuple[str, ...] = ("/usr/bin/python3", "-I", "{folder}/serve.py", "{socket}")
    environment: Mapping[str, str] = field(default_factory=lambda: {"GREETING": "hello"})

    def argv(self, socket: str) -> tuple[str, ...]:
        return tuple(part.format(folder=self.folder, socket=socket) for part in self.command)


@dataclass
class Place:
    """One data folder, the tools that there are, and every installation that was opened."""

    data: Path
    tools: dict[str, SmallTool]
    installations: set[str] = field(default_factory=set)

    def open(self, installation: str = INSTALLATION, fence: Callable[[], None] = lambda: None) -> LocalRuntime:
        self.installations.add(installation)
        return LocalRuntime(self.data, installation, self.tools.get, fence)

    def open_away(self) -> LocalRuntime:
        return LocalRuntime(self.data / "not-mounted", "away", self.tools.get)

    def add_tool(self, name: str, *command: str) -> str:
        """A tool that is just a command; `{socket}` in it is where it should listen."""
        self.tools[name] = SmallTool(self.tools[TOOL].folder, command)
        return name

    async def spec(self, image: str = TOOL, resources: Resources = LIMITS, **environment: str) -> InstanceSpec:
        """What is to be started of a new workspace, whose home is made."""
        workspace_id, op_id = uuid.uuid4(), uuid.uuid4()
        name = incarnation_name(workspace_id, op_id, 1)
        await self.open().volumes.create(VolumeSpec(name, workspace_id, op_id, epoch=3))
        return InstanceSpec(name, workspace_id, op_id, 3, name, image, 0, "/starts", environment, resources)

    async def workspace(self, resources: Resources = LIMITS) -> Instance:
        """A new one, up and answering."""
        spec = await self.spec(resources=resources)
        await self.open().instances.start(spec)
        return await self.answering(spec.name)

    async def answering(self, name: str) -> Instance:
        runtime = self.open()
        return await self.until(name, runtime.instances.probe)

    async def exited(self, name: str) -> Instance:
        async def has(instance: Instance) -> bool:
            return instance.state is InstanceState.EXITED

        return await self.until(name, has)

    async def until(self, name: str, condition: Callable[[Instance], Awaitable[bool]]) -> Instance:
        async with asyncio.timeout(60):
            while not await condition(instance := await self.listed(name)):
                await asyncio.sleep(0.02)
        return instance

    async def listed(self, name: str) -> Instance:
        (instance,) = [each for each in await self.open().instances.list() if each.name == name]
        return instance

    def home(self, instance: Instance) -> Path:
        return self.data / "local/volumes" / instance.volume / "home"

    def life(self, instance: Instance) -> Life:
        life = self.record(instance).life
        assert life is not None
        return life

    def record(self, instance: Instance) -> Record:
        record = Record.read(self.data / "local/instances" / instance.name)
        assert record is not None
        return record

    async def clear(self) -> None:
        for runtime in map(self.open, list(self.installations)):
            for instance in await runtime.instances.list():
                await runtime.instances.stop(instance.id, 0)
            for job in await runtime.jobs.list():
                await runtime.jobs.remove(job.name)
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
    made = Place(folder / "data", {TOOL: SmallTool(tool)})
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
    return (await asyncio.to_thread(_ask, instance, "POST", "/", command)).decode().strip()


async def refuses(instance: Instance, command: str) -> bool:
    return (await inside(instance, f"({command}) >/dev/null 2>&1 || echo refused")) == "refused"


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
