"""The runtime, for looking only: logs and what a workspace uses. Opened when somebody first asks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codehub.coordinators.runtime import open_runtime
from codehub.errors import ServiceError
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import NotFound, RuntimeFault
from codehub.runtimes.protocols import Runtime
from codehub.settings import Settings
from codehub.store.identity import installation_id
from codehub.web.api.workspace_problems import NotRunning, RuntimeUnavailable


class NotForActing(RuntimeError):
    """The API changes rows and never containers: those are the leader's alone (contract 11)."""


class RuntimeAccess:
    def __init__(self, settings: Settings, database_url: str) -> None:
        self._settings = settings
        self._database_url = database_url
        self._opening = asyncio.Lock()
        self._runtime: Runtime | None = None

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[Runtime]:
        """Its faults become problems: away, or not there."""
        try:
            yield await self._opened()
        except NotFound as error:
            raise NotRunning from error
        except (RuntimeFault, ServiceError) as error:
            raise RuntimeUnavailable from error

    async def _opened(self) -> Runtime:
        async with self._opening:
            if self._runtime is not None:
                return self._runtime
            installation = await installation_id(self._database_url)
            runtime = await open_runtime(self._settings, installation, _refuse)
            # With `auto`, no engine may only mean that it is away for a moment: look again the next time.
            if isinstance(runtime, DockerRuntime) or self._settings.runtime.kind == "local":
                self._runtime = runtime
            return runtime

    async def close(self) -> None:
        if self._runtime is not None:
            await self._runtime.close()


def _refuse() -> None:
    raise NotForActing
