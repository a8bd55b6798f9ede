"""What the contract suite needs of a runtime beyond the protocol. A runtime joins the suite with one more function that
fills in a `RuntimeKit`."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol
from uuid import UUID

from codehub.model.workspace import incarnation_name
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import RegistryAway
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Behaviour, Call, Fault, MemoryEngine
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, Resources, Runtime, VolumeSpec
from tests.runtimes.docker import tool_image
from tests.runtimes.docker.registry import MISSING, PRESENT, registry
from tests.runtimes.docker.tidy import clear, fetch, forget_image

UNREACHABLE = "127.0.0.1:1/codehub/anything:1"
SMALL = Resources(memory_bytes=64 * 1024**2, cpus=0.5, pids=32)


class Open(Protocol):
    def __call__(self, installation: str, fence: Callable[[], None] = ...) -> Runtime: ...


@dataclass(frozen=True)
class RuntimeKit:
    """A place to run things in, the tool to run there, and what else it can do. The tool serves HTTP on its port,
    answers `/starts`, and prints `listening`."""

    open: Open
    """A runtime of this installation, all on the same engine."""
    image: str
    port: int
    exits_with: Callable[[UUID, int], Mapping[str, str]]
    """The environment in which this workspace's tool ends at once with this exit code."""
    kill: Callable[[Instance], Awaitable[None]]
    """End it from outside."""
    open_away: Callable[[], Runtime]
    """A runtime whose engine does not answer."""
    present_image: str | None = None
    """One that can be pulled; None, and none of the two others, where nothing ever is."""
    missing_image: str = ""
    """One that its registry does not have."""
    unreachable_image: str = ""
    """One whose registry does not answer."""
    fetch: Callable[[Instance, str], Awaitable[bytes]] | None = None
    """A file of the home as the tool serves it (it adds a line to `starts` each time); None where nothing is real."""
    folder: Callable[[str], Awaitable[Path]] = field(kw_only=True)
    """Where a home of this name lies on this machine."""
    job_process: Callable[[str], Awaitable[int]] = field(kw_only=True)
    """The process of a job of this name that runs."""
    installation: str = field(default_factory=lambda: f"test-{uuid.uuid4().hex[:12]}")

    def home(self, workspace_id: UUID | None = None) -> VolumeSpec:
        """A new incarnation, of a new workspace where none is named."""
        workspace, op_id = workspace_id or uuid.uuid4(), uuid.uuid4()
        return VolumeSpec(incarnation_name(workspace, op_id, 1), workspace, op_id, epoch=1)

    def instance(self, home: VolumeSpec) -> InstanceSpec:
        """A new incarnation on this home."""
        op_id = uuid.uuid4()
        return InstanceSpec(
            name=incarnation_name(home.workspace_id, op_id, 1),
            workspace_id=home.workspace_id,
            op_id=op_id,
            epoch=1,
            volume=home.name,
            image=self.image,
            port=self.port,
            health_path="/starts",
            resources=SMALL,
        )

    async def running(self, runtime: Runtime, home: VolumeSpec | None = None) -> Instance:
        """One that is up and answers."""
        home = home or self.home()
        await runtime.volumes.create(home)
        instance_id = await runtime.instances.start(self.instance(home))
        return await self.answering(runtime, instance_id)

    async def answering(self, runtime: Runtime, instance_id: str) -> Instance:
        async with asyncio.timeout(60):
            while True:
                instance = await self.listed(runtime, instance_id)
                if await runtime.instances.probe(instance):
                    return instance
                await asyncio.sleep(0.02)

    async def ended(self, runtime: Runtime, instance_id: str) -> Instance:
        async with asyncio.timeout(60):
            while (instance := await self.listed(runtime, instance_id)).state is not InstanceState.EXITED:
                await asyncio.sleep(0.02)
        return instance

    async def listed(self, runtime: Runtime, instance_id: str) -> Instance:
        (instance,) = [each for each in await runtime.instances.list() if each.id == instance_id]
        return instance


@asynccontextmanager
async def memory_kit() -> AsyncIterator[RuntimeKit]:
    engine = MemoryEngine(images={"tool"}, registry={"present"})
    engine.lay(Call.PULL, Fault(error=RegistryAway("nobody answers"), only="unreachable"))

    def open_it(installation: str, fence: Callable[[], None] = lambda: None) -> MemoryRuntime:
        return MemoryRuntime(engine, installation, fence)

    def open_away() -> MemoryRuntime:
        away = MemoryEngine()
        away.go_away()
        return MemoryRuntime(away, "away")

    def exits_with(workspace_id: UUID, code: int) -> Mapping[str, str]:
        engine.behaviours[workspace_id] = Behaviour(dies_after_probes=0, exit_code=code)
        return {}

    async def kill(instance: Instance) -> None:
        engine.kill(instance.workspace_id)

    async def folder(name: str) -> Path:
        return engine.home(name)

    async def job_process(name: str) -> int:
        return engine.disk.jobs[name]._process.pid

    yield RuntimeKit(
        open=open_it,
        image="tool",
        port=8080,
        exits_with=exits_with,
        kill=kill,
        open_away=open_away,
        present_image="present",
        missing_image="missing",
        unreachable_image="unreachable",
        folder=folder,
        job_process=job_process,
    )


@asynccontextmanager
async def docker_kit(image: str, folder: Path, job_image: str = "") -> AsyncIterator[RuntimeKit]:
    opened: list[DockerRuntime] = []
    installations: set[str] = set()

    def open_it(installation: str, fence: Callable[[], None] = lambda: None) -> DockerRuntime:
        installations.add(installation)
        opened.append(DockerRuntime(installation, tool_image.HOST, fence, job_image=job_image))
        return opened[-1]

    def open_away() -> DockerRuntime:
        opened.append(DockerRuntime("away", f"unix://{folder / 'nobody.sock'}"))
        return opened[-1]

    async def kill(instance: Instance) -> None:
        await opened[0]._api.client.containers.container(instance.id).kill()

    async def folder_of(name: str) -> Path:
        return await opened[0].volumes.require(name)

    async def job_process(name: str) -> int:
        found = await opened[0]._api.read(f"containers/{name}/json")
        return int(found["State"]["Pid"])

    async with registry() as address:
        kit = RuntimeKit(
            open=open_it,
            image=image,
            port=tool_image.PORT,
            exits_with=lambda _, code: {"EXIT_CODE": str(code)},
            kill=kill,
            open_away=open_away,
            present_image=f"{address}/{PRESENT}:1",
            missing_image=f"{address}/{MISSING}:1",
            unreachable_image=UNREACHABLE,
            fetch=fetch,
            folder=folder_of,
            job_process=job_process,
        )
        try:
            yield kit
        finally:
            for runtime in opened:
                await runtime.close()
            for installation in installations:
                await clear(installation)
            await forget_image(str(kit.present_image))


def another(spec: InstanceSpec) -> InstanceSpec:
    """What a different operation would want under the same name."""
    return replace(spec, op_id=uuid.uuid4())
