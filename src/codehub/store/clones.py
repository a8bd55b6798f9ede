"""What became of the repository that a workspace was made with, as it told it itself."""

from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.model.clones import Outcome
from codehub.store.history import EventKind

_TELL = text("""
    INSERT INTO workspace_events (workspace_id, kind, after, detail) VALUES (:workspace_id, :kind, :outcome, :detail)
""")


async def tell(connection: AsyncConnection, workspace_id: UUID, outcome: Outcome, detail: str) -> None:
    values = {"workspace_id": workspace_id, "kind": EventKind.CLONE, "outcome": outcome, "detail": detail}
    await connection.execute(_TELL, values)
