"""Templates and workspaces for the tests of the API, and short words for what a person does with them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx

from codehub.model.states import ErrorReason, Phase

ROOT = "/api/v1/workspaces"
TEMPLATE = "ide"


async def make_template(pool: asyncpg.Pool, name: str = TEMPLATE) -> UUID:
    template_id = uuid4()
    await pool.execute(
        """INSERT INTO templates (id, name, image_ref, status, port, resources)
           VALUES ($1, $2, 'ide', 'ready', 8080, '{"memory_bytes": 1073741824, "cpus": 1.0}')""",
        template_id,
        name,
    )
    return template_id


@dataclass(frozen=True)
class Owner:
    """Somebody with a client, in an installation without coordinators: what is wished stays a wish."""

    client: httpx.AsyncClient
    pool: asyncpg.Pool

    async def create(self, name: str = "", desired: str = "STANDBY", **fields: Any) -> dict[str, Any]:  # noqa: ANN401
        answer = await self.ask_for(name, desired, **fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def ask_for(self, name: str = "", desired: str = "STANDBY", **fields: Any) -> httpx.Response:  # noqa: ANN401
        body = {"name": name or f"workspace {uuid4().hex[:8]}", "template": TEMPLATE, "desired_state": desired}
        return await self.client.post(ROOT, json={**body, **fields})

    async def post(self, workspace: dict[str, Any], action: str, **options: Any) -> httpx.Response:  # noqa: ANN401
        return await self.client.post(f"{ROOT}/{workspace['id']}/{action}", **options)

    async def patch(self, workspace: dict[str, Any], if_match: str | None = None, **fields: object) -> httpx.Response:
        headers = {"If-Match": if_match} if if_match is not None else {}
        return await self.client.patch(f"{ROOT}/{workspace['id']}", json=fields, headers=headers)

    async def get(self, workspace: dict[str, Any]) -> httpx.Response:
        return await self.client.get(f"{ROOT}/{workspace['id']}")

    async def delete(self, workspace: dict[str, Any]) -> httpx.Response:
        return await self.client.delete(f"{ROOT}/{workspace['id']}")

    async def names(self, **parameters: Any) -> list[str]:  # noqa: ANN401
        answer = await self.client.get(ROOT, params=parameters)
        assert answer.status_code == 200, answer.text
        return [each["name"] for each in answer.json()["items"]]

    async def becomes(self, workspace: dict[str, Any], phase: Phase, error: ErrorReason | None = None) -> None:
        """As if the coordinators had brought it there."""
        await self.pool.execute(
            "UPDATE workspaces SET phase = $2, error_reason = $3 WHERE id = $1", UUID(workspace["id"]), phase, error
        )

    async def count(self, question: str, *arguments: object) -> int:
        counted: int = await self.pool.fetchval(f"SELECT count(*) FROM {question}", *arguments)  # noqa: S608
        return counted
