"""Workspaces as sandboxed processes, each behind a shim of its own."""

import asyncio
import re
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Network
from pathlib import Path
from uuid import UUID

from codehub.model.workspace import workspace_of
from codehub.runtimes import trees
from codehub.runtimes.errors import ImageUnavailable, NotFound, RuntimeFault
from codehub.runtimes.local import limits, sandbox, shims, usage
from codehub.runtimes.local.edge import translated
from codehub.runtimes.local.folders import Folders
from codehub.runtimes.local.log import Reading
from codehub.runtimes.local.records import LOCK, Plan, Record
from codehub.runtimes.local.tool import Tool, Tools
from codehub.runtimes.local.users import user_of
from codehub.runtimes.local.volumes import LocalVolumes
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, PullProgress, Stats

PROBE_SECONDS = 5.0
"""An IDE on a busy machine may take seconds, and whoever works in it would be cut off."""
LOOK_SECONDS = 0.2
STATUS = re.compile(rb"HTTP/1\.[01] ([23])\d\d\b")
SHIM = "codehub.runtimes.local.instance_shim"


class LocalInstances:
    def __init__(
        self,
        folders: Folders,
        installation: str,
        volumes: LocalVolumes,
        tools: Tools,
        fence: Callable[[], None],
        barred: tuple[IPv4Network, ...],
        inside_folder: Path | None,
    ) -> None:
        self._folders = folders
        self._installation = installation
        self._volumes = volumes
        self._tools = tools
        self._fence = fence
        self._barred = barred
        self._inside_folder = inside_folder

    async def list(self, workspace_id: UUID | None = None) -> tuple[Instance, ...]:
        with translated():
            instances = await asyncio.to_thread(self._listed)
        return tuple(each for each in instances if workspace_id in (None, each.workspace_id))

    def _listed(self) -> Sequence[Instance]:
        records = map(Record.read, self._folders.instances())
        return [each.instance() for each in records if each and each.plan.installation == self._installation]

    async def watch(self) -> AsyncGenerator[UUID, None]:
        """By looking often: a shim that is killed leaves no trace in any file that could be watched. The first look is
        taken before anything else can happen."""
        with translated():
            instances, homes = self._look()
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                instances_now, homes_now = await asyncio.to_thread(self._look)
                gone = {owner for home in homes - homes_now if (owner := workspace_of(home))}
                for workspace_id in {each.workspace_id for each in instances ^ instances_now} | gone:
                    yield workspace_id
                instances, homes = instances_now, homes_now

    def _look(self) -> tuple[set[Instance], set[str]]:
        """The instances as they are, and the names of all homes: reading what is written in each would take long."""
        return set(self._listed()), {folder.name for folder in self._folders.volumes()}

    async def pull(self, image: str, on_progress: Callable[[PullProgress], None]) -> None:  # noqa: ARG002 - nothing to tell
        """Tools are installed with their templates, never by a start."""
        with translated():
            self._folders.require()
            await asyncio.to_thread(self._tool, image)

    def _tool(self, name: str) -> Tool:
        tool = self._tools(name)
        if tool is None:
            raise ImageUnavailable(f"the tool {name} is not installed")
        return tool

    async def start(self, spec: InstanceSpec) -> str:
        with translated():
            return await asyncio.to_thread(self._start, spec)

    def _start(self, spec: InstanceSpec) -> str:
        folder = self._folders.instance(spec.name)
        with self._folders.alone():
            plan = self._plan(spec)
            if not folder.exists():
                self._fence()
                with self._folders.appearing(folder) as partial:  # from here on the home is held
                    plan.write(partial)
            record = Record.read(folder)
            if record is None or not record.plan.same_incarnation(plan):
                raise RuntimeFault(f"the name {spec.name} belongs to another incarnation")
            lock = (folder / LOCK).open("a")
        with lock:
            if shims.take(lock, folder):
                shims.bury(folder)
                self._fence()
                record.plan.socket.unlink(missing_ok=True)
                self._folders.make_inside(record.plan.inside, record.plan.uid)
                shims.launch(SHIM, folder, lock.fileno())
        return spec.name

    def _plan(self, spec: InstanceSpec) -> Plan:
        home = self._volumes.require(spec.volume)
        tool = self._tool(spec.image)
        environment = {**tool.environment, **spec.environment}
        if any("\0" in text for pair in environment.items() for text in pair):
            raise RuntimeFault(
                "the environment contains a zero byte, which would begin another argument of the sandbox"
            )
        begin = (spec.begin,) if spec.begin is not None and self._inside_folder is not None else ()
        inside, socket = self._folders.sockets(spec.name)
        return Plan(
            name=spec.name,
            installation=self._installation,
            workspace_id=spec.workspace_id,
            op_id=spec.op_id,
            epoch=spec.epoch,
            volume=spec.volume,
            health_path=spec.health_path,
            argv=(*begin, *tool.argv(sandbox.SOCKET)),
            environment=environment,
            tool=tool.folder,
            home=home,
            inside=inside,
            socket=socket,
            memory_bytes=spec.resources.memory_bytes,
            cpus=spec.resources.cpus,
            pids=spec.resources.pids,
            uid=user_of(spec.workspace_id, self._folders),
            barred=tuple(map(str, self._barred)),
            shown=self._inside_folder,
        )

    async def probe(self, instance: Instance) -> bool:
        if instance.endpoint is None:
            return False
        with suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(PROBE_SECONDS):
                path = instance.endpoint.address.removeprefix("unix:")
                reader, writer = await asyncio.open_unix_connection(path)
                try:
                    request = f"GET {instance.health_path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                    writer.write(request.encode())
                    return STATUS.match(await reader.readline()) is not None
                finally:
                    writer.close()
        return False

    async def stop(self, instance_id: str, grace_seconds: float) -> None:
        """Killing the shim kills the whole sandbox, and stopping ends only when all of it is gone (contract 8)."""
        with translated(), suppress(NotFound):
            life = (await asyncio.to_thread(self._require, instance_id)).life
            if life is not None:
                self._fence()
                life.shim.send(signal.SIGTERM)
                if not await shims.gone(life, grace_seconds):
                    self._fence()
                    life.shim.send(signal.SIGKILL)
                    await shims.gone(life, shims.DEATH_SECONDS)
            await asyncio.to_thread(self._let_go, instance_id)
            await trees.remove(await asyncio.to_thread(self._folders.thrown_away))

    def _let_go(self, name: str) -> None:
        """Take out of sight what is left of it, while nobody can start it again."""
        folder = self._folders.instance(name)
        with self._folders.alone():
            record = self._require(name)
            with (folder / LOCK).open("a") as lock:
                shims.require_gone(folder, lock)
                self._fence()
                if limits.groups_obstacle() is None:
                    limits.Group(name).remove()
                record.plan.socket.unlink(missing_ok=True)
                self._folders.throw_away(record.plan.inside)
                self._folders.throw_away(folder)

    async def logs(self, instance_id: str, tail: int, *, follow: bool = False) -> AsyncGenerator[bytes, None]:
        """Both streams as they came, line by line. A workspace prints what it likes, so nothing is decoded here."""
        with translated():
            await asyncio.to_thread(self._require, instance_id)
            reading = Reading(self._folders.instance(instance_id))
            lines = await asyncio.to_thread(reading.last_lines, tail)
        for line in lines:
            yield line
        while follow:
            follow = await asyncio.to_thread(self._runs, instance_id)  # asked first: last words are read after it
            yield await asyncio.to_thread(reading.more)
            await asyncio.sleep(LOOK_SECONDS if follow else 0)

    def _runs(self, instance_id: str) -> bool:
        record = Record.read(self._folders.instance(instance_id))
        return record is not None and record.instance().state is InstanceState.RUNNING

    async def stats(self, instance_id: str) -> Stats:
        with translated():
            record = await asyncio.to_thread(self._require, instance_id)
            return await asyncio.to_thread(usage.stats, record)

    def _require(self, instance_id: str) -> Record:
        self._folders.require()
        record = Record.read(self._folders.instance(instance_id))
        if record is None or record.plan.installation != self._installation:
            raise NotFound(f"there is no instance {instance_id}")
        return record
