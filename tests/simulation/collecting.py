"""The collector in the simulation: the real one, with twins of what it writes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from codehub.coordinators.gc_runner import Book, GcRunner
from codehub.decide.orphans import CollectPolicy
from codehub.store.gc_rounds import Begun, RoundTold
from codehub.store.protocols import Seat
from codehub.telemetry.metrics import fresh
from tests.simulation.memory_seat import MemorySeat
from tests.simulation.memory_store import MemoryCollector
from tests.simulation.replica import INSTALLATION, Replica

POLICY = CollectPolicy(grace=timedelta(seconds=3), max_share=1.0, generations=1, undelete_window=timedelta(seconds=6))
INTERVAL = timedelta(seconds=2)
LOOK_SECONDS = 0.9
METRICS = fresh()


@dataclass
class MemoryRounds:
    """The twin of the collector's rounds; nobody asks for one, and each may take what it finds."""

    seat: MemorySeat
    begun: list[datetime] = field(default_factory=list)

    async def begin(self) -> Begun | None:
        async with self.seat.transaction() as database:
            now = database.clock()
            if self.begun and now - self.begun[-1] < INTERVAL:
                return None
            self.begun.append(now)
            return Begun(UUID(int=len(self.begun)), 0)

    async def halted(self) -> str | None:
        return None

    async def end(self, _round_id: UUID, _told: RoundTold) -> None:
        async with self.seat.transaction():
            """Nobody reads it."""

    async def failed(self, _round_id: UUID, _why: str) -> None:
        """It is begun again after a while."""
        async with self.seat.transaction():
            self.begun.clear()


def collector(replica: Replica) -> GcRunner:
    place = replica.place

    def open_book(seat: Seat) -> Book:
        assert isinstance(seat, MemorySeat)
        return Book(MemoryCollector(seat), MemoryRounds(seat), _nothing_old, _no_rows)

    return GcRunner(
        runtime=replica.runtime(),
        fence=replica.fence,
        store=place.store,
        installation=INSTALLATION,
        watch=replica.backups(),
        policy=POLICY,
        open_book=open_book,
        elapsed=place.loop.time,
        metrics=METRICS,
        look_seconds=LOOK_SECONDS,
        pause_seconds=2 * LOOK_SECONDS,
    )


async def _nothing_old() -> dict[str, int]:
    return {}


async def _no_rows(_: object) -> int:
    return 0
