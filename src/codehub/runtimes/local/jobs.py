"""Jobs as sandboxed processes, each behind a shim of its own."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from uuid import UUID

from codehub.job.faults import ExitCode
from codehub.job.order import DirectoryPlace, Order, encode_order
from codehub.runtimes import trees
from codehub.runtimes.errors import NoJobs, NotFound, RuntimeFault
from codehub.runtimes.in_memory import in_memory
from codehub.runtimes.job_view import as_seen_inside, way_to_archive
from codehub.runtimes.lines import Lines
from codehub.runtimes.local import limits, shims
from codehub.runtimes.local.edge import translated
from codehub.runtimes.local.findings import lack_of_jobs
from codehub.runtimes.local.folders import Folders
from codehub.runtimes.local.job_records import JobPlan, JobRecord
from codehub.runtimes.local.lend import lend
from codehub.runtimes.local.log import Reading
from codehub.runtimes.local.records import LOCK, SHIM_LOG
from codehub.runtimes.local.users import user_of
from codehub.runtimes.local.volumes import LocalVolumes
from codehub.runtimes.protocols import Job, JobSpec

SHIM = "codehub.runtimes.local.job_shim"
LOOK_SECONDS = 0.1
LAST_WORDS = 500


class LocalJobs:
    def __init__(self, folders: Folders, installation: str, volumes: LocalVolumes, fence: Callable[[], None]) -> None:
        self._folders = folders
        self._installation = installation
        self._volumes = volumes
        self._fence = fence

    async def lack(self) -> str | None:
        return await asyncio.to_thread(lack_of_jobs)

    async def list(self, workspace_id: UUID | None = None) -> tuple[Job, ...]:
        with translated():
            jobs = await asyncio.to_thread(self._listed)
        return tuple(each for each in jobs if workspace_id in (None, each.workspace_id))

    def _listed(self) -> Sequence[Job]:
        records = map(JobRecord.read, self._folders.jobs())
        return [each.job() for each in records if each and each.plan.installation == self._installation]

    async def run(self, spec: JobSpec) -> None:
        if lack := await self.lack():
            raise NoJobs(lack)
        with translated():
            await asyncio.to_thread(self._run, spec)

    def _run(self, spec: JobSpec) -> None:
        folder = self._folders.job(spec.name)
        with self._folders.alone():
            plan = self._plan(spec)
            if not folder.exists():
                self._fence()
                with self._folders.appearing(folder) as partial:  # from here on the home is held
                    plan.write(partial)
            record = JobRecord.read(folder)
            if record is None or not record.plan.same_operation(plan):
                raise RuntimeFault(f"the name {spec.name} belongs to another operation")
            lock = (folder / LOCK).open("a")
        with lock:
            if record.life is None and shims.take(lock, folder) and JobRecord.read(folder) == record:
                self._begin(folder, plan, spec.order, lock.fileno())

    def _begin(self, folder: Path, plan: JobPlan, order: Order, lock: int) -> None:
        self._fence()
        if isinstance(order.place, DirectoryPlace) and plan.uid is not None:
            lend(plan.place, writable=plan.writes_place)
        with in_memory(encode_order(as_seen_inside(order))) as given:
            shims.launch(SHIM, folder, lock, given.fileno())

    def _plan(self, spec: JobSpec) -> JobPlan:
        order = spec.order
        way = way_to_archive(order)
        return JobPlan(
            name=spec.name,
            installation=self._installation,
            workspace_id=spec.workspace_id,
            op_id=spec.op_id,
            epoch=spec.epoch,
            volume=spec.volume,
            kind=order.kind,
            home=self._volumes.require(spec.volume),
            place=way.folder,
            place_inside=way.inside,
            writes_place=way.writable,
            uid=user_of(spec.workspace_id, self._folders),
        )

    async def status(self, name: str) -> Job:
        with translated():
            return (await asyncio.to_thread(self._require, name)).job()

    async def follow(self, name: str) -> AsyncGenerator[bytes, None]:
        with translated():
            record: JobRecord | None = await asyncio.to_thread(self._require, name)
        reading, lines = Reading(self._folders.job(name)), Lines()
        runs = True
        while runs:
            with translated():
                record = await asyncio.to_thread(JobRecord.read, self._folders.job(name))
                runs = record is not None and record.runs  # asked first: last words are read after it
                printed = await asyncio.to_thread(reading.more)
            for line in lines.add(printed):
                yield line
            await asyncio.sleep(LOOK_SECONDS if runs else 0)
        if record and record.trouble:
            said = (self._folders.job(name) / SHIM_LOG).read_text(errors="replace").strip()[-LAST_WORDS:]
            fault = {"fault": ExitCode.TRY_AGAIN.name.lower(), "message": f"The job ended: {record.trouble} {said}"}
            yield json.dumps(fault).encode() + b"\n"

    async def remove(self, name: str) -> None:
        """Killing the shim kills the whole sandbox, and this ends only when all of it is gone."""
        with translated():
            try:
                life = (await asyncio.to_thread(self._require, name)).life
                if life is not None:
                    self._fence()
                    life.shim.send(signal.SIGKILL)
                    await shims.gone(life, shims.DEATH_SECONDS)
                await asyncio.to_thread(self._let_go, name)
            except NotFound:
                return
            await trees.remove(await asyncio.to_thread(self._folders.thrown_away))

    def _let_go(self, name: str) -> None:
        folder = self._folders.job(name)
        with self._folders.alone():
            self._require(name)
            with (folder / LOCK).open("a") as lock:
                shims.require_gone(folder, lock)
                self._fence()
                if limits.groups_obstacle() is None:
                    limits.Group(name, limits.PARENT_OF_JOBS).remove()
                self._folders.throw_away(folder)

    def _require(self, name: str) -> JobRecord:
        self._folders.require()
        record = JobRecord.read(self._folders.job(name))
        if record is None or record.plan.installation != self._installation:
            raise NotFound(f"there is no job {name}")
        return record
