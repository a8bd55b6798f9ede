"""All that the coordinators see of PostgreSQL: narrow enough that a simulation can stand in for it.

Every function is one short transaction on the one connection that also holds the coordinator's lock (contract 11): when
the connection is gone, so are the lock and the write, and the call raises `SeatLost`. A call that is cancelled on its
way costs the seat too, since nobody knows how far it came. A transition returns the row as it stands afterwards, or
None when its guard found another row than the caller had decided on; the next pass then decides again. Times that later
decisions compare are the database's own, never those of a replica's clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from codehub.decide.orphans import Found, Generation
from codehub.model.activity import Doors, Sign
from codehub.model.conditions import Conditions
from codehub.model.mark import Mark
from codehub.model.plans import Answer, Begin, Died, Dismiss, Finish, GiveUp, Retry, Withdraw
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Phase, Step
from codehub.model.templates import Template
from codehub.model.workspace import Workspace


class SeatLost(Exception):
    """The connection that held the lock is gone, and with it leadership and every write not yet committed."""


@dataclass(frozen=True, slots=True)
class Term:
    """One leader's time in office."""

    epoch: int
    """Raised with every change of leader; everything a leader makes carries it."""
    predecessor_released: bool
    """Whether the leader before left in order. If not, it may still be acting until its lease has run out."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row that was looked at and needs nothing but to be told so."""

    workspace: Workspace
    phase: Phase
    at_rest: bool = True
    """False: it waits for something, and has to be decided on again even if nothing else is seen."""

    @property
    def judged_at(self) -> datetime | None:
        """The observation that is done with."""
        return self.workspace.observed_at if self.at_rest else self.workspace.judged_at


@dataclass(frozen=True, slots=True)
class Observed:
    workspace_id: UUID
    conditions: Conditions
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Listing:
    """The last whole listing of one kind, and the engine that gave it."""

    kind: str
    began_at: datetime
    engine: str | None


@dataclass(frozen=True, slots=True)
class NewArchive:
    """What the `archives` row says of an archive that was read back and found whole."""

    id: UUID
    key: str
    size: int
    checksum: str
    entries: int


class Channel(StrEnum):
    """What the triggers notify on."""

    SSE = "ws_sse"
    WAKE = "ws_wake"
    DELETED = "ws_deleted"


@dataclass(frozen=True, slots=True)
class Notice:
    channel: Channel
    workspace_id: UUID
    owner_user_id: UUID


class Seat(Protocol):
    """One coordinator's connection, lock and clock."""

    async def campaign(self) -> Term | None:
        """Wait inside the server for the lock, about a second at most. None: another leads; call again."""

    async def heartbeat(self) -> None:
        """Keep the lease that the server enforces."""

    async def holds_lock(self) -> bool:
        """Look at the server's own list of locks, instead of believing ourselves."""

    async def now(self) -> datetime:
        """The database's time."""

    async def settle(self) -> None:
        """Return when no transaction is under way, or has been for too long. Whoever is cancelled right then, with no
        await in between, does not lose the seat by it."""

    async def resign(self) -> None:
        """Give the lock back in order, so that the successor need not wait."""

    async def close(self) -> None:
        """End the connection; a lock still held is lost with it."""

    def when_lost(self, callback: Callable[[], None]) -> None:
        """Call back at once when the connection ends without `close`."""


class ObserverStore(Protocol):
    async def targets(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        """Rows that may have a container or volume, or were never observed; by id, beginning after `after`."""

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        """These rows, in no particular order; unknown ids are left out."""

    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        """Rows that want a decision, as the controller reads them: what they wait for must be looked at each time."""

    async def unseen_archives(self, limit: int) -> Sequence[Workspace]:
        """Rows whose current archive has not been looked at yet."""

    async def archived(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        """Rows with an archive, for the slow round that looks at each again; by id, beginning after `after`."""

    async def write_conditions(self, batch: Sequence[Observed]) -> int:
        """Store what was seen, in one statement. A row that holds a newer observation keeps it. Tells how many rows
        were written."""

    async def record_listing(self, listing: Listing) -> None: ...

    async def listings(self) -> Sequence[Listing]: ...


class ControllerStore(Protocol):
    async def unsettled(self, after: Workspace | None, limit: int) -> Sequence[Workspace]:
        """Rows that want a decision, deleted ones included; those that people wait for first."""

    async def workspace(self, workspace_id: UUID) -> Workspace | None: ...

    async def templates(self) -> dict[UUID, Template]:
        """What workspaces run, by id. There are few, and they change seldom."""

    async def engine(self, kind: str) -> str | None:
        """The one that gave the last listing of this kind that was believed; None before the first."""

    async def judged(self, batch: Sequence[Judged]) -> int:
        """Store phase and judgement of many rows in one statement; rows that have moved on are left alone."""

    async def claim(self, workspace: Workspace, begin: Begin, op_id: UUID, phase: Phase) -> Workspace | None:
        """Take an operation (contract 4), naming the volume or archive that it will make before anything is made."""

    async def enter(self, workspace: Workspace, step: Step) -> Workspace | None:
        """Record the next step before it is done. RELEASE is the point of no return: it still finds the wish ARCHIVED
        in the row, or nothing happens (contract 8)."""

    async def begun(self, workspaces: Sequence[Workspace]) -> None:
        """Let the clocks of these attempts begin now, in one statement: their acts had to wait for a turn, or are begun
        anew by another leader. Rows that have moved on are left alone."""

    async def archive(self, key: str) -> NewArchive | None:
        """What was found when this archive was read back; None for one that nobody knows of."""

    async def acted(
        self,
        workspace: Workspace,
        step: Step,
        archive: NewArchive | None = None,
        sent: Mapping[str, int | str] | None = None,
    ) -> Workspace | None:
        """Record that the act of `step` has returned. With an archive: its key and its row, in the same transaction.
        With what was sent: that it is to be verified against this."""

    async def all_acted(self, workspaces: Sequence[Workspace]) -> int:
        """The same for the present steps of many, without archives, in one statement; rows that have moved on are left
        alone. Tells how many were written."""

    async def finish(self, workspace: Workspace, finish: Finish) -> Workspace | None: ...

    async def withdraw(self, workspace: Workspace, withdraw: Withdraw, phase: Phase) -> Workspace | None: ...

    async def retry(self, workspace: Workspace, retry: Retry) -> Workspace | None: ...

    async def give_up(self, workspace: Workspace, give_up: GiveUp) -> Workspace | None: ...

    async def died(self, workspace: Workspace, died: Died) -> Workspace | None: ...

    async def answer(self, workspace: Workspace, answer: Answer, phase: Phase) -> Workspace | None: ...

    async def dismiss(self, workspace: Workspace, dismiss: Dismiss) -> Workspace | None: ...

    async def thinned_out(self, workspace: Workspace, container_ids: Sequence[str]) -> Workspace | None:
        """Record that these surplus containers are gone. What was seen before proves nothing any more, whatever the row
        has come to since: it waits for another look."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the second look at one thing is made with, read in the transaction that deletes."""

    workspaces: Sequence[Workspace]
    """The one that it was made for, and those that point to it."""
    generations: Sequence[Generation]
    """Of these workspaces, and the thing itself where it is one."""
    now: datetime


class CollectorStore(Protocol):
    async def now(self) -> datetime:
        """The database's time."""

    async def engine(self, kind: str) -> str | None:
        """The one that gave the last listing of this kind that was believed; None before the first."""

    async def rows(self, after: UUID | None, limit: int) -> Sequence[Workspace]:
        """Every workspace, deleted ones included; by id, beginning after `after`."""

    async def workspaces(self, ids: Sequence[UUID]) -> Sequence[Workspace]:
        """These rows, in no particular order; unknown ids are left out."""

    async def generations(self, workspace_ids: Sequence[UUID]) -> Sequence[Generation]:
        """The archives of these workspaces, older ones first."""

    async def noted_orphans(self) -> dict[Found, datetime]:
        """What was unprotected when it was first seen, and when; kept in the database so that a restart forgets
        nothing."""

    async def note_orphans(self, found: Sequence[Found]) -> None:
        """Begin the grace of these. One that was noted before keeps its time."""

    async def forget_orphans(self, found: Sequence[Found]) -> None: ...

    async def take(self, found: Found, second_look: Callable[[Evidence], str | None]) -> str | None:
        """Look once more, in the transaction after which nothing can begin to point to the thing any more. None: it may
        be deleted now, and an archive has lost its row; otherwise why it stays, and nothing has changed."""


class IdleStore(Protocol):
    async def now(self) -> datetime:
        """The time by which idle times run."""

    async def bring_in(self, signs: Sequence[Sign]) -> None:
        """When these were last used, and by what; older than what is known changes nothing."""

    async def may_stand_by(self, doors: Doors, most: int) -> Sequence[UUID]:
        """Running ones that nobody has used for their idle time, as far as is known now."""

    async def stand_by(self, ids: Sequence[UUID], doors: Doors) -> Sequence[UUID]:
        """Wish STANDBY for those of them that are idle still, looked at under their locks; tells which."""

    async def may_be_archived(self, most: int) -> Sequence[UUID]: ...

    async def archive(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        """The same for ARCHIVED, of those that have been stopped for long enough."""


class Marks(Protocol):
    """The counter of facts that protect homes. Not over a leader's connection: a mark that is recorded in vain does no
    harm. Raises DBAPIError or OSError where the database does not answer."""

    async def look(self, mark: Mark) -> tuple[bool, int]:
        """Whether the database knows this mark, and how far it has come."""

    async def record(self) -> Mark:
        """A mark of all that is committed by now; committed itself when this returns."""

    async def forget_before(self, mark: Mark) -> None:
        """The older ones, once nobody can be about to leave them in the store any more."""


class FeedStore(Protocol):
    async def listen(self, heard: Callable[[Notice], None]) -> None:
        """Call back for every notification from now on. Any may be lost, and none says what changed."""

    async def shown(self, ids: Sequence[UUID]) -> Sequence[ShownWorkspace]:
        """These rows as people see them; deleted ones are left out."""
