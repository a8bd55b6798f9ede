"""A home that goes to sleep and comes back, struck once in each step."""

from collections.abc import Awaitable, Callable, Collection
from uuid import UUID

from codehub.model.states import Desired, Operation, Phase, Step
from tests.coordinators.test_kills import steps_of
from tests.faults.sleepers import Sleepers
from tests.job.campaign import LARGE

WISHES = {Operation.ARCHIVING: Desired.ARCHIVED, Operation.RESTORING: Desired.STANDBY}


async def there_and_back(place: Sleepers, strike: Callable[[], Awaitable[bool]], some: Collection[Step]) -> None:
    """Every file is there as it was in the end, and no person was needed. The strike is in some steps; the campaign
    strikes in all of them."""
    workspace_id, before = await place.furnished()
    for operation, wish in WISHES.items():
        struck = [step for step in steps_of(operation) if LARGE or step in some]
        traps = place.lay_in_each(workspace_id, struck, strike)
        await place.carried_out(workspace_id, wish)
        assert all(trap.struck.is_set() for trap in traps.values()), "nobody came this way"
    assert await place.tree(workspace_id) == before
    assert len(await place.volumes(workspace_id)) == 1
    await was_never_in_error(place, workspace_id)


async def was_never_in_error(place: Sleepers, workspace_id: UUID) -> None:
    phases = [after for kind, _, after, _ in await place.house.events(workspace_id) if kind == "phase"]
    assert Phase.ERROR not in phases
