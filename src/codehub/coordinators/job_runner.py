"""One job of a workspace, from its beginning, or from where another leader has left it, to its result."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from codehub.coordinators.leadership import Leadership
from codehub.job.faults import ExitCode
from codehub.job.marker import Totals, parse_totals
from codehub.job.order import Kind
from codehub.model.states import Operation
from codehub.model.workspace import Workspace, incarnation_name
from codehub.runtimes.errors import NotFound, Removed, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import Job, Jobs, JobSpec, JobState

LASTING = frozenset({ExitCode.FAILED, ExitCode.BAD_ORDER, ExitCode.CORRUPT, ExitCode.MISSING})
"""What the same order would end with again. Anything else passes: a store that is away, a full disk, a killed job."""
KINDS = {Operation.ARCHIVING: (Kind.ARCHIVE, Kind.VERIFY), Operation.RESTORING: (Kind.RESTORE,)}
"""The jobs that an operation has."""
FOLLOWED_AGAIN = 3
FOLLOW_AGAIN_SECONDS = 1.0
"""A stream of lines may break without any harm to the job."""
LINE_BYTES = 64 * 1024


class JobFailed(RuntimeFault):
    def __init__(self, exit_code: int | None, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code

    @property
    def passes(self) -> bool:
        return self.exit_code not in LASTING


def job_name(workspace: Workspace, kind: Kind) -> str:
    """Of the job of this attempt: whoever leads finds it by its name, and never begins a second one."""
    op_id = workspace.op_id if kind is Kind.RESTORE else workspace.archive_op_id
    assert op_id is not None  # noqa: S101 (named by the claim)
    return f"{incarnation_name(workspace.id, op_id, workspace.op_attempt)}-{kind}"


@dataclass
class JobRunner:
    jobs: Jobs
    leadership: Leadership
    hear: Callable[[Workspace, Mapping[str, Any]], None]
    """Told each line of progress."""

    async def carry_out(self, workspace: Workspace, kind: Kind, order: Callable[[bool], Awaitable[JobSpec]]) -> Totals:
        """The result of this attempt's job. One that runs or has ended is followed; one that came to nothing by a fault
        that passes is begun again, as a new leader or a service that is back does, and `order` is told so.

        No other job of the workspace is left beside it: what is proven afterwards nobody may change."""
        name = job_name(workspace, kind)
        await self.remove_all(workspace.id, but=name)
        job = await self._find(name)
        again = job is not None and _came_to_nothing(job)
        if again:
            await self._remove(name)
        if again or job is None:
            spec = await order(again)
            self.leadership.check()
            await self.jobs.run(spec)
        try:
            said = await self._follow(workspace, name)
            ended = await self.jobs.status(name)
        except NotFound as error:
            raise Removed(f"the job {name} was removed before it was known what became of it") from error
        if ended.exit_code != ExitCode.DONE:
            raise JobFailed(ended.exit_code, _complaint(kind, ended, said))
        try:
            return parse_totals(said["result"])
        except (ValueError, TypeError, LookupError) as error:
            raise JobFailed(ExitCode.FAILED, f"the {kind} job ended well without saying what it did") from error

    async def remove_all(self, workspace_id: UUID, but: str | None = None) -> None:
        for job in await self.jobs.list(workspace_id):
            if job.name != but:
                await self._remove(job.name)

    async def remove_of(self, workspace: Workspace) -> None:
        """The jobs of this attempt, by their names: those of another are not its to end."""
        for kind in KINDS.get(workspace.operation, ()):
            await self._remove(job_name(workspace, kind))

    async def _remove(self, name: str) -> None:
        self.leadership.check()
        await self.jobs.remove(name)

    async def _find(self, name: str) -> Job | None:
        with contextlib.suppress(NotFound):
            return await self.jobs.status(name)
        return None

    async def _follow(self, workspace: Workspace, name: str) -> dict[str, Any]:
        """Hear it to its end. What it said last."""
        broken = 0
        while True:
            try:
                last = await self._heard(workspace, name)
                if (await self.jobs.status(name)).state is JobState.ENDED:
                    return last
            except RuntimeAway:
                broken += 1
                if broken > FOLLOWED_AGAIN:
                    raise
            await asyncio.sleep(FOLLOW_AGAIN_SECONDS)

    async def _heard(self, workspace: Workspace, name: str) -> dict[str, Any]:
        last: dict[str, Any] = {}
        async with aclosing(self.jobs.follow(name)) as lines:
            async for line in lines:
                said = _parse(line)
                if "stage" in said:
                    self.hear(workspace, said)
                last = said or last
        return last


def _came_to_nothing(job: Job) -> bool:
    return job.state is JobState.ENDED and job.exit_code != ExitCode.DONE and job.exit_code not in LASTING


def _complaint(kind: Kind, job: Job, said: Mapping[str, Any]) -> str:
    message = said.get("message")
    return str(message) if message else f"the {kind} job ended with code {job.exit_code}"


def _parse(line: bytes) -> dict[str, Any]:
    """An object, or nothing: a job may have been killed in the middle of a line."""
    if len(line) <= LINE_BYTES:
        with contextlib.suppress(ValueError):
            said = json.loads(line)
            return said if isinstance(said, dict) else {}
    return {}
