"""A complete runtime that is only remembered: for tests and simulations. What goes wrong is switched on its engine."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from uuid import UUID

from codehub.model.conditions import Endpoint
from codehub.model.templates import registry_of
from codehub.runtimes.errors import ImageUnavailable, InUse, NotFound, RegistryAway, RuntimeAway, RuntimeFault
from codehub.runtimes.memory_engine import Call, Container, Home, MemoryEngine
from codehub.runtimes.memory_jobs import MemoryJobs
from codehub.runtimes.protocols import (
    Instance,
    InstanceSpec,
    InstanceState,
    PullProgress,
    Stats,
    Volume,
    VolumeSpec,
)

IMAGE_BYTES = 100 * 1024**2
LOOK_SECONDS = 0.05


class MemoryRuntime:
    """One installation's view of a `MemoryEngine`. The fence is looked at before each act, as on a real engine: what is
    slow is slow after it, so that a late act is one that the fence let pass."""

    name = "memory"

    def __init__(self, engine: MemoryEngine, installation: str, fence: Callable[[], None] = lambda: None) -> None:
        self._engine = engine
        self.instances = MemoryInstances(engine, installation, fence)
        self.volumes = MemoryVolumes(engine, installation, fence)
        self.jobs = MemoryJobs(engine, installation, fence)

    async def engine(self) -> str:
        async with self._engine.call(Call.ENGINE):
            return self._engine.identity

    async def close(self) -> None:
        """Nothing is held open."""


class MemoryInstances:
    def __init__(self, engine: MemoryEngine, installation: str, fence: Callable[[], None]) -> None:
        self._engine = engine
        self._installation = installation
        self._fence = fence

    async def list(self, workspace_id: UUID | None = None) -> tuple[Instance, ...]:
        async with self._engine.call(Call.LIST_INSTANCES):
            return tuple(
                instance
                for installation, instance in self._engine.shown().containers
                if installation == self._installation
                and workspace_id in (None, instance.workspace_id)
                and instance.name not in self._engine.hidden
            )

    async def watch(self) -> AsyncGenerator[UUID, None]:
        if self._engine.away:
            raise RuntimeAway("the engine does not answer")
        queue: asyncio.Queue[UUID | None] = asyncio.Queue()
        self._engine.watchers[queue] = self._installation
        try:
            while (workspace_id := await queue.get()) is not None:
                yield workspace_id
        finally:
            del self._engine.watchers[queue]
        raise RuntimeAway("the stream of events broke off")

    async def pull(self, image: str, on_progress: Callable[[PullProgress], None]) -> None:
        self._fence()
        async with self._engine.call(Call.PULL, image):
            if image in self._engine.images:
                return
            if registry_of(image) in self._engine.registries_away:
                raise RegistryAway(f"nobody answers where {image} should come from")
            if image not in self._engine.registry:
                raise ImageUnavailable(f"there is no image {image}")
            for part in range(4):
                on_progress(PullProgress(IMAGE_BYTES * part // 4, IMAGE_BYTES))
            self._engine.images.add(image)
            on_progress(PullProgress(IMAGE_BYTES, IMAGE_BYTES))

    async def start(self, spec: InstanceSpec) -> str:
        if spec.image not in self._engine.images:
            await self.pull(spec.image, lambda _: None)
        self._fence()
        async with self._engine.call(Call.START, spec.name):
            home = self._engine.homes.get(spec.volume)
            if home is None or home.installation != self._installation:
                raise NotFound(f"there is no volume {spec.volume}")
            container = self._named(spec.name) or self._make(spec)
            if (container.installation, container.spec.op_id) != (self._installation, spec.op_id):
                raise RuntimeFault(f"the name {spec.name} belongs to another incarnation")
            if container.seen.state is not InstanceState.RUNNING:
                self._run(container)
            return container.seen.id

    def _named(self, name: str) -> Container | None:
        return next((each for each in self._engine.containers.values() if each.spec.name == name), None)

    def _make(self, spec: InstanceSpec) -> Container:
        seen = Instance(
            id=f"{self._engine.new_number():064x}",
            name=spec.name,
            workspace_id=spec.workspace_id,
            op_id=spec.op_id,
            epoch=spec.epoch,
            volume=spec.volume,
            state=InstanceState.CREATED,
            endpoint=None,
            health_path=spec.health_path,
        )
        container = self._engine.containers[seen.id] = Container(self._installation, spec, seen)
        return container

    def _run(self, container: Container) -> None:
        container.probes = 0
        number = self._engine.new_number()
        endpoint = Endpoint(
            container.seen.id, f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", container.spec.port
        )
        running = replace(container.seen, state=InstanceState.RUNNING, endpoint=endpoint, message="")
        self._engine.change(container, running)
        if self._engine.behaviour(container).dies_after_probes == 0:
            self._engine.end(container, self._engine.behaviour(container).exit_code)

    async def probe(self, instance: Instance) -> bool:
        container = self._engine.containers.get(instance.id)
        if self._engine.away or container is None or container.seen.state is not InstanceState.RUNNING:
            return False
        behaviour = self._engine.behaviour(container)
        container.probes += 1
        if behaviour.dies_after_probes is not None and container.probes > behaviour.dies_after_probes:
            self._engine.end(container, behaviour.exit_code)
            return False
        return behaviour.answers and container.probes > behaviour.silent_probes

    async def stop(self, instance_id: str, grace_seconds: float) -> None:  # noqa: ARG002 - it ends when it is asked to
        self._fence()
        async with self._engine.call(Call.STOP, instance_id):
            container = self._engine.containers.get(instance_id)
            if container and container.installation == self._installation:
                del self._engine.containers[instance_id]
                self._engine.announce(self._installation, container.spec.workspace_id)

    async def logs(self, instance_id: str, tail: int, *, follow: bool = False) -> AsyncGenerator[bytes, None]:
        container = self._known(instance_id)
        for line in self._engine.behaviour(container).logs[-tail:]:
            yield line
        while follow and instance_id in self._engine.containers and container.seen.state is InstanceState.RUNNING:
            await asyncio.sleep(LOOK_SECONDS)

    async def stats(self, instance_id: str) -> Stats:
        async with self._engine.call(Call.STATS, instance_id):
            container = self._known(instance_id)
            limit = container.spec.resources.memory_bytes
            return Stats(
                cpu_seconds=0.1,
                memory_bytes=limit // 10,
                memory_limit_bytes=limit,
                pids=1,
                cpus_limit=container.spec.resources.cpus,
            )

    def _known(self, instance_id: str) -> Container:
        if self._engine.away:
            raise RuntimeAway("the engine does not answer")
        container = self._engine.containers.get(instance_id)
        if container is None or container.installation != self._installation:
            raise NotFound(f"there is no instance {instance_id}")
        return container


class MemoryVolumes:
    def __init__(self, engine: MemoryEngine, installation: str, fence: Callable[[], None]) -> None:
        self._engine = engine
        self._installation = installation
        self._fence = fence

    async def list(self, workspace_id: UUID | None = None) -> tuple[Volume, ...]:
        async with self._engine.call(Call.LIST_VOLUMES):
            return tuple(
                Volume(home.spec.name, home.spec.workspace_id)
                for home in self._engine.shown().homes
                if home.installation == self._installation
                and workspace_id in (None, home.spec.workspace_id)
                and home.spec.name not in self._engine.hidden
            )

    async def create(self, spec: VolumeSpec) -> None:
        self._fence()
        async with self._engine.call(Call.CREATE_VOLUME, spec.name):
            home = self._engine.homes.setdefault(spec.name, Home(self._installation, spec))
            if home.installation != self._installation:
                raise RuntimeFault(f"the name {spec.name} belongs to another installation")
            self._engine.announce(self._installation, spec.workspace_id)

    async def delete(self, name: str) -> None:
        self._fence()
        async with self._engine.call(Call.DELETE_VOLUME, name):
            home = self._engine.homes.get(name)
            if home is None or home.installation != self._installation:
                return
            if name in self._engine.held_homes():
                raise InUse(f"the volume {name} is in use")
            del self._engine.homes[name]
            self._engine.disk.remove_home(name)
            self._engine.announce(self._installation, home.spec.workspace_id)

    async def stand_ins(self) -> tuple[Volume, ...]:
        """None: nothing is made here by itself."""
        return ()

    async def remove_stand_in(self, name: str) -> None:
        """There is none."""

    async def usage(self, name: str) -> int:
        async with self._engine.call(Call.USAGE, name):
            home = self._engine.homes.get(name)
            if home is None or home.installation != self._installation:
                raise NotFound(f"there is no volume {name}")
            return self._engine.disk.used_bytes(name)
