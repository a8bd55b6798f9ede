"""The coordinators of an installation on the memory runtime, in a process of their own whose memory can be told.

`python -m tests.soak.memory_house`, with DATABASE_URL and REDIS_URL, makes workspaces for everybody in the database and
wishes something else of one of them again and again, until it is killed."""

import asyncio
import itertools
import os
import random
import sys
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
WISH_SECONDS = 2
SOON_ASLEEP = IdlePolicy(standby_after_seconds=120, archive_after_seconds=600)
"""So that within minutes as many fall asleep and are archived as are woken."""
KEPT = {"events_seconds": 600, "gc_interval": 60}
"""The story of a workspace is kept for so short a time that it does not get longer within the hour."""
WISHES = (Desired.RUNNING, Desired.STANDBY, Desired.ARCHIVED)
READY = "ready"


async def live(workspaces: int) -> None:
    async with House.open(os.environ["DATABASE_URL"], os.environ["REDIS_URL"], PREFIX) as house:
        made = await _made(house, workspaces)
        house.idle_policy = SOON_ASLEEP
        house.replica(idle_interval=15, active_interval=1, **KEPT)
        print(READY, flush=True)  # noqa: T201 (whoever started it waits for that)
        while True:
            with suppress(OSError, TimeoutError, SQLAlchemyError):  # whoever is not heard wishes something else later
                await house.wish(random.choice(made), random.choice(WISHES))  # noqa: S311
            await asyncio.sleep(WISH_SECONDS)


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
