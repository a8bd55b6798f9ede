"""The Observer sees containers, volumes and archives in bulk, and writes what it saw (contract 1)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import structlog

from codehub.coordinators.leadership import Leadership
from codehub.coordinators.look import Look, gather, missing_homes, trace, unhurried
from codehub.coordinators.observer_office import ObserverOffice
from codehub.coordinators.prober import Prober
from codehub.coordinators.sampler import Sampler
from codehub.coordinators.supervisor import Report
from codehub.coordinators.ticker import Ticker
from codehub.decide.observe import observe, wants_another_look, wants_archive_look, worth_writing
from codehub.decide.order import counts
from codehub.decide.trust import Doubted, trust
from codehub.model.conditions import Status
from codehub.model.sightings import ArchiveState, SeenArchive, Sighting
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.protocols import Instance, Runtime
from codehub.store.protocols import Listing, Observed, ObserverStore, Seat

log = structlog.get_logger()
PAGE = 1000
RUNTIME_LISTING = "runtime"
EVERYTHING_AGAIN_SECONDS = 600.0
"""So often every row is compared anew, whatever the memory of earlier passes says."""
RECONNECT_SECONDS = 1.0
NAMED_AT_MOST = 16
"""More workspaces than these are looked at by one listing of everything, not by calls for each."""
RECORD_EVERY = timedelta(minutes=1)
"""A listing is recorded now and then, not each time: a pass that finds nothing changed writes nothing."""
ARCHIVES_AGAIN_SECONDS = 3600.0
"""So often archives that nobody needs at the moment are looked at again, in a round that takes its time."""
ARCHIVES_AT_ONCE = 100
WHOLE_LOOK_SECONDS = 15.0
"""So often everything is looked at, however many single workspaces are named meanwhile."""


class ListingDoubted(RuntimeFault):
    """A whole listing that must not be believed counts as failed."""


class ArchiveLook(Protocol):
    """How the Observer looks at archives: one HEAD of archive and marker each."""

    async def look(self, keys: Sequence[str], looked_at: datetime) -> Sequence[SeenArchive]:
        """What was seen; a key that could not be looked at is left out."""


@dataclass
class Observer:
    runtime: Runtime
    archives: ArchiveLook
    open_store: Callable[[Seat], ObserverStore]
    wake_controller: Callable[[], Awaitable[None]]
    hints: Callable[[Callable[[UUID | None], None]], Awaitable[None]]
    ticker: Ticker
    elapsed: Callable[[], float]
    sampler: Sampler
    name: str = "observer"
    lock_name: str = "coordinator:observer"
    _named: set[UUID] = field(default_factory=set)
    _all_due: bool = True

    def hint(self, workspace_id: UUID | None) -> None:
        """Look now: at this workspace, or at everything."""
        if workspace_id is None:
            self._all_due = True
        else:
            self._named.add(workspace_id)
        self.ticker.hint()

    async def run(self, leadership: Leadership, report: Report) -> None:
        async with asyncio.TaskGroup() as group:
            prober = Prober(self.runtime.instances, self.hint, group)
            office = ObserverOffice(self.open_store(leadership.seat), leadership.seat, prober)
            office.archives_due_at = self.elapsed() + ARCHIVES_AGAIN_SECONDS
            group.create_task(self._follow_events(), name="runtime events")
            group.create_task(self._hear(), name="observer hints")
            group.create_task(self.sampler.run(prober.ready), name="usage")
            self.hint(None)  # a new term knows nothing yet, whatever the one before has seen
            while True:
                await self.ticker.next()
                await leadership.verify()
                with report.one_pass():
                    await self._pass(office)

    async def _hear(self) -> None:
        await self.hints(self.hint)

    async def _follow_events(self) -> None:
        """The runtime's own stream: a broken one costs latency, nothing else."""
        while True:
            with contextlib.suppress(RuntimeFault):
                async for workspace_id in self.runtime.instances.watch():
                    self.hint(workspace_id)
            await asyncio.sleep(RECONNECT_SECONDS)
            self.hint(None)

    async def _pass(self, office: ObserverOffice) -> None:
        named, self._named = self._named, set()
        overdue = self.elapsed() - office.looked_at_all_at >= WHOLE_LOOK_SECONDS
        everything = self._all_due or overdue or not 0 < len(named) <= NAMED_AT_MOST
        self._all_due = False
        try:
            written = await (self._look_at_all(office) if everything else self._look_at(office, named))
        except Exception:
            # Nothing that depends on the listing has changed, and the next tick tries again, with a whole look: while
            # the whole is doubted, no look at a single workspace may be believed.
            self._all_due = True
            raise
        if written:
            await self.wake_controller()

    async def _look_at(self, office: ObserverOffice, named: Collection[UUID]) -> int:
        """Look at these workspaces only: one of them has just been acted upon, or the runtime spoke of it."""
        looked_at = await office.seat.now()
        listings = await asyncio.gather(
            *(asyncio.gather(self.runtime.instances.list(each), self.runtime.volumes.list(each)) for each in named)
        )
        look = await gather(
            looked_at,
            (instance for instances, _ in listings for instance in instances),
            (volume for _, volumes in listings for volume in volumes),
        )
        return await self._compare(office, await office.store.workspaces(list(named)), look)

    async def _look_at_all(self, office: ObserverOffice) -> int:
        looked_at = await office.seat.now()
        instances, volumes, engine = await asyncio.gather(
            self.runtime.instances.list(), self.runtime.volumes.list(), self.runtime.engine()
        )
        look = await gather(looked_at, instances, volumes)
        office.looked_at_all_at = self.elapsed()
        office.prober.keep_only({each.id for each in instances})
        everything = self.elapsed() - office.compared_everything_at >= EVERYTHING_AGAIN_SECONDS
        if everything:
            await self._learn_homes(office)
        recorded = await self._doubt(office, look, engine)
        written = 0
        pages = self._all_targets(office) if everything else self._changed(office, look)
        async for rows in pages:
            written += await self._compare(office, rows, look)
        if everything:
            office.compared_everything_at = self.elapsed()
        if recorded is None or recorded.engine != engine or looked_at - recorded.began_at >= RECORD_EVERY:
            await office.store.record_listing(Listing(RUNTIME_LISTING, looked_at, engine))
        return written + await self._look_at_new_archives(office) + await self._look_at_old_archives(office)

    async def _learn_homes(self, office: ObserverOffice) -> None:
        office.homes.clear()
        async for rows in self._all_targets(office):
            for row in rows:
                office.know_home(row.id, row)

    async def _doubt(self, office: ObserverOffice, look: Look, engine: str) -> Listing | None:
        """Raise where so much is missing, or the engine so strange, that a listing says nothing about any one home.
        Else the last one that was believed and recorded."""
        recorded = {each.kind: each for each in await office.store.listings()}.get(RUNTIME_LISTING)
        gone = await missing_homes(office.homes, look)
        for start in range(0, len(gone), PAGE):  # by now their rows may say that they are meant to be
            page = gone[start : start + PAGE]
            rows = {row.id: row for row in await office.store.workspaces(page)}
            for each in page:
                office.know_home(each, rows.get(each))
        missing = len(await missing_homes(office.homes, look))
        verdict = trust(recorded.engine if recorded else None, engine, len(office.homes), missing)
        if isinstance(verdict, Doubted):
            if office.doubt != verdict.why:
                log.error("listing not believed: no home is judged by it until this is mended", why=verdict.why)
            office.doubt = verdict.why
            raise ListingDoubted(verdict.why)
        office.doubt = None
        return recorded

    async def _all_targets(self, office: ObserverOffice) -> AsyncIterator[Sequence[Workspace]]:
        last: UUID | None = None
        while rows := await office.store.targets(last, PAGE):
            yield rows
            last = rows[-1].id

    async def _changed(self, office: ObserverOffice, look: Look) -> AsyncIterator[Sequence[Workspace]]:
        """Rows that want a decision, then those of which something else is seen than what they say."""
        last: Workspace | None = None
        restless: set[UUID] = set()
        while rows := await office.store.unsettled(last, PAGE):
            yield rows
            restless.update(row.id for row in rows)
            last = rows[-1]
        seen = look.instances.keys() | look.volumes.keys() | office.traces.keys()
        changed = [
            each
            async for each in unhurried(seen - restless)
            if office.traces.get(each) != trace(look.sighting(each, office.prober))
        ]
        for start in range(0, len(changed), PAGE):
            yield await office.store.workspaces(changed[start : start + PAGE])

    async def _compare(self, office: ObserverOffice, rows: Sequence[Workspace], look: Look) -> int:
        """Hold what was seen against these rows and write the ones that must be told."""
        changed = []
        archives = await self._seen_archives([row for row in rows if wants_archive_look(row)], look.looked_at)
        for row in rows:
            for instance in look.instances.get(row.id, ()):
                office.prober.add(instance, ready=_is_known_ready(row, instance))
            seen = replace(look.sighting(row.id, office.prober), archive=archives.get(row.archive_key))
            sighting = office.place(row, seen)
            conditions = observe(row, sighting)
            if worth_writing(row, conditions):
                changed.append(Observed(row.id, conditions, sighting.looked_at))
            again = wants_another_look(conditions) or not counts(row, sighting)
            self._remember(office, row, sighting, again=again)
        if any(row.operation is not Operation.NONE for row in rows):
            self.ticker.stay_active()
        return await office.store.write_conditions(changed)

    def _remember(self, office: ObserverOffice, row: Workspace, sighting: Sighting, *, again: bool) -> None:
        office.traces[row.id] = None if again else trace(sighting)
        if again:
            self.ticker.stay_active()
        office.know_home(row.id, row)
        if row.phase is Phase.DELETED:
            office.traces.pop(row.id, None)

    async def _look_at_new_archives(self, office: ObserverOffice) -> int:
        """Archives whose key is new."""
        rows = await office.store.unseen_archives(PAGE)
        looked_at = await office.seat.now()
        return await self._tell_archives(office, rows, await self._seen_archives(rows, looked_at), looked_at)

    async def _look_at_old_archives(self, office: ObserverOffice) -> int:
        """Now and then all of them, some at a time. Where many are gone at once nothing is said of any: that is a store
        that is not mounted, or another one, and no thousand lost homes."""
        if self.elapsed() < office.archives_due_at:
            return 0
        rows = await office.store.archived(office.archives_seen_to, ARCHIVES_AT_ONCE)
        office.archives_seen_to = rows[-1].id if rows else None
        if len(rows) < ARCHIVES_AT_ONCE:
            office.archives_seen_to, office.archives_due_at = None, self.elapsed() + ARCHIVES_AGAIN_SECONDS
        looked_at = await office.seat.now()
        seen = await self._seen_archives(rows, looked_at)
        missing = sum(each.state is ArchiveState.MISSING for each in seen.values())
        if isinstance(trust(None, "", len(seen), missing), Doubted):
            log.error("archives not found, and not called lost until this is mended", missing=missing, of=len(seen))
            return 0
        return await self._tell_archives(office, rows, seen, looked_at)

    async def _tell_archives(
        self,
        office: ObserverOffice,
        rows: Sequence[Workspace],
        seen: dict[str | None, SeenArchive],
        looked_at: datetime,
    ) -> int:
        changed = []
        for row in rows:
            sighting = office.place(row, Sighting(looked_at, archive=seen.get(row.archive_key)))
            conditions = observe(row, sighting)
            if worth_writing(row, conditions):
                changed.append(Observed(row.id, conditions, sighting.looked_at))
            if wants_another_look(conditions):
                office.traces[row.id] = None
                self.ticker.stay_active()
        return await office.store.write_conditions(changed)

    async def _seen_archives(self, rows: Sequence[Workspace], looked_at: datetime) -> dict[str | None, SeenArchive]:
        """By their keys; one that could not be looked at is left out."""
        keys = {row.archive_key for row in rows if row.archive_key is not None}
        return {each.key: each for each in await self.archives.look(sorted(keys), looked_at)} if keys else {}


def _is_known_ready(row: Workspace, instance: Instance) -> bool:
    container = row.conditions.container
    return container is not None and container.status is Status.TRUE and container.subject == instance.id
