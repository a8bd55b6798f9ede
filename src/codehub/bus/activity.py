"""How a front door tells what it saw: from memory to Redis, where the TTL runner finds it.

All times in Redis are Redis's own. A front door sends how long ago something was, never when: machines whose clocks
disagree would otherwise put people at work to sleep."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub import clock
from codehub.bus.activity_keys import Keys
from codehub.model.activity import Kind

log = structlog.get_logger()

GATHER_SECONDS = 0.05
"""What is seen within this time after the first sign of life is told together with it."""
RETRY_SECONDS = 1.0
"""How soon after a failure it is tried again: until then nobody is put to sleep."""
SEND_SECONDS = 5.0

# The kind belongs to the newest sign of life: an older one, told late by another front door, changes neither. Whoever
# leaves while a successor of the same name is there takes only itself away.
TELL = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
for i = 4, #ARGV, 3 do
    if redis.call('ZADD', KEYS[1], 'GT', 'CH', now - ARGV[i + 1], ARGV[i]) == 1 then
        redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 2])
    end
end
if ARGV[3] == 'arriving' then
    redis.call('HSET', KEYS[4], ARGV[1], ARGV[2])
else
    redis.call('HSETNX', KEYS[4], ARGV[1], ARGV[2])
end
if ARGV[3] ~= 'leaving' then
    redis.call('ZADD', KEYS[3], now, ARGV[1])
elseif redis.call('HGET', KEYS[4], ARGV[1]) == ARGV[2] then
    redis.call('ZREM', KEYS[3], ARGV[1])
    redis.call('HDEL', KEYS[4], ARGV[1])
end
"""


@dataclass
class Activity:
    """One for each process of a front door. `name` stays the same when the process is replaced: a successor speaks for
    one that died, where a new name would leave a front door behind that is waited for. Both may be there for a while,
    the one before until its last visitor has gone."""

    redis: Redis
    keys: Keys
    name: str
    flush_seconds: float
    elapsed: Callable[[], float] = clock.elapsed
    _seen: dict[UUID, tuple[float, Kind]] = field(default_factory=dict)
    _told: set[UUID] = field(default_factory=set)
    """In this interval."""
    _told_before: set[UUID] = field(default_factory=set)
    """In the interval before."""
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _fails: bool = False
    _process: str = field(default_factory=lambda: uuid4().hex)
    _has_arrived: bool = False

    def record(self, workspace_id: UUID, kind: Kind) -> None:
        """Called for every sign of life, so it does next to nothing. The first one after a quiet interval is told at
        once: somebody has come back, maybe a moment before the workspace would go to sleep."""
        if not (workspace_id in self._seen or workspace_id in self._told or workspace_id in self._told_before):
            self._woken.set()
        self._seen[workspace_id] = (self.elapsed(), kind)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """For as long as the front door is open. What is left in the end is told, and that this one is waited for no
        longer."""
        telling = asyncio.create_task(self._keep_telling(), name="activity")
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait([telling])
            await self.flush(leaving=True)

    async def _keep_telling(self) -> None:
        while True:
            until = self.elapsed() + self.flush_seconds
            self._told_before, self._told = self._told, set()
            told = await self.flush()
            while (left := until - self.elapsed()) > 0:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(left if told else min(left, RETRY_SECONDS)):
                        await self._woken.wait()
                    await asyncio.sleep(GATHER_SECONDS)
                if self._woken.is_set() or not told:
                    told = await self.flush()

    async def flush(self, *, leaving: bool = False) -> bool:
        """Tell what was seen, and that this front door is there. What could not be told is kept: told twice it counts
        once. With nothing to tell it is said all the same: silence would mean that something may be missing."""
        going, self._seen = self._seen, {}
        self._woken.clear()
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self.redis.eval(TELL, 4, *self.keys.told, *self._words(going, leaving=leaving))
        except (RedisError, OSError) as error:
            self._keep(going)
            self._note(fails=True, error=repr(error))
            return False
        except BaseException:
            self._keep(going)
            raise
        self._told |= going.keys()
        self._has_arrived = True
        self._note(fails=False)
        return True

    def _words(self, going: dict[UUID, tuple[float, Kind]], *, leaving: bool) -> list[str]:
        now = self.elapsed()
        words = [self.name, self._process, "leaving" if leaving else "staying" if self._has_arrived else "arriving"]
        for workspace_id, (at, kind) in going.items():
            words += (str(workspace_id), f"{now - at:.6f}", kind)
        return words

    def _keep(self, going: dict[UUID, tuple[float, Kind]]) -> None:
        self._seen = going | self._seen

    def _note(self, *, fails: bool, error: str = "") -> None:
        if fails and not self._fails:
            log.warning("redis away: activity is kept here until it is back", error=error)
        if self._fails and not fails:
            log.info("redis back: activity is told again")
        self._fails = fails
