"""What the TTL runner reads of the activity that front doors have told, and how it takes it away again."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from redis.asyncio import Redis

from codehub.bus.activity_keys import Keys
from codehub.model.activity import Doors, Kind, Sign

LOOK_SECONDS = 5.0
FORGET_DOOR_SECONDS = 3600
"""A front door that has been silent for this long is gone for good, and waited for no longer. One that left in order is
not waited for at all, and one that died is spoken for by its successor of the same name."""

_KINDS: Mapping[str, Kind] = {kind.value: kind for kind in Kind}

# A server that started anew may have come back with less than it had: it is watched from now on, not from before. So it
# is where the database's clock, by which idle times run, or this one was set since the last look.
LOOK = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[2])
local doors = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
local watch = redis.call('HMGET', KEYS[5], 'since', 'server', 'ahead')
local since = watch[1]
local ahead = ARGV[3] - now
if #doors == 0 then
    redis.call('DEL', KEYS[5])
elseif not since or watch[2] ~= ARGV[1] or math.abs(ahead - (watch[3] or ahead)) > tonumber(ARGV[4]) then
    since = string.format('%.6f', now)
    redis.call('HSET', KEYS[5], 'since', since, 'server', ARGV[1])
end
if #doors > 0 then
    redis.call('HSET', KEYS[5], 'ahead', string.format('%.6f', ahead))
end
local signs = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local kinds = {}
for i = 1, #signs, 2 do
    kinds[#kinds + 1] = redis.call('HGET', KEYS[2], signs[i])
end
return {string.format('%.6f', now), since, doors, signs, kinds}
"""

# What was told meanwhile has another score, and stays for the next look.
FORGET = """
for i = 1, #ARGV, 2 do
    if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
        redis.call('ZREM', KEYS[1], ARGV[i])
        redis.call('HDEL', KEYS[2], ARGV[i])
    end
end
"""


@dataclass(frozen=True, slots=True)
class Sight:
    signs: Sequence[Sign]
    doors: Doors | None
    """None: there is no front door, and nobody would see anybody."""


class ActivityWatch:
    """Raises what Redis raises, or TimeoutError: whoever cannot look must not take anybody for idle."""

    def __init__(self, redis: Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def look(self, database_now: datetime) -> Sight:
        async with asyncio.timeout(LOOK_SECONDS):
            server = (await self._redis.info("server"))["run_id"]
            keys = (*self._keys.told, self._keys.watch)
            now, since, doors, signs, kinds = await self._redis.eval(
                LOOK,
                len(keys),
                *keys,
                server,
                str(FORGET_DOOR_SECONDS),
                f"{database_now.timestamp():.6f}",
                str(LOOK_SECONDS),  # no look takes longer: what differs by more was set
            )
        moment = float(now)
        return Sight(
            signs=[_sign(*each, moment) for each in zip(signs[::2], signs[1::2], kinds, strict=True)],
            doors=_doors(dict(zip(doors[::2], doors[1::2], strict=True)), moment, float(since)) if doors else None,
        )

    async def forget(self, signs: Sequence[Sign]) -> None:
        """Of these, what is still the newest. Only after it was stored."""
        if not signs:
            return
        told = [word for sign in signs for word in (str(sign.workspace_id), sign.score)]
        async with asyncio.timeout(LOOK_SECONDS):
            await self._redis.eval(FORGET, 2, *self._keys.told[:2], *told)


def _sign(member: bytes, score: bytes, kind: bytes | None, moment: float) -> Sign:
    known = _KINDS.get(kind.decode()) if kind is not None else None
    return Sign(UUID(member.decode()), max(0.0, moment - float(score)), known, score)


def _doors(spoke: Mapping[bytes, bytes], moment: float, since: float) -> Doors:
    name, at = min(spoke.items(), key=lambda each: float(each[1]))
    return Doors(max(0.0, moment - since), max(0.0, moment - float(at)), name.decode())
