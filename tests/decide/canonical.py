"""The same state under the same names and at the same moment, however it was reached: this makes the walk finite."""

from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TypeVar

from codehub.decide.judge import judge
from codehub.decide.view import CONFIRM_LOSS_AFTER
from codehub.model.conditions import Condition, Conditions, Reason
from codehub.model.sightings import ArchiveState
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace
from tests.decide.builders import ARCHIVE_OP_ID, CONTAINER_ID, HOME, KEY, LATE_ID, MADE, OP_ID, POLICY, T0, after
from tests.decide.replaced import replaced
from tests.decide.transitions import MAKES_AN_ARCHIVE, own_key
from tests.decide.world import Container, World

OLDER = "older"
FORMER_KEY = "former"
LOOKED, STALE, ACTED, SOON = after(-10), after(-30), after(-20), after(60)
CAN_BE_A_LOSS = (Reason.VOLUME_NOT_FOUND, Reason.ARCHIVE_MISSING, Reason.ARCHIVE_MISMATCH)

State = tuple[Workspace, World]
Names = dict[str | None, str]
T = TypeVar("T")


def canonical(row: Workspace, world: World, *, judged: bool = False) -> State:
    """`judged` where the store also writes the phase anew."""
    names, keys = _names(row)
    volumes = {names[name]: content for name, content in world.volumes if name in names}
    archives = {
        keys[key]: archive
        for key, archive in world.archives
        if key in keys and archive.state is not ArchiveState.MISSING
    }
    known = [Container(each.state, names.get(each.volume) or OLDER) for _, each in world.containers]
    one, late = (*known, None, None)[:2]
    there = World(one, late, _sorted(volumes), _sorted(archives), world.had_home)
    under_way = row.operation is not Operation.NONE
    now = replaced(
        row,
        conditions=canonical_conditions(row),
        phase=judge(row, POLICY.max_retries) if judged else row.phase,
        acted_at=row.acted_at and ACTED,
        op_started_at=None,
        op_id=OP_ID if under_way else None,
        op_attempt=1 if under_way else 0,
        op_clock_at=T0 if under_way else None,
        next_attempt_at=SOON if row.next_attempt_at and row.next_attempt_at > T0 else None,
        recent_deaths=(STALE,) * len(row.recent_deaths) if row.phase is not Phase.ERROR else (),
        error_count=_canonical_count(row),
        error_reason=row.error_reason if row.deleted_at is None else None,
        home_volume=row.home_volume and HOME,
        op_volume=row.op_volume and MADE,
        archive_key=row.archive_key and keys[row.archive_key],
        archive_op_id=ARCHIVE_OP_ID if KEY in keys.values() else None,
        restore_marker=None,
    )
    return now, there


def _canonical_count(row: Workspace) -> int:
    """A deletion is retried without end, and in ERROR nothing is counted."""
    if row.deleted_at is not None:
        return 0
    return POLICY.max_retries if row.phase is Phase.ERROR else row.error_count


def _sorted(pairs: dict[str, T]) -> tuple[tuple[str, T], ...]:
    return tuple(sorted(pairs.items()))


def _names(row: Workspace) -> tuple[Names, Names]:
    """The canonical names of volumes and archives; what has none is an older one."""
    keys: Names = {row.archive_key: FORMER_KEY}
    if row.operation in MAKES_AN_ARCHIVE:
        keys[own_key(row)] = KEY
    return {row.home_volume: HOME, row.op_volume: MADE}, keys


_CONTAINERS: Names = {CONTAINER_ID: CONTAINER_ID, LATE_ID: LATE_ID}


def canonical_conditions(row: Workspace) -> Conditions:
    names, keys = _names(row)
    return Conditions(
        volume=_canonical(row.conditions.volume, row.acted_at, names),
        archive=_canonical(row.conditions.archive, row.acted_at, keys),
        container=_canonical(row.conditions.container, row.acted_at, _CONTAINERS),
        healthy=_canonical(row.conditions.healthy, None, {}),
    )


def _canonical(condition: Condition | None, acted_at: datetime | None, names: Names) -> Condition | None:
    """Seen since the last act ended, or before; missing for long enough to be lost, or not."""
    if condition is None:
        return None
    at = LOOKED if acted_at is None or condition.observed_from >= acted_at else STALE
    lasting = (
        condition.reason in CAN_BE_A_LOSS
        and condition.observed_from - condition.last_transition_time >= CONFIRM_LOSS_AFTER
    )
    return _at(condition, at, condition.subject and names.get(condition.subject, OLDER), lasting=lasting)


@cache  # there are few, and each is met a thousand times
def _at(condition: Condition, at: datetime, subject: str | None, *, lasting: bool) -> Condition:
    since = at - CONFIRM_LOSS_AFTER if lasting else at
    return replace(condition, last_transition_time=since, subject=subject, observed_from=at)
