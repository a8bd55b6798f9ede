"""Workspaces as sandboxed processes, each behind a shim of its own."""

import asyncio
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from ipaddress import IPv4Network
from pathlib import Path
from typing import IO
from uuid import UUID

from codehub.model.workspace import workspace_of
from codehub.runtimes import trees
from codehub.runtimes.errors import ImageUnavailable, NotFound, RuntimeFault
from codehub.runtimes.local import limits, sandbox, usage
from codehub.runtimes.local.edge import translated
from codehub.runtimes.local.folders import Folders
from codehub.runtimes.local.log import Reading
from codehub.runtimes.local.process import all_gone
from codehub.runtimes.local.records import LOCK, SHIM_LOG, Life, Plan, Record
from codehub.runtimes.local.tool import Tool, Tools
from codehub.runtimes.local.users import user_of
from codehub.runtimes.local.volumes import LocalVolumes
from codehub.runtimes.protocols import Instance, InstanceSpec, InstanceState, PullProgress, Stats

PROBE_SECONDS = 1.5
LOOK_SECONDS = 0.2
END_LOOK_SECONDS = 0.02
BIRTH_SECONDS = 10.0
"""How long a shim that another codehub starts may take to say that it lives."""
DEATH_SECONDS = 10.0
"""How long a killed sandbox may take to be gone, on a machine that is short of everything."""
LAST_SECONDS = 1.0
"""The same for what a killed shim had no time to tell of."""
STATUS = re.compile(rb"HTTP/1\.[01] ([23])\d\d\b")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class LocalInstances:
    def __init__(
        self,
        folders: Folders,
        installation: str,
        volumes: LocalVolumes,
        tools: Tools,
        fence: Callable[[], None],
        barred: tuple[IPv4Network, ...],
    ) -> None:
        self._folders = folders
        self._installation = installation
        self._volumes = volumes
        self._tools = tools
        self._fence = fence
        self._barred = barred

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
            if self._take(lock, folder):
                self._bury(folder)
                self._run_shim(folder, record.plan, lock.fileno())
        return spec.name

    def _take(self, lock: IO[str], folder: Path) -> bool:
        """Get the lock that makes a shim the only one. False where one lives; another's that begins is waited for."""
        deadline = time.monotonic() + BIRTH_SECONDS
        while not _locked(lock):
            record = Record.read(folder)
            if record and record.life and record.life.shim.alive():
                return False
            if time.monotonic() > deadline:
                raise RuntimeFault(f"{folder.name} is held by somebody who does not start it")
            time.sleep(END_LOOK_SECONDS)
        if not _names(folder / LOCK, lock):
            raise RuntimeFault(f"{folder.name} was stopped while it was started")
        return True

    def _bury(self, folder: Path) -> None:
        """Wait for what is left of an earlier life, whose shim is dead."""
        record = Record.read(folder)
        if record and record.life and not all_gone(record.life.processes, DEATH_SECONDS):
            raise RuntimeFault(f"the remains of {folder.name} do not end")

    def _plan(self, spec: InstanceSpec) -> Plan:
        home = self._volumes.require(spec.volume)
        tool = self._tool(spec.image)
        environment = {**tool.environment, **spec.environment}
        if any("\0" in text for pair in environment.items() for text in pair):
            raise RuntimeFault(
                "the environment contains a zero byte, which would begin another argument of the sandbox"
            )
        inside, socket = self._folders.sockets(spec.name)
        return Plan(
            name=spec.name,
            installation=self._installation,
            workspace_id=spec.workspace_id,
            op_id=spec.op_id,
            epoch=spec.epoch,
            volume=spec.volume,
            health_path=spec.health_path,
            argv=tuple(tool.argv(sandbox.SOCKET)),
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
        )

    def _run_shim(self, folder: Path, plan: Plan, lock: int) -> None:
        """In a session of its own, with an environment that tells it nothing of codehub's."""
        self._fence()
        plan.socket.unlink(missing_ok=True)
        self._folders.make_inside(plan.inside, plan.uid)
        with (folder / SHIM_LOG).open("wb") as errors:
            started = subprocess.run(
                [sys.executable, "-I", "-m", "codehub.runtimes.local.shim", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                cwd="/",
                env={"PATH": SYSTEM_PATH, "LC_ALL": "C.UTF-8"},
                pass_fds=[lock],
                start_new_session=True,
                check=False,
            )
        if started.returncode != 0:
            raise RuntimeFault(f"the shim of {plan.name} did not start: {(folder / SHIM_LOG).read_text()[-500:]}")

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
                if not await _end(life, grace_seconds):
                    self._fence()
                    life.shim.send(signal.SIGKILL)
                    await _end(life, DEATH_SECONDS)
            await asyncio.to_thread(self._let_go, instance_id)
            await trees.remove(await asyncio.to_thread(self._folders.thrown_away))

    def _let_go(self, name: str) -> None:
        """Take out of sight what is left of it, while nobody can start it again. Its shim may have told of more
        processes since it was asked to end."""
        folder = self._folders.instance(name)
        with self._folders.alone():
            record = self._require(name)
            with (folder / LOCK).open("a") as lock:
                if not _locked(lock) or (record.life and not all_gone(record.life.processes, LAST_SECONDS)):
                    raise RuntimeFault(f"{name} does not end, or was started again")
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


def _locked(file: IO[str]) -> bool:
    """Whether the file is locked now, by us."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _names(path: Path, file: IO[str]) -> bool:
    """Whether the path still stands for the open file: one who waited for a lock may hold it on what is thrown away."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


async def _end(life: Life, seconds: float) -> bool:
    """Wait for all of it to be gone, this long at most; whether it is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while life.alive():
                await asyncio.sleep(END_LOOK_SECONDS)
            return True
    return False
