"""The coordinators of an installation on the memory runtime, in a process of their own whose memory can be told.

`python -m tests.soak.memory_house`, with DATABASE_URL and REDIS_URL, makes workspaces for everybody in the database and
wakes them, until it is killed."""

import asyncio
import itertools
import os
import random
import sys
from collections import deque
from contextlib import suppress
from uuid import UUID, uuid4

import uvloop
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from codehub.decide.idle import IdlePolicy
from codehub.model.states import Desired
from codehub.store.wishes import Because, NewWorkspace, create_workspace
from codehub.telemetry import logs
from tests.coordinators.house import House

PREFIX = "soak"
WAKE_SECONDS = 3
AWAKE = 100
"""More are not awake at a time: without a front door nobody sees who is idle, and nobody falls asleep by themselves."""
SOON_ARCHIVED = IdlePolicy(standby_after_seconds=3600, archive_after_seconds=300)
"""So that within minutes as many are archived as are woken."""
KEPT = {"events_seconds": 600, "gc_interval": 60}
"""The story of a workspace is kept for so short a time that it does not get longer within the hour."""
READY = "ready"


async def live(workspaces: int) -> None:
    async with House.open(os.environ["DATABASE_URL"], os.environ["REDIS_URL"], PREFIX) as house:
        made = await _made(house, workspaces)
        house.idle_policy = SOON_ARCHIVED
        house.replica(idle_interval=15, active_interval=1, **KEPT)
        print(READY, flush=True)  # noqa: T201 (whoever started it waits for that)
        awake: deque[UUID] = deque()
        while True:
            awake.append(random.choice(made))  # noqa: S311
            await _wish(house, awake[-1], Desired.RUNNING)
            if len(awake) > AWAKE:
                await _wish(house, awake.popleft(), Desired.STANDBY)
            await asyncio.sleep(WAKE_SECONDS)


async def _wish(house: House, workspace_id: UUID, desired: Desired) -> None:
    """Whoever is not heard, on a machine that is loaded, gives up."""
    with suppress(OSError, TimeoutError, SQLAlchemyError):
        await house.wish(workspace_id, desired)


async def _made(house: House, workspaces: int) -> list[UUID]:
    """For everybody in turn; archived, so that they begin without a rush of jobs."""
    made = [uuid4() for _ in range(workspaces)]
    async with house.pool.begin() as connection:
        everybody = (await connection.execute(text("SELECT id FROM users"))).scalars().all()
        for workspace_id, owner in zip(made, itertools.cycle(everybody), strict=False):
            new = NewWorkspace(workspace_id, owner, workspace_id.hex, house.template)
            await create_workspace(connection, new, Desired.ARCHIVED, Because("owner", "ann"))
    return made


if __name__ == "__main__":
    logs.configure("error", "console")
    uvloop.run(live(int(sys.argv[1])))
