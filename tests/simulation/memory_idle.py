"""The twin of what the TTL runner reads and writes, one by one by the decision that PostgreSQL makes for all."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from codehub.decide.idle import IdlePolicy, Sleep, Watch, idle
from codehub.model.activity import Doors, Sign
from codehub.model.states import Desired
from tests.simulation.memory_database import MemoryDatabase
from tests.simulation.memory_seat import MemorySeat
from tests.simulation.rows import changed


class MemoryIdle:
    def __init__(self, seat: MemorySeat, policy: IdlePolicy) -> None:
        self._seat = seat
        self._policy = policy

    async def now(self) -> datetime:
        return await self._seat.now()

    async def bring_in(self, signs: Sequence[Sign]) -> None:
        async with self._seat.transaction() as database:
            for sign in signs:
                row, at = database.rows.get(sign.workspace_id), database.clock() - timedelta(seconds=sign.seconds_ago)
                if row is None or row.deleted_at is not None:
                    continue
                if row.last_access_at is None or row.last_access_at < at:
                    database.write(changed(row, last_access_at=at))

    async def may_stand_by(self, doors: Doors, most: int) -> Sequence[UUID]:
        async with self._seat.transaction() as database:
            return self._due(database, list(database.rows), Desired.STANDBY, doors)[:most]

    async def stand_by(self, ids: Sequence[UUID], doors: Doors) -> Sequence[UUID]:
        async with self._seat.transaction() as database:
            return self._wish(database, ids, Desired.STANDBY, doors)

    async def may_be_archived(self, most: int) -> Sequence[UUID]:
        async with self._seat.transaction() as database:
            return self._due(database, list(database.rows), Desired.ARCHIVED)[:most]

    async def archive(self, ids: Sequence[UUID]) -> Sequence[UUID]:
        async with self._seat.transaction() as database:
            return self._wish(database, ids, Desired.ARCHIVED)

    def _due(
        self, database: MemoryDatabase, ids: Sequence[UUID], desired: Desired, doors: Doors | None = None
    ) -> list[UUID]:
        now, watch = database.clock(), None
        if doors is not None:
            watched, silent = timedelta(seconds=doors.watched_for_seconds), timedelta(seconds=doors.silent_for_seconds)
            watch = Watch(now - watched, now - silent)
        rows = [database.rows[each] for each in ids if each in database.rows]
        return [row.id for row in rows if idle(row, self._policy, None, now, watch) == Sleep(desired)]

    def _wish(
        self, database: MemoryDatabase, ids: Sequence[UUID], desired: Desired, doors: Doors | None = None
    ) -> Sequence[UUID]:
        due = self._due(database, ids, desired, doors)
        for each in due:
            database.wish(database.rows[each], desired, "idle")
        return due
