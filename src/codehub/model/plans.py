"""What the planner can answer. The controller matches these exhaustively; nothing else leads to an act."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from codehub.model.states import ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import Request


class Waiting(StrEnum):
    """What is waited for, in a word that people are shown."""

    OBSERVATION = "observation"
    ACTION = "action"
    TURN = "turn"
    RETRY = "retry"
    SERVICE = "service"
    IMAGE_BUILDING = "ImageBuilding"


class Withdrawal(StrEnum):
    """Why an operation is given back unfinished."""

    WISH_CHANGED = "wish_changed"
    CONTAINER_APPEARED = "container_appeared"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an attempt failed."""

    reason: ErrorReason
    detail: str
    away: Service | None = None
    """The shared service that is away for everyone, where that is the cause and not this workspace's own trouble."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do: the wish is fulfilled, or the workspace is in ERROR and waits for its owner."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Take this operation by compare-and-set, then do its first step."""

    operation: Operation
    step: Step
    consumes: Request | None = None
    """The request that this answers; it is cleared, with the error, in the same transaction."""


@dataclass(frozen=True, slots=True)
class Continue:
    """Do this step of the operation under way; record it first where it is a new one."""

    step: Step


@dataclass(frozen=True, slots=True)
class Finish:
    """It was seen done. One transaction stores all of this and sets operation to NONE."""

    phase: Phase
    home_volume: str | None
    op_volume: str | None
    """A volume that an earlier operation left unfinished and this one did not touch."""
    restore_marker: str | None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Give the operation back; what it has made so far is the collector's."""

    why: Withdrawal


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Look again at this time, or earlier when something was seen. None: only something seen can change it."""

    at: datetime | None
    why: Waiting
    service: Service | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """The attempt failed and another follows: count it, keep the operation claimed, go on at `step`."""

    at: datetime
    step: Step
    fault: Fault


@dataclass(frozen=True, slots=True)
class Died:
    """The IDE ended by itself after it had been ready: remember it, start it again at `at`."""

    at: datetime
    deaths: tuple[datetime, ...]


@dataclass(frozen=True, slots=True)
class GiveUp:
    """To ERROR, in one transaction with operation NONE (contract 4). The owner has the next word."""

    fault: Fault
    error_count: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Fulfil a request that needs no operation of its own. Clears the error; `None` here means empty, not unchanged."""

    request: Request
    home_volume: str | None
    archive_key: str | None
    done: bool = True
    """False where the request also needs what the next passes do: it stays in the row."""


@dataclass(frozen=True, slots=True)
class RemoveSurplus:
    """Take these containers away, by their ids, and leave the one that speaks for the workspace as it is (contract 6).
    No operation: what serves the workspace serves on meanwhile."""

    container_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dismiss:
    """A request that does not fit the state of things any more. It is dropped, and the history says why."""

    request: Request
    why: str


Plan = (
    Rest | Begin | Continue | Finish | Withdraw | WaitUntil | Retry | Died | GiveUp | Answer | Dismiss | RemoveSurplus
)
