"""What is written down of an instance: the plan that it was made by, and the life that its shim leads."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from codehub.model.conditions import Endpoint
from codehub.runtimes.local.process import Process
from codehub.runtimes.protocols import Instance, InstanceState

PLAN, LIFE, LOCK, LOG, SHIM_LOG, ETC = "plan.json", "life.json", "lock", "log", "shim.log", "etc"
LOST = "ended with its shim: that was killed, or the machine restarted"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a shim has to know. Written once, before anything is started."""

    name: str
    installation: str
    workspace_id: UUID
    op_id: UUID
    epoch: int
    volume: str
    health_path: str
    argv: tuple[str, ...]
    environment: dict[str, str]
    tool: Path
    home: Path
    inside: Path
    """The folder that the workspace sees, in which its IDE makes its socket."""
    socket: Path
    """Where the front door finds that socket, out of the workspace's reach."""
    memory_bytes: int
    cpus: float
    pids: int
    uid: int | None
    """The host's user that the workspace is; None where it can only be codehub's own."""
    barred: tuple[str, ...]
    shown: Path | None = None
    """What codehub shows to every workspace; None in the plans of a codehub that showed nothing."""

    def same_incarnation(self, other: "Plan") -> bool:
        mine, theirs = ((each.installation, each.workspace_id, each.op_id) for each in (self, other))
        return mine == theirs

    def write(self, folder: Path) -> None:
        write_whole(folder / PLAN, json.dumps(asdict(self), default=str))

    @classmethod
    def read(cls, folder: Path) -> "Plan":
        return cls(**plan_fields(folder, _KINDS))


_KINDS = {
    "workspace_id": UUID,
    "op_id": UUID,
    "argv": tuple,
    "barred": tuple,
    "tool": Path,
    "home": Path,
    "inside": Path,
    "socket": Path,
    "shown": Path,
}


@dataclass(frozen=True, slots=True)
class Life:
    """One run of an instance, written by its shim and by nobody else."""

    shim: Process
    others: tuple[Process, ...] = ()
    """The first process of the sandbox, which is gone after all others in it; then the one that carries its network."""
    ending: str = ""
    """How it ended; empty while it runs, and for ever where the shim could not say."""

    @property
    def processes(self) -> tuple[Process, ...]:
        return (self.shim, *self.others)

    def alive(self) -> bool:
        return any(process.alive() for process in self.processes)

    def write(self, folder: Path) -> None:
        write_whole(folder / LIFE, json.dumps(asdict(self)))

    @classmethod
    def look(cls, folder: Path) -> "Life | None":
        """None for one that was never started. A shim says how it ended before it is gone: one that is gone without a
        word has to be asked again, for it may have spoken after the file was read."""
        life = cls._read(folder)
        return cls._read(folder) if life and not life.ending and not life.alive() else life

    @classmethod
    def _read(cls, folder: Path) -> "Life | None":
        try:
            fields = json.loads((folder / LIFE).read_text())
        except FileNotFoundError:
            return None
        shim, *others = (Process(**each) for each in (fields["shim"], *fields["others"]))
        return cls(shim, tuple(others), fields["ending"])


@dataclass(frozen=True, slots=True)
class Record:
    """An instance as its folder shows it."""

    plan: Plan
    life: Life | None

    @classmethod
    def read(cls, folder: Path) -> "Record | None":
        """None where there is no such folder (any more)."""
        try:
            return cls(Plan.read(folder), Life.look(folder))
        except FileNotFoundError:
            return None

    def instance(self) -> Instance:
        plan = self.plan
        created = Instance(
            id=plan.name,
            name=plan.name,
            workspace_id=plan.workspace_id,
            op_id=plan.op_id,
            epoch=plan.epoch,
            volume=plan.volume,
            state=InstanceState.CREATED,
            endpoint=None,
            health_path=plan.health_path,
        )
        if self.life is None:
            return created
        if self.life.ending or not self.life.alive():
            return replace(created, state=InstanceState.EXITED, message=self.life.ending or LOST)
        return replace(created, state=InstanceState.RUNNING, endpoint=Endpoint(plan.name, f"unix:{plan.socket}", 0))


def plan_fields(folder: Path, kinds: Mapping[str, Callable[[Any], object]]) -> dict[str, Any]:
    """What is written of a plan, with those made anew that JSON does not know."""
    fields: dict[str, Any] = json.loads((folder / PLAN).read_text())
    return fields | {name: kind(fields[name]) for name, kind in kinds.items() if fields.get(name) is not None}


def write_whole(path: Path, text: str) -> None:
    """A private file that is there whole or not at all, also after a power cut."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)
