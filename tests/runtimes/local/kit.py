"""The local runtime's way into the contract suite."""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codehub.runtimes.protocols import Instance
from tests.contracts.runtime_kit import RuntimeKit
from tests.runtimes.local.place import TOOL, fetch, place


@asynccontextmanager
async def local_kit() -> AsyncIterator[RuntimeKit]:
    async with place() as here:

        async def kill(instance: Instance) -> None:
            os.kill(here.life(instance).others[0].pid, signal.SIGKILL)

        yield RuntimeKit(
            open=here.open,
            image=TOOL,
            port=0,
            exits_with=lambda _, code: {"EXIT_CODE": str(code)},
            kill=kill,
            open_away=here.open_away,
            fetch=fetch,
        )
