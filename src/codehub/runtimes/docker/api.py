"""The edge to the engine: one client, its errors told in our words, and a fence before every change."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import aiodocker
import aiohttp
from aiodocker.exceptions import DockerError

from codehub.runtimes.errors import InUse, NotFound, RuntimeAway, RuntimeFault

NO_CONNECTION = 900
"""What the client library gives as a status where there was no answer at all."""
CONNECT_SECONDS = 5.0
LOOK_SECONDS = 30.0
"""An engine that takes longer than this to say what it has is as good as away."""
ACT_SECONDS = 120.0
"""To act it may take longer: a large home is deleted file by file while the call waits. A pull has no end set."""
LIMITS = aiohttp.ClientTimeout(total=ACT_SECONDS, sock_connect=CONNECT_SECONDS)
ENDLESS = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
READS = ("GET", "HEAD")
GOING_DOWN = ("shutting down", "database not open", "context canceled", "transport is closing")
"""What an engine says while it stops: its containers and its list of volumes are gone before its last answer."""


class DockerApi:
    """The client, and what all its users share. Has to be made where an event loop runs."""

    def __init__(self, host: str, fence: Callable[[], None]) -> None:
        self.host = host
        self.fence = fence
        self.client = aiodocker.Docker(url=host, timeout=LIMITS)
        self.client.session.trace_configs.append(self._fenced())

    def _fenced(self) -> aiohttp.TraceConfig:
        """Look at the fence when a connection is at hand and the request is about to be written, not when the call is
        made: the wait for a connection in between may outlast a lease (contract 11)."""

        async def check(
            _session: aiohttp.ClientSession, _context: SimpleNamespace, request: aiohttp.TraceRequestHeadersSentParams
        ) -> None:
            if request.method not in READS:
                self.fence()

        trace = aiohttp.TraceConfig()
        trace.on_request_headers_sent.append(check)
        trace.freeze()
        return trace

    async def containers(self, filters: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        """The engine's listing as it is, with those that do not run."""
        async with translated(LOOK_SECONDS):
            listed = await self.client.containers.list(all=True, filters=json.dumps(filters))
        return [each._container for each in listed]  # noqa: SLF001 - the library hands out one key at a time

    async def read(self, path: str, params: Mapping[str, str] | None = None) -> dict[str, Any]:
        """What the client library has no method for, or none with the parameters that are needed."""
        async with translated(LOOK_SECONDS):
            answer: dict[str, Any] = await self.client._query_json(path, params=params)  # noqa: SLF001
        return answer

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str]) -> AsyncIterator[aiohttp.StreamReader]:
        """Lasts as long as the engine has something to say."""
        async with translated(), self.client._query(path, params=params, timeout=ENDLESS) as response:  # noqa: SLF001
            yield response.content

    async def close(self) -> None:
        await self.client.close()


@asynccontextmanager
async def translated(seconds: float | None = None) -> AsyncIterator[None]:
    """Around calls of the engine: its errors come out as ours, and so does a wait that is too long. Cancellation passes
    through, and what the fence raises."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except DockerError as error:
        raise fault_of(error) from error
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise RuntimeAway(f"the Docker engine does not answer: {str(error) or type(error).__name__}") from error
    except ValueError as error:
        raise RuntimeFault(f"the Docker engine gave an answer that cannot be read: {error}") from error


def fault_of(error: DockerError) -> RuntimeFault:
    """By status; only for an engine that is on its way down there is nothing but the sentence."""
    if error.status in (NO_CONNECTION, 502, 503, 504) or any(each in error.message for each in GOING_DOWN):
        return RuntimeAway(f"the Docker engine does not answer: {error.message}")
    if error.status == 404:
        return NotFound(error.message)
    if error.status == 409:
        return InUse(error.message)
    return RuntimeFault(error.message)
