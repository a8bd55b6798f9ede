"""How much one process does at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from codehub.model.states import Step


class Slots:
    """However many controllers it runs. Pulls and jobs have their own: neither a slow registry nor long archives may
    keep others from starting. Nor may archives keep homes from coming back: people wait for those, so that the last
    place for a job is theirs."""

    def __init__(self, operations: int, jobs: int, pulls: int = 4) -> None:
        self.operations = asyncio.Semaphore(operations)
        pulling, any_job = asyncio.Semaphore(pulls), asyncio.Semaphore(jobs)
        archiving = asyncio.Semaphore(max(1, jobs - 1))
        self._needed = {
            Step.PULL: (pulling,),
            Step.ARCHIVE: (archiving, any_job),
            Step.VERIFY: (archiving, any_job),
            Step.RESTORE: (any_job,),
        }

    @asynccontextmanager
    async def turn(self, step: Step) -> AsyncIterator[None]:
        """Wait for it, and have it."""
        async with AsyncExitStack() as taken:
            for each in self._needed.get(step, (self.operations,)):
                await taken.enter_async_context(each)
            yield
