"""A home that goes to sleep and comes back, struck once in each step."""

from collections.abc import Awaitable, Callable
from uuid import UUID

from codehub.model.states import Desired, Operation, Phase, Step
from tests.coordinators.test_kills import steps_of
from tests.faults.sleepers import Sleepers
from tests.job.campaign import LARGE

WISHES = {Operation.ARCHIVING: Desired.ARCHIVED, Operation.RESTORING: Desired.STANDBY}
STRUCK = {Step.ARCHIVE, Step.VERIFY, Step.RELEASE, Step.RESTORE}
"""The steps in which store and engine are killed; the campaign does so in all of them."""


def struck_in(operation: Operation) -> list[Step]:
    return [step for step in steps_of(operation) if LARGE or step in STRUCK]


async def there_and_back(place: Sleepers, strike: Callable[[], Awaitable[bool]]) -> None:
    """Every file is there as it was in the end, and no person was needed."""
    workspace_id, before = await place.furnished()
    for operation, wish in WISHES.items():
        traps = place.lay_in_each(workspace_id, struck_in(operation), strike)
        await place.carried_out(workspace_id, wish)
        assert all(trap.struck.is_set() for trap in traps.values()), "nobody came this way"
    assert await place.tree(workspace_id) == before
    assert len(await place.volumes(workspace_id)) == 1
    await was_never_in_error(place, workspace_id)


async def was_never_in_error(place: Sleepers, workspace_id: UUID) -> None:
    phases = [after for kind, _, after, _ in await place.house.events(workspace_id) if kind == "phase"]
    assert Phase.ERROR not in phases
