"""The long way of a request, where it is not known at once where it belongs, or no connection waits there."""

from typing import TYPE_CHECKING

import structlog

from codehub.proxy.connection import Connection, connect
from codehub.proxy.doorkeeper import Decision, Forward, Reply, ToApi
from codehub.proxy.refusals import Refusal

if TYPE_CHECKING:
    from codehub.proxy.exchange import Exchange
    from codehub.proxy.front_door import FrontDoor

log = structlog.get_logger(__name__)

Found = tuple[Forward | ToApi, Connection] | Reply | Refusal


async def find(door: "FrontDoor", exchange: "Exchange", decision: Forward | ToApi | None) -> Found:
    """Where it belongs, and a connection there; if nobody answers there, it is asked for once more."""
    try:
        found: Decision = decision or await door.doorkeeper.find_out(exchange.asked)
        if isinstance(found, Reply):
            return found
        try:
            return found, await _connection(door, exchange, found, door.limits.connect_trial_seconds)
        except OSError:
            door.doorkeeper.nobody_answers(found.upstream)
        found = await door.doorkeeper.find_out(exchange.asked)
        if isinstance(found, Reply):
            return found
        try:
            return found, await _connection(door, exchange, found, door.limits.connect_seconds)
        except OSError:
            door.doorkeeper.nobody_answers(found.upstream)
            return Refusal.UNREACHABLE
    except Exception:  # a bulkhead: whatever goes wrong for one visitor is said, and concerns no other
        log.exception("a visit failed")
        return Refusal.UNKNOWN


async def _connection(door: "FrontDoor", exchange: "Exchange", found: Forward | ToApi, seconds: float) -> Connection:
    kept = None if exchange.retried else door.pool.take(found.upstream)
    return kept or await connect(door, found.upstream, seconds)
