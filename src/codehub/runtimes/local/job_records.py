"""What is written down of a job: the plan that it was made by, and the life that its shim leads. Never its order."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID

from codehub.job.faults import ExitCode
from codehub.job.order import Kind
from codehub.runtimes.local.records import PLAN, Life, plan_fields, write_whole
from codehub.runtimes.protocols import Job, JobState

KILLED = 137
EXITED = re.compile(r"exited with code (\d+)")


@dataclass(frozen=True, slots=True)
class JobPlan:
    """Everything that a shim has to know but the order. Written once, before anything is started."""

    name: str
    installation: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    kind: Kind
    home: Path
    place: Path
    """The archive's own folder, or that of the socket which leads to the store."""
    place_inside: Path
    """Where the job sees it."""
    writes_place: bool
    uid: int | None
    """The host's user that the workspace is; None where it can only be codehub's own."""

    def same_operation(self, other: "JobPlan") -> bool:
        mine, theirs = ((each.installation, each.workspace_id, each.op_id, each.kind) for each in (self, other))
        return mine == theirs

    def write(self, folder: Path) -> None:
        write_whole(folder / PLAN, json.dumps(asdict(self), default=str))

    @classmethod
    def read(cls, folder: Path) -> "JobPlan":
        return cls(**plan_fields(folder, _KINDS))


_KINDS = {
    "workspace_id": UUID,
    "op_id": UUID,
    "kind": Kind,
    "home": Path,
    "place": Path,
    "place_inside": Path,
}


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job as its folder shows it."""

    plan: JobPlan
    life: Life | None

    @classmethod
    def read(cls, folder: Path) -> "JobRecord | None":
        """None where there is no such folder (any more)."""
        try:
            return cls(JobPlan.read(folder), Life.look(folder))
        except FileNotFoundError:
            return None

    @property
    def runs(self) -> bool:
        return self.life is not None and not self.life.ending and self.life.alive()

    @property
    def trouble(self) -> str | None:
        """Why it could not do its work, where it was not the program that ended."""
        return self.life.ending if self.life and self.life.ending and not EXITED.match(self.life.ending) else None

    def job(self) -> Job:
        plan = self.plan
        state = JobState.RUNNING if self.runs else JobState.ENDED
        code = None if self.runs else self._exit_code()
        return Job(plan.name, plan.workspace_id, plan.op_id, plan.epoch, plan.volume, state, code)

    def _exit_code(self) -> int:
        """One that was never begun, or could not be, can be begun again; one that was lost was killed."""
        if self.life is None or self.trouble:
            return ExitCode.TRY_AGAIN
        exited = EXITED.match(self.life.ending)
        return int(exited[1]) if exited else KILLED
