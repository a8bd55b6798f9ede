"""What the store does to a row for each plan, and the rows that it refuses: the model that the walk applies."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from codehub.decide.judge import wish
from codehub.decide.steps import AFTER_ACTION
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import Workspace, archive_key, attempted_archive, incarnation_name
from tests.decide.replaced import replaced

MAKES_A_VOLUME = (Operation.PROVISIONING, Operation.RESTORING)
MAKES_AN_ARCHIVE = (Operation.ARCHIVING, Operation.CREATE_EMPTY_ARCHIVE)
STORES_THE_KEY = (Step.VERIFY, Step.UPLOAD)
LETS_GO = (Step.RELEASE, Step.RELEASED)
KEY_IS_STORED = (Step.VERIFIED, *LETS_GO, Step.UPLOADED)

CONSTRAINTS: dict[str, Callable[[Workspace], bool]] = {
    "DELETED is wished exactly while deleted_at is set": lambda row: (
        (row.desired_state is Desired.DELETED) == (row.deleted_at is not None)
    ),
    "a home and an unfinished volume are never named together": lambda row: (
        row.home_volume is None or row.op_volume is None
    ),
    "an operation has a step, an id and a clock; a row at rest has no step": lambda row: (
        row.op_step is None
        if row.operation is Operation.NONE
        else None not in (row.op_step, row.op_id, row.op_clock_at)
    ),
    "ERROR has no operation (contract 4)": lambda row: row.phase is not Phase.ERROR or row.operation is Operation.NONE,
    "what makes a volume has named it": lambda row: row.operation not in MAKES_A_VOLUME or row.op_volume is not None,
    "an empty home is made only where nothing is remembered": lambda row: (
        row.operation is not Operation.PROVISIONING or row.archive_key is None
    ),
    "an empty archive is made only where nothing is remembered but itself": lambda row: (
        row.operation is not Operation.CREATE_EMPTY_ARCHIVE
        or (row.home_volume is None and row.archive_key in (None, own_key(row)))
    ),
    "a restore has an archive": lambda row: row.operation is not Operation.RESTORING or row.archive_key is not None,
    "a start has a home": lambda row: row.operation is not Operation.STARTING or row.home_volume is not None,
    "archiving has a home until it lets go of it": lambda row: (
        row.operation is not Operation.ARCHIVING
        or (row.home_volume if row.op_step not in LETS_GO else row.op_volume) is not None
    ),
    "a stored archive is named": lambda row: row.op_step not in KEY_IS_STORED or row.archive_key == own_key(row),
}
"""What no row can be. The database refuses the same; the walk starts from everything else."""


def refused(row: Workspace) -> list[str]:
    return [sentence for sentence, holds in CONSTRAINTS.items() if not holds(row)]


def own_key(row: Workspace) -> str | None:
    """The key of the archive that the present operation makes."""
    return archive_key(row.id, row.archive_op_id) if row.archive_op_id else None


NO_ERROR: dict[str, Any] = {"error_reason": None, "error_count": 0, "next_attempt_at": None}
AT_REST: dict[str, Any] = {"operation": Operation.NONE, "op_step": None, "op_attempt": 0, "op_clock_at": None}


def claim(row: Workspace, begin: Begin, op_id: UUID, now: datetime) -> Workspace:
    values: dict[str, Any] = {
        "operation": begin.operation,
        "op_id": op_id,
        "op_step": begin.step,
        "op_attempt": 1,
        "op_clock_at": now,
        "next_attempt_at": None,
    }
    if begin.operation in MAKES_A_VOLUME:
        values |= {"op_volume": incarnation_name(row.id, op_id, 1), "restore_marker": None}
    if begin.operation in MAKES_AN_ARCHIVE:
        values |= {"archive_op_id": op_id}
    if begin.consumes is not None:
        values |= {**NO_ERROR, "request": None}
    return replaced(row, **values)


def enter(row: Workspace, step: Step) -> Workspace:
    if step is Step.RELEASE:
        assert wish(row) is Desired.ARCHIVED, "the store lets go of a volume only while the wish is ARCHIVED"
        return replaced(row, op_step=step, op_volume=row.home_volume, home_volume=None)
    return replaced(row, op_step=step)


def acted(row: Workspace, step: Step, now: datetime) -> Workspace:
    if step is Step.PULL:
        return replaced(row, op_step=AFTER_ACTION[step], op_clock_at=now)
    key = own_key(row) if step in STORES_THE_KEY else row.archive_key
    return replaced(row, op_step=AFTER_ACTION[step], acted_at=now, archive_key=key)


def finish(row: Workspace, plan: Finish) -> Workspace:
    volumes = {"home_volume": plan.home_volume, "op_volume": plan.op_volume}
    return replaced(row, **AT_REST | NO_ERROR | volumes, restore_marker=plan.restore_marker, phase=plan.phase)


def withdraw(row: Workspace, now: datetime) -> Workspace:
    return replaced(row, **AT_REST | NO_ERROR, acted_at=now)


def retry(row: Workspace, plan: Retry, now: datetime) -> Workspace:
    attempt = row.op_attempt + 1
    volume, archive = row.op_volume, row.archive_op_id
    if row.operation in MAKES_A_VOLUME and row.op_id is not None:
        volume = incarnation_name(row.id, row.op_id, attempt)
    if plan.step is Step.ARCHIVE and row.op_id is not None:
        archive = attempted_archive(row.op_id, attempt)
    return replaced(
        row,
        op_step=plan.step,
        op_attempt=attempt,
        op_volume=volume,
        archive_op_id=archive,
        op_clock_at=plan.at,
        next_attempt_at=plan.at,
        acted_at=now,
        error_reason=plan.fault.reason,
        error_count=row.error_count + 1,
    )


def give_up(row: Workspace, plan: GiveUp, now: datetime) -> Workspace:
    assert row.deleted_at is None, "a deletion never becomes ERROR"
    error = {"error_reason": plan.fault.reason, "error_count": plan.error_count, "next_attempt_at": None}
    acted_at = row.acted_at if row.operation is Operation.NONE else now
    return replaced(row, **AT_REST | error, phase=Phase.ERROR, acted_at=acted_at, request=None)


def died(row: Workspace, plan: Died) -> Workspace:
    return replaced(row, recent_deaths=plan.deaths, next_attempt_at=plan.at, phase=Phase.STANDBY)


def answered(row: Workspace, plan: Answer) -> Workspace:
    homes = {"home_volume": plan.home_volume, "archive_key": plan.archive_key}
    return replaced(row, **NO_ERROR | homes, recent_deaths=(), request=None if plan.done else row.request)


def thinned_out(row: Workspace, now: datetime) -> Workspace:
    return replaced(row, acted_at=now)


def dismissed(row: Workspace, plan: Dismiss) -> Workspace:
    assert row.request == plan.request
    return replaced(row, request=None)
