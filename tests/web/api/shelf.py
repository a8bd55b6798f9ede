"""Archives for the tests of the API: rows as the controller writes them, and the objects that they speak of."""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx

from codehub.archives.object_store import ObjectStore
from codehub.model.workspace import archive_key
from tests.web.api.workspaces import ROOT

BEGAN = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Shelved:
    id: UUID
    key: str
    content: bytes
    number: int

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Shelf:
    pool: asyncpg.Pool
    store: ObjectStore

    async def put(
        self, workspace: dict[str, Any], content: bytes = b"files", archive_id: UUID | None = None
    ) -> Shelved:
        """The next generation of a workspace, made a day after the one before; it is the current one from now on."""
        workspace_id, op_id = UUID(workspace["id"]), uuid4()
        counted = "SELECT count(*) FROM archives WHERE workspace_id = $1"
        number = 1 + await self.pool.fetchval(counted, workspace_id)
        made = Shelved(archive_id or uuid4(), archive_key(workspace_id, op_id), content, number)
        await self.pool.execute(
            """INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id, made_at)
               VALUES ($1, $2, $3, $4, $5, $6, 7, $7, $8)""",
            *(made.id, workspace_id, number, made.key, len(content), made.sha256, op_id),
            BEGAN + timedelta(days=number),
        )
        await self.store.put(made.key, content)
        await self.pool.execute("UPDATE workspaces SET archive_key = $2 WHERE id = $1", workspace_id, made.key)
        return made


async def archives(client: httpx.AsyncClient, workspace: dict[str, Any], **params: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    answer = await client.get(f"{ROOT}/{workspace['id']}/archives", params=params)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found
