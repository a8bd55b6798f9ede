"""The shared services as the controller knows them: there, or away for everyone."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from codehub.decide.breaker import Breaker, BreakerPolicy, answered, trying, unanswered
from codehub.decide.plan import ServiceState
from codehub.model.states import Service

log = structlog.get_logger()

PING_SECONDS = 5.0
LOOK_SECONDS = 0.5
POLICY = BreakerPolicy(failures_to_open=1)
"""One failed ping opens it: a ping asks for nothing but an answer, so its failure is the service's own."""


@dataclass
class Services:
    """One breaker for each. A call that found nobody there asks for a ping; only the ping decides whether the service
    is away (one fault, and all workspaces wait in their phase) or this one workspace has trouble of its own."""

    pings: dict[Service, Callable[[], Awaitable[object]]]
    now: Callable[[], datetime]
    changed: Callable[[], None]
    _breakers: dict[Service, Breaker] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._breakers = {service: Breaker(since=self.now()) for service in Service}

    def states(self) -> dict[Service, ServiceState]:
        return {service: ServiceState(not each.is_open, each.since) for service, each in self._breakers.items()}

    async def is_away(self, service: Service) -> bool:
        """Ask the service itself, now. While it is known to be away, only once in each pause, whoever asks."""
        ping, before = self.pings.get(service), self._breakers[service]
        if ping is None:
            return False
        if not before.allows(self.now(), POLICY):
            return True
        self._breakers[service] = trying(before, self.now())
        try:
            async with asyncio.timeout(PING_SECONDS):
                await ping()
        except Exception as error:  # noqa: BLE001 (whatever a service answers a ping with, it is not there)
            after = unanswered(before, self.now(), POLICY)
            if not before.is_open:
                log.warning("service away: what needs it waits", service=service, error=repr(error))
        else:
            after = answered(before, self.now())
            if before.is_open:
                log.info("service back", service=service)
        self._breakers[service] = after
        if before.is_open is not after.is_open:
            self.changed()
        return after.is_open

    async def watch(self) -> None:
        """Try again, with growing pauses, what is away."""
        while True:
            for service, breaker in list(self._breakers.items()):
                if breaker.is_open:
                    await self.is_away(service)
            await asyncio.sleep(LOOK_SECONDS)
