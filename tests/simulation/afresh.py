"""Whatever a workspace has been through: at rest it is as one that was made anew and only given its last wish."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from uuid import UUID

from codehub.model.conditions import Condition
from codehub.model.states import Desired, Phase
from codehub.model.workspace import Workspace
from codehub.runtimes.protocols import JobState
from tests.simulation.replica import Place
from tests.simulation.world import World

WORKSPACE = UUID(int=0x100)

MAY_DIFFER = {
    "id": "whose it is and what it is called is its own",
    "owner_user_id": "as its id",
    "name": "as its id",
    "template_id": "as its id",
    "standby_after_seconds": "its owner's choice",
    "archive_after_seconds": "its owner's choice",
    "git_url": "its owner's choice",
    "resources": "its owner's choice",
    "created_at": "a moment",
    "last_access_at": "a moment",
    "observed_at": "a moment",
    "phase_changed_at": "a moment",
    "op_started_at": "a moment",
    "acted_at": "a moment",
    "judged_at": "a moment; that it has been judged is asked of everyone at rest",
    "op_id": "names the last operation, so that its token and its names are never given again",
    "archive_op_id": "names the last attempt to make an archive, which may be long ago",
    "op_volume": "names what an operation that was given back had made, until another has begun or it is collected",
    "restore_marker": "of which archive the home was made; a fresh one was made of none",
    "sent": "what the last attempt to make an archive amounted to",
    "recent_deaths": "deaths are remembered, or a crash loop would never be seen",
}
"""What a history leaves behind in a row, and why it may."""

SHAPE: dict[str, Callable[[Workspace, Place], object]] = {
    "desired_state": lambda row, _: row.desired_state,
    "deleted_at": lambda row, _: row.deleted_at is not None,
    "request": lambda row, _: row.request,
    "phase": lambda row, _: row.phase,
    "operation": lambda row, _: row.operation,
    "op_step": lambda row, _: row.op_step,
    "op_attempt": lambda row, _: row.op_attempt,
    "op_clock_at": lambda row, _: row.op_clock_at,
    "home_volume": lambda row, place: row.home_volume in place.engine.homes,
    "archive_key": lambda row, place: row.phase is Phase.ARCHIVED and place.store.whole(row.archive_key) is not None,
    "error_reason": lambda row, _: row.error_reason,
    "error_count": lambda row, _: row.error_count,
    "next_attempt_at": lambda row, _: row.next_attempt_at,
    "conditions": lambda row, _: (
        _said(row.conditions.container),
        _said(row.conditions.healthy),
        row.home_volume is None or _said(row.conditions.volume),
        row.phase is not Phase.ARCHIVED or _said(row.conditions.archive),
    ),
    "containers": lambda row, place: sorted(
        each.seen.state.value for each in place.engine.containers.values() if each.spec.workspace_id == row.id
    ),
    "jobs": lambda row, place: sum(
        each.seen.state is JobState.RUNNING and each.seen.workspace_id == row.id
        for each in place.engine.disk.jobs.values()
    ),
}
"""What is the same: the row's columns, what was seen, and what is there. Of conditions those that say something in that
phase."""


def _said(condition: Condition | None) -> object:
    """Without the names and moments in it."""
    if condition is None:
        return None
    return (
        condition.status,
        condition.reason,
        condition.message,
        condition.subject is not None,
        condition.endpoint is not None,
        len(condition.surplus),
    )


def shape(row: Workspace, place: Place) -> dict[str, object]:
    return {name: look(row, place) for name, look in SHAPE.items()}


@cache
def made_anew(desired: Desired) -> dict[str, object]:
    world = World(None)
    world.run(lambda world: _wish_only(world, desired))
    assert world.failure is None, world.failure
    return shape(world.database.rows[WORKSPACE], world.place)


def _wish_only(world: World, desired: Desired) -> None:
    if desired is not Desired.DELETED:
        world.create(WORKSPACE, desired)
        return
    world.create(WORKSPACE, Desired.RUNNING)
    world.wish(WORKSPACE, Desired.DELETED)


def differences(world: World, expected: dict[Desired, dict[str, object]]) -> Iterator[str]:
    """Asked when everything else is as it should be. A look that was lied to is right with the next one."""
    for row in world.database.rows.values():
        for name, value in shape(row, world.place).items():
            anew = expected[row.desired_state][name]
            if value != anew:
                yield f"{row.phase} with {name} {value}, and one that was made anew has {anew}"


def unmentioned() -> set[str]:
    """Columns of which nothing is said."""
    return {each.name for each in fields(Workspace)} - MAY_DIFFER.keys() - SHAPE.keys()
