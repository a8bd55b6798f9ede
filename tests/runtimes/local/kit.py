"""The local runtime's way into the contract suite."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from codehub.runtimes.local.process import descendants
from codehub.runtimes.local.records import Life
from codehub.runtimes.protocols import Instance
from tests.contracts.job_kit import SECONDS
from tests.contracts.runtime_kit import RuntimeKit
from tests.runtimes.local.place import TOOL, Place, fetch, place

PROGRAM = 3


async def program_of(here: Place, job: str) -> int:
    """The job program's own process: behind the two namespaces' first ones."""
    async with asyncio.timeout(SECONDS):
        while len(found := _processes(here.data / "local/jobs" / job)) < PROGRAM:
            await asyncio.sleep(0.02)
    return found[PROGRAM - 1]


def _processes(job: Path) -> list[int]:
    life = Life.look(job)
    return descendants(life.others[0].pid) if life and life.others else []


@asynccontextmanager
async def local_kit() -> AsyncIterator[RuntimeKit]:
    async with place() as here:

        async def kill(instance: Instance) -> None:
            os.kill(here.life(instance).others[0].pid, signal.SIGKILL)

        async def folder(name: str) -> Path:
            return here.data / "local/volumes" / name / "home"

        yield RuntimeKit(
            open=here.open,
            image=TOOL,
            port=0,
            exits_with=lambda _, code: {"EXIT_CODE": str(code)},
            kill=kill,
            open_away=here.open_away,
            fetch=fetch,
            folder=folder,
            job_process=lambda name: program_of(here, name),
        )
