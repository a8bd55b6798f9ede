"""`kill -9` of the leading process at each act of a workspace's life, on the real engine: another one finishes it, and
nothing is there twice."""

from contextlib import AsyncExitStack

import pytest

from codehub.model.states import Desired, Operation, Phase
from tests.faults.ambush import Trap, line
from tests.faults.real_house import DockerHouse
from tests.faults.serving import Replicas, replicas
from tests.folders import short_folder

LIFE = [
    (Desired.STANDBY, "POST volumes/create"),
    (Desired.RUNNING, "POST containers/create"),
    (Desired.STANDBY, "POST containers/[0-9a-f]+/stop"),
    (Desired.RUNNING, "POST containers/[0-9a-f]+/start"),
    (Desired.STANDBY, "DELETE containers/[0-9a-f]+"),
    (Desired.DELETED, "DELETE volumes/ws-"),
]
"""Wish after wish, and the request to the engine that its leader does not survive."""

BEGUN = [
    Operation.PROVISIONING,
    Operation.STARTING,
    Operation.STOPPING,
    Operation.STARTING,
    Operation.STOPPING,
    Operation.DELETING,
]


async def join(codehub: Replicas, trap: Trap, stack: AsyncExitStack) -> None:
    """One more replica, with a line of its own."""
    path = codehub.folder / f"engine-{len(codehub.served)}.sock"
    opened = await stack.enter_async_context(line(trap, path))
    served = codehub.start(RUNTIME_DOCKER_HOST=f"unix://{path}")
    opened.kill = served.kill


@pytest.mark.parametrize("after_effect", [False, True], ids=["before its effect", "after its effect"])
async def test_a_leader_that_is_killed_in_an_act_is_followed_by_one_that_finishes_it(
    house: DockerHouse, redis_url: str, *, after_effect: bool
) -> None:
    trap = Trap()
    await house.eyes.engine()  # its mark is made, so that the next volume is the home
    workspace_id = await house.create(LIFE[0][0])
    async with AsyncExitStack() as stack:
        codehub = stack.enter_context(replicas(house, redis_url, stack.enter_context(short_folder())))
        for wish, request in LIFE:
            trap.lay(request, after_effect=after_effect)
            await house.wish(workspace_id, wish)
            while len(codehub.alive()) < 2:
                await join(codehub, trap, stack)
            await house.until_phase(workspace_id, Phase(wish.value))
            assert trap.has_struck, f"nobody came to {request}"
            assert len(await house.eyes.instances.list()) == (1 if wish is Desired.RUNNING else 0)
            assert len(await house.eyes.volumes.list()) == (0 if wish is Desired.DELETED else 1)
        assert len(codehub.served) - len(codehub.alive()) == len(LIFE)
        events = await house.events(workspace_id)
        assert [after for kind, _, after, _ in events if kind == "operation" and after in set(BEGUN)] == BEGUN
        assert not [event for event in events if event[2] == "ERROR"]
