"""What the EventListener reads: the triggers' notifications, and the rows that they are about."""

from collections.abc import Callable, Sequence
from uuid import UUID

from sqlalchemy import Uuid, any_, bindparam
from sqlalchemy.dialects.postgresql import ARRAY

from codehub.model.shown import ShownWorkspace
from codehub.store.protocols import Channel, Notice
from codehub.store.seat import PostgresSeat
from codehub.store.shown import SHOWN, to_shown
from codehub.store.tables import workspaces


class PostgresFeed:
    def __init__(self, seat: PostgresSeat) -> None:
        self._seat = seat

    async def listen(self, heard: Callable[[Notice], None]) -> None:
        def notified(channel: str, payload: str) -> None:
            workspace_id, owner_user_id = payload.split()
            heard(Notice(Channel(channel), UUID(workspace_id), UUID(owner_user_id)))

        await self._seat.listen([channel.value for channel in Channel], notified)

    async def shown(self, ids: Sequence[UUID]) -> Sequence[ShownWorkspace]:
        named = workspaces.c.id == any_(bindparam("ids", type_=ARRAY(Uuid)))
        query = SHOWN.where(named, workspaces.c.deleted_at.is_(None))
        async with self._seat.statement() as connection:
            rows = await connection.execute(query, {"ids": list(ids)})
            return [to_shown(row) for row in rows.mappings()]
