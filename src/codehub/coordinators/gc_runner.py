"""The GC runner collects what nothing points to any more, slowly and apart from everything else (contract 9)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

import structlog

from codehub.archives.object_store import ObjectStore
from codehub.coordinators.backup_watch import BackupWatch, DatabaseIsOld, HomesStay
from codehub.coordinators.gc_round import Taking, decide
from codehub.coordinators.leadership import Deposed, Fence, Leadership
from codehub.coordinators.observer import RUNTIME_LISTING
from codehub.coordinators.supervisor import Report
from codehub.coordinators.surroundings import look_around
from codehub.decide.orphans import CollectPolicy, Round
from codehub.runtimes.protocols import Runtime
from codehub.store.gc_rounds import Begun, RoundTold
from codehub.store.protocols import CollectorStore, Seat, SeatLost
from codehub.telemetry.metrics import Metrics

log = structlog.get_logger()

LOOK_SECONDS = 2.0
"""How often it is looked whether a round is due or asked for."""
PAUSE_SECONDS = 60.0
"""After a round that failed, and between two looks at the counter."""


class Rounds(Protocol):
    async def begin(self) -> Begun | None:
        """The next round, if one is asked for, was cut short, or is due by the interval."""

    async def halted(self) -> str | None:
        """Why the last round waits for an administrator, if it does."""

    async def end(self, round_id: UUID, told: RoundTold) -> None: ...

    async def failed(self, round_id: UUID, why: str) -> None:
        """It has not ended, and is begun again."""


@dataclass(frozen=True)
class Book:
    """What the leader reads and writes, over its own connection."""

    collector: CollectorStore
    rounds: Rounds
    prune: Callable[[], Awaitable[dict[str, int]]]
    """What is old, in every table; how many rows of each went."""
    prune_workspaces: Callable[[Collection[UUID]], Awaitable[int]]
    """Rows of workspaces that were deleted long ago, but for these."""


@dataclass
class _Term:
    leadership: Leadership
    report: Report
    book: Book
    next_look: float = float("-inf")
    next_round: float = float("-inf")


@dataclass
class GcRunner:
    runtime: Runtime
    fence: Fence
    store: ObjectStore
    installation: str
    watch: BackupWatch
    policy: CollectPolicy
    open_book: Callable[[Seat], Book]
    elapsed: Callable[[], float]
    metrics: Metrics
    look_seconds: float = LOOK_SECONDS
    pause_seconds: float = PAUSE_SECONDS
    name: str = "gc"
    lock_name: str = "coordinator:gc"

    async def run(self, leadership: Leadership, report: Report) -> None:
        term = _Term(leadership, report, self.open_book(leadership.seat))
        try:
            self._alarm(term, await term.book.rounds.halted())
            with self.fence.open_for(leadership):
                while True:
                    await leadership.verify()
                    with report.one_pass():
                        await self._pass(term)
                    await asyncio.sleep(self.look_seconds)
        finally:
            self._alarm(term, None)  # the next leader tells it

    async def _pass(self, term: _Term) -> None:
        if self.elapsed() >= term.next_look:
            term.next_look = self.elapsed() + self.pause_seconds
            await self._keep_counter(term)
        if self.elapsed() < term.next_round:
            return
        begun = await term.book.rounds.begin()
        if begun is None:
            return
        try:
            await self._round(term, begun)
        except (Deposed, SeatLost):
            raise
        except Exception as error:
            term.next_round = self.elapsed() + self.pause_seconds
            self.metrics.gc_rounds.labels("failed").inc()
            await term.book.rounds.failed(begun.id, str(error) or type(error).__name__)
            raise

    async def _keep_counter(self, term: _Term) -> None:
        """Tell the store how far the database has come, whether or not a round is due."""
        try:
            await self.watch.look(term.leadership.check)
        except DatabaseIsOld as old:
            self._alarm(term, str(old))
        except HomesStay as error:
            log.debug("counter not compared", reason=str(error))

    async def _round(self, term: _Term, begun: Begun) -> None:
        try:
            mark = await self.watch.look(term.leadership.check)
        except DatabaseIsOld as old:
            told = RoundTold(seen=0, kept={}, waiting=0, deleted={}, pruned={}, due=0, halted=str(old))
        else:
            told = await self._collect(term, begun)
            await self.watch.tidy(mark)
        await term.book.rounds.end(begun.id, told)
        self._alarm(term, told.halted)
        self.metrics.gc_rounds.labels("done" if told.halted is None else "halted").inc()
        log.info(
            "collector round",
            seen=told.seen,
            kept=dict(told.kept),
            waiting=told.waiting,
            deleted=dict(told.deleted),
            pruned=dict(told.pruned),
            halted=told.halted,
        )

    async def _collect(self, term: _Term, begun: Begun) -> RoundTold:
        """Nothing of it changes anything unless every listing is whole."""
        book, leadership = term.book, term.leadership
        pruned = await book.prune()
        engine = await book.collector.engine(RUNTIME_LISTING)
        around = await look_around(self.store, self.runtime, self.installation, engine)
        decision = await decide(around, book.collector, self.policy, begun.confirmed)
        await book.collector.note_orphans(decision.note)
        await book.collector.forget_orphans(decision.forget)
        deleted: Counter[str] = Counter()
        if decision.take:
            await asyncio.sleep(leadership.destructive_acts_wait())
            deleted = await Taking(book.collector, self.policy, around, leadership.check).take(decision.take)
            for kind, count in deleted.items():
                self.metrics.gc_deleted.labels(kind).inc(count)
        gone = await book.prune_workspaces({each.workspace_id for each in around.found})
        return _told(decision, deleted, {**pruned, **({"workspaces": gone} if gone else {})})

    def _alarm(self, term: _Term, why: str | None) -> None:
        """Told once, where it begins and where it ends, and to whoever asks meanwhile."""
        if why is not None and why != term.report.alarm:
            log.error("the collector deletes nothing until an administrator confirms", why=why)
        term.report.alarm = why
        self.metrics.gc_waits.set(why is not None)


def _told(decision: Round, deleted: Counter[str], pruned: dict[str, int]) -> RoundTold:
    return RoundTold(
        seen=len(decision.keep) + len(decision.note) + len(decision.wait) + decision.due,
        kept=Counter(str(each.why) for each in decision.keep),
        waiting=len(decision.note) + len(decision.wait),
        deleted=deleted,
        pruned=pruned,
        due=decision.due,
        halted=decision.halted,
    )
