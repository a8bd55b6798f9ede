"""The two stores under test behind one face: seats to take and kill, what the API does, and what stands in the rows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Protocol
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from codehub import clock
from codehub.decide.idle import IdlePolicy
from codehub.model.states import Desired
from codehub.model.templates import Template
from codehub.model.workspace import Request, Workspace
from codehub.store import wishes
from codehub.store.collector import PostgresCollector
from codehub.store.controller import PostgresController
from codehub.store.engine import pool
from codehub.store.feed import PostgresFeed
from codehub.store.history import Event, EventKind
from codehub.store.idle import PostgresIdle
from codehub.store.observer import PostgresObserver
from codehub.store.protocols import CollectorStore, ControllerStore, FeedStore, IdleStore, ObserverStore, Seat
from codehub.store.rows import WORKSPACE_COLUMNS, to_workspace
from codehub.store.seat import PostgresSeat
from codehub.store.tables import archives, templates, users, workspace_events, workspaces
from codehub.store.wishes import Because, NewWorkspace
from tests.contracts.store_grants import as_role
from tests.simulation.memory_controller import MemoryController
from tests.simulation.memory_database import MemoryDatabase, Refused, is_settled
from tests.simulation.memory_idle import MemoryIdle
from tests.simulation.memory_seat import MemorySeat, MemoryServer
from tests.simulation.memory_store import MemoryCollector, MemoryFeed, MemoryObserver

AHEAD = timedelta(days=3650)
"""How far the database's clock is ahead of the clock of this process."""
LEASE_SECONDS = 5.0

_SESSIONS = text("SELECT count(*) FROM pg_stat_activity WHERE usename = :role AND datname = current_database()")


@dataclass(frozen=True, slots=True)
class KnownArchive:
    """A row of `archives`, times aside."""

    generation: int
    key: str
    size: int
    checksum: str
    op_id: UUID | None


class Backend(Protocol):
    refused: type[Exception]
    """What a row is refused with that the schema does not allow."""

    async def take(self, role: str, holder_id: str = "first", lease_seconds: float = LEASE_SECONDS) -> Seat: ...
    async def kill(self, seat: Seat) -> None:
        """End its session from the server's side."""

    def observer(self, seat: Seat) -> ObserverStore: ...
    def controller(self, seat: Seat) -> ControllerStore: ...
    def collector(self, seat: Seat) -> CollectorStore: ...
    def feed(self, seat: Seat) -> FeedStore: ...
    def idle(self, seat: Seat, policy: IdlePolicy) -> IdleStore: ...

    async def create(self, desired: Desired = Desired.RUNNING, workspace_id: UUID | None = None) -> Workspace: ...
    async def wish(self, workspace: Workspace, desired: Desired) -> Workspace | None: ...
    async def place_request(self, workspace: Workspace, request: Request) -> Workspace | None: ...
    async def create_template(self, template: Template) -> None: ...
    async def clear_error(self, workspace: Workspace) -> None:
        """As an operator may do by hand."""

    async def as_if_since(self, workspace: Workspace, seconds: float) -> Workspace:
        """As if its phase had last changed so long ago."""

    async def row(self, workspace_id: UUID) -> Workspace: ...
    async def is_settled(self, workspace_id: UUID) -> bool: ...
    async def events(self, workspace_id: UUID) -> Sequence[Event]: ...
    async def archives(self, workspace_id: UUID) -> Sequence[KnownArchive]: ...


class PostgresBackend:
    """Seats and API log in as roles that may write their own columns only (contract 3)."""

    refused: type[Exception] = IntegrityError

    def __init__(self, url: str) -> None:
        self._url = url
        self._api = pool(as_role(url, "api"), "api")
        self._operator = pool(url, "operator")
        self._seats: list[PostgresSeat] = []
        self._owner_id = uuid4()

    async def open(self) -> None:
        async with self._api.begin() as connection:
            await connection.execute(
                insert(users).values(id=self._owner_id, login="owner", password_hash="", role="user")
            )

    async def close(self) -> None:
        for seat in self._seats:
            await seat.close()
        await self._api.dispose()
        await self._operator.dispose()

    async def take(self, role: str, holder_id: str = "first", lease_seconds: float = LEASE_SECONDS) -> PostgresSeat:
        seat = await PostgresSeat.take(as_role(self._url, role), f"coordinator:{role}", holder_id, lease_seconds)
        self._seats.append(seat)
        return seat

    async def kill(self, seat: Seat) -> None:
        assert isinstance(seat, PostgresSeat)
        async with self._operator.begin() as connection:
            pid = seat._driver.get_server_pid()
            await connection.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})

    def observer(self, seat: Seat) -> ObserverStore:
        assert isinstance(seat, PostgresSeat)
        return PostgresObserver(seat)

    def controller(self, seat: Seat) -> ControllerStore:
        assert isinstance(seat, PostgresSeat)
        return PostgresController(seat)

    def collector(self, seat: Seat) -> CollectorStore:
        assert isinstance(seat, PostgresSeat)
        return PostgresCollector(seat)

    def feed(self, seat: Seat) -> FeedStore:
        assert isinstance(seat, PostgresSeat)
        return PostgresFeed(seat)

    def idle(self, seat: Seat, policy: IdlePolicy) -> IdleStore:
        assert isinstance(seat, PostgresSeat)
        return PostgresIdle(seat, policy)

    async def create(self, desired: Desired = Desired.RUNNING, workspace_id: UUID | None = None) -> Workspace:
        workspace_id = workspace_id or uuid4()
        async with self._api.begin() as connection:
            new = NewWorkspace(workspace_id, self._owner_id, str(workspace_id))
            return await wishes.create_workspace(connection, new, desired, Because("owner", "owner"))

    async def wish(self, workspace: Workspace, desired: Desired) -> Workspace | None:
        async with self._api.begin() as connection:
            return await wishes.wish(connection, workspace, desired, Because("owner", "owner"))

    async def place_request(self, workspace: Workspace, request: Request) -> Workspace | None:
        async with self._api.begin() as connection:
            return await wishes.place_request(connection, workspace, request)

    async def create_template(self, template: Template) -> None:
        values = {field.name: getattr(template, field.name) for field in fields(template)}
        values |= {"image_ref": values.pop("image"), "status": values.pop("state")}
        async with self._api.begin() as connection:
            await connection.execute(insert(templates).values(values))

    async def clear_error(self, workspace: Workspace) -> None:
        async with self._operator.begin() as connection:
            await connection.execute(update(workspaces).where(_named(workspace.id)).values(error_reason=None))

    async def as_if_since(self, workspace: Workspace, seconds: float) -> Workspace:
        changed_at = workspaces.c.phase_changed_at - timedelta(seconds=seconds)
        async with self._operator.begin() as connection:
            await connection.execute(update(workspaces).where(_named(workspace.id)).values(phase_changed_at=changed_at))
        return await self.row(workspace.id)

    async def row(self, workspace_id: UUID) -> Workspace:
        async with self._operator.begin() as connection:
            found = await connection.execute(select(*WORKSPACE_COLUMNS).where(_named(workspace_id)))
            return to_workspace(found.one())

    async def is_settled(self, workspace_id: UUID) -> bool:
        async with self._operator.begin() as connection:
            return bool(await connection.scalar(select(workspaces.c.settled).where(_named(workspace_id))))

    async def events(self, workspace_id: UUID) -> Sequence[Event]:
        told = workspace_events.c
        query = select(told.kind, told.before, told.after, told.reason, told.actor, told.detail)
        async with self._operator.begin() as connection:
            rows = await connection.execute(query.where(told.workspace_id == workspace_id).order_by(told.id))
            return [Event(EventKind(row.kind), *row[1:]) for row in rows]

    async def archives(self, workspace_id: UUID) -> Sequence[KnownArchive]:
        known = archives.c
        query = select(known.generation, known.key, known.size, known.checksum, known.op_id)
        async with self._operator.begin() as connection:
            rows = await connection.execute(query.where(known.workspace_id == workspace_id).order_by(known.generation))
            return [KnownArchive(*row) for row in rows]

    async def sessions(self, role: str) -> int:
        """How many connections the role has open."""
        async with self._operator.begin() as connection:
            return int(await connection.scalar(_SESSIONS, {"role": role}) or 0)


def _named(workspace_id: UUID) -> ColumnElement[bool]:
    return workspaces.c.id == workspace_id


class MemoryBackend:
    refused: type[Exception] = Refused

    def __init__(self) -> None:
        self._database = MemoryDatabase(lambda: clock.now() + AHEAD)
        self._server = MemoryServer(self._database)
        self._seats: list[MemorySeat] = []
        self._owner_id = uuid4()

    async def close(self) -> None:
        for seat in self._seats:
            await seat.close()

    async def take(self, role: str, holder_id: str = "first", lease_seconds: float = LEASE_SECONDS) -> MemorySeat:
        seat = MemorySeat(self._server, f"coordinator:{role}", holder_id, lease_seconds)
        self._seats.append(seat)
        return seat

    async def kill(self, seat: Seat) -> None:
        assert isinstance(seat, MemorySeat)
        seat.drop()

    def observer(self, seat: Seat) -> ObserverStore:
        assert isinstance(seat, MemorySeat)
        return MemoryObserver(seat)

    def controller(self, seat: Seat) -> ControllerStore:
        assert isinstance(seat, MemorySeat)
        return MemoryController(seat)

    def collector(self, seat: Seat) -> CollectorStore:
        assert isinstance(seat, MemorySeat)
        return MemoryCollector(seat)

    def feed(self, seat: Seat) -> FeedStore:
        assert isinstance(seat, MemorySeat)
        return MemoryFeed(seat)

    def idle(self, seat: Seat, policy: IdlePolicy) -> IdleStore:
        assert isinstance(seat, MemorySeat)
        return MemoryIdle(seat, policy)

    async def create(self, desired: Desired = Desired.RUNNING, workspace_id: UUID | None = None) -> Workspace:
        workspace_id = workspace_id or uuid4()
        return self._database.create_workspace(
            workspace_id, self._owner_id, str(workspace_id), desired, "owner", "owner"
        )

    async def wish(self, workspace: Workspace, desired: Desired) -> Workspace | None:
        return self._database.wish(workspace, desired, "owner", "owner")

    async def place_request(self, workspace: Workspace, request: Request) -> Workspace | None:
        return self._database.place_request(workspace, request)

    async def create_template(self, template: Template) -> None:
        self._database.templates[template.id] = template

    async def clear_error(self, workspace: Workspace) -> None:
        self._database.write(replace(self._database.rows[workspace.id], error_reason=None))

    async def as_if_since(self, workspace: Workspace, seconds: float) -> Workspace:
        assert workspace.phase_changed_at is not None
        changed_at = workspace.phase_changed_at - timedelta(seconds=seconds)
        self._database.write(replace(workspace, phase_changed_at=changed_at))
        return self._database.rows[workspace.id]

    async def row(self, workspace_id: UUID) -> Workspace:
        return self._database.rows[workspace_id]

    async def is_settled(self, workspace_id: UUID) -> bool:
        return is_settled(self._database.rows[workspace_id])

    async def events(self, workspace_id: UUID) -> Sequence[Event]:
        return [told.event for told in self._database.history if told.workspace_id == workspace_id]

    async def archives(self, workspace_id: UUID) -> Sequence[KnownArchive]:
        return [
            KnownArchive(each.generation, key, each.found.size, each.found.checksum, each.op_id)
            for key, each in self._database.archives.items()
            if each.workspace_id == workspace_id
        ]
