"""Rows, looks and circumstances drawn at random, for the properties that hold for all of them."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st

from codehub.decide.plan import Acting, Circumstances, ServiceState
from codehub.model.conditions import Condition, Conditions, Reason
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import Request, RequestKind, Workspace, archive_key
from tests.decide.builders import (
    CONTAINER_ID,
    HOME,
    KEY,
    LATE_ID,
    MADE,
    OLDER_KEY,
    OP_ID,
    POLICY,
    REQUEST_ID,
    WORKSPACE_ID,
    after,
    condition,
    workspace,
)
from tests.decide.starts import STEPS
from tests.decide.transitions import KEY_IS_STORED, own_key

T = TypeVar("T")

bounded = settings(max_examples=250, deadline=None, database=None)
"""Every run draws anew, and nothing is remembered from one to the next."""

WORKSPACE_IDS = (WORKSPACE_ID, UUID(int=21), UUID(int=22))
ARCHIVE_OP_IDS = (UUID(int=31), UUID(int=32))
KEYS = tuple(archive_key(owner, made) for owner in WORKSPACE_IDS for made in ARCHIVE_OP_IDS)
VOLUMES = (HOME, MADE, "older")

_VOLUME_REASONS = (Reason.VOLUME_PROVISIONED, Reason.VOLUME_NOT_FOUND)
_ARCHIVE_REASONS = (Reason.ARCHIVE_UPLOADED, Reason.ARCHIVE_MISSING, Reason.ARCHIVE_MISMATCH)
_CONTAINER_REASONS = (
    Reason.CONTAINER_NOT_FOUND,
    Reason.CONTAINER_NOT_FOUND,
    Reason.CONTAINER_RUNNING,
    Reason.CONTAINER_STARTING,
    Reason.PROBE_FAILING,
    Reason.CONTAINER_DISPLACED,
    Reason.CONTAINER_EXITED,
)
_SECONDS = (0, 1, 2, 3, -1, -2, -3, 61, -61, 601, -601, 1801, -1801, -(10**6))


class Dice:
    """Choices read off one random string: a draw of Hypothesis for every column would take ten times as long."""

    def __init__(self, rolls: bytes) -> None:
        self._rolls = iter(rolls)

    def pick(self, *options: T) -> T:
        return options[next(self._rolls) % len(options)]

    def time(self) -> datetime:
        return after(self.pick(*_SECONDS))

    def maybe_time(self) -> datetime | None:
        return self.pick(None, self.time())


@st.composite
def drawn(draw: st.DrawFn, build: Callable[[Dice], T], rolls: int) -> T:
    """What `build` makes of so many rolls at most."""
    return build(Dice(draw(st.binary(min_size=rolls, max_size=rolls))))


def _look(dice: Dice, reasons: tuple[Reason, ...], subject: str | None) -> Condition | None:
    at = dice.time()
    since = at - timedelta(seconds=dice.pick(0, 1, 2, 3))
    return dice.pick(*[condition(dice.pick(*reasons), subject, at=at, since=since)] * 7, None)


def _conditions(dice: Dice, volume: str | None, archive: str | None) -> Conditions:
    """Looks at the row's own volume and archive for the most part, and at others."""
    return Conditions(
        volume=_look(dice, _VOLUME_REASONS, dice.pick(volume, volume, volume, *VOLUMES)),
        archive=_look(dice, _ARCHIVE_REASONS, dice.pick(archive, archive, archive, KEY, OLDER_KEY)),
        container=_crowded(dice, _look(dice, _CONTAINER_REASONS, CONTAINER_ID)),
    )


def _crowded(dice: Dice, container: Condition | None) -> Condition | None:
    """Now and then with a second one beside it."""
    there = container is not None and container.reason is not Reason.CONTAINER_NOT_FOUND
    return replace(container, surplus=dice.pick((), (), (), (LATE_ID,))) if container and there else container


def _request(dice: Dice) -> Request:
    return Request(dice.pick(*RequestKind), REQUEST_ID, "owner", dice.pick(None, KEY, *KEYS))


def any_row(dice: Dice) -> Workspace:
    """Every column by itself, whatever the others say: also rows that nothing of ours would ever write."""
    home, made, key = dice.pick(None, *VOLUMES), dice.pick(None, *VOLUMES), dice.pick(None, KEY, OLDER_KEY)
    return workspace(
        desired_state=dice.pick(*Desired),
        deleted_at=dice.maybe_time(),
        request=dice.pick(None, None, None, _request(dice)),
        last_access_at=dice.maybe_time(),
        standby_after_seconds=dice.pick(None, 0, 1, 600),
        archive_after_seconds=dice.pick(None, 0, 1, 600),
        conditions=_conditions(dice, home or made, key),
        phase=dice.pick(*Phase),
        phase_changed_at=dice.maybe_time(),
        operation=dice.pick(*[Operation.NONE] * 6, *Operation),
        op_id=dice.pick(None, OP_ID),
        op_clock_at=dice.maybe_time(),
        op_step=dice.pick(None, *Step),
        op_attempt=dice.pick(0, 1, 2, 3),
        op_volume=made,
        acted_at=dice.maybe_time(),
        home_volume=home,
        archive_key=key,
        archive_op_id=dice.pick(None, *ARCHIVE_OP_IDS),
        restore_marker=dice.pick(None, KEY, OLDER_KEY),
        error_reason=dice.pick(*[None] * 8, *ErrorReason),
        error_count=dice.pick(0, 1, 2, 3, 4),
        next_attempt_at=dice.maybe_time(),
        recent_deaths=(after(-601), after(-599), after(-3), after(-2), after(-1))[: dice.pick(0, 1, 2, 3, 4, 5)],
    )


def written_row(dice: Dice) -> Workspace:
    """A row as our own writers leave it: the operation's step and volumes fit, and one in ERROR has no operation."""
    row = any_row(dice)
    deleted = row.operation is Operation.DELETING or row.desired_state is Desired.DELETED
    row = replace(
        row,
        deleted_at=(row.deleted_at or after(-60)) if deleted else None,
        desired_state=Desired.DELETED if deleted else row.desired_state,
    )
    if row.operation is Operation.NONE:
        return replace(row, op_step=None, op_volume=None if row.home_volume else row.op_volume)
    step = dice.pick(*STEPS[row.operation])
    home, made = _volumes(row, step)
    row = replace(row, archive_op_id=row.archive_op_id or ARCHIVE_OP_IDS[0])
    key = _key(row, step)
    return replace(
        row,
        op_step=step,
        op_id=OP_ID,
        op_clock_at=row.op_clock_at or after(0),
        home_volume=home,
        op_volume=made,
        archive_key=key,
        conditions=_conditions(dice, home or made, key),
        phase=Phase.STANDBY if row.phase is Phase.ERROR else row.phase,
        error_reason=row.error_reason and ErrorReason.ACTION_FAILED,
        error_count=row.error_count if deleted else min(row.error_count, POLICY.max_retries - 1),
    )


def _key(row: Workspace, step: Step) -> str | None:
    """The archive that goes with this step."""
    if step in KEY_IS_STORED:
        return own_key(row)
    if row.operation in (Operation.PROVISIONING, Operation.CREATE_EMPTY_ARCHIVE):
        return None
    return row.archive_key or KEY if row.operation is Operation.RESTORING else row.archive_key


def _volumes(row: Workspace, step: Step) -> tuple[str | None, str | None]:
    """The home and the operation's volume that go with this step."""
    if step in (Step.CREATE, Step.CREATED, Step.RESTORE, Step.RESTORED, Step.RELEASE, Step.RELEASED):
        return None, row.op_volume or MADE
    if row.operation is Operation.CREATE_EMPTY_ARCHIVE:
        return None, None
    if row.operation in (Operation.STOPPING, Operation.DELETING):
        return row.home_volume, None if row.home_volume else row.op_volume
    return row.home_volume or HOME, None


def _circumstances(dice: Dice) -> Circumstances:
    return Circumstances(
        now=dice.time(),
        policy=POLICY,
        services={service: ServiceState(dice.pick(True, True, True, False), dice.time()) for service in Service},
        image=dice.pick(*ImageState),
        acting=dice.pick(*Acting),
        spread=dice.pick(0.0, 0.5, 1.0),
    )


any_rows = drawn(any_row, 80)
rows = drawn(written_row, 110)
circumstances = drawn(_circumstances, 4 + 2 * len(Service))
