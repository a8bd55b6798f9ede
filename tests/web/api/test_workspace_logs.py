"""What a running workspace prints and uses, over HTTP, from a real engine."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest

from codehub.runtimes.protocols import Instance
from codehub.settings import Settings
from tests.contracts.runtime_kit import RuntimeKit, docker_kit
from tests.runtimes.docker import tool_image
from tests.web.api.workspaces import ROOT, Owner


@pytest.fixture(scope="session")
def docker_image() -> Iterator[str]:
    with tool_image.tool_image() as image:
        yield image


@pytest.fixture
def settings(settings: Settings) -> Settings:
    runtime = settings.runtime.model_copy(update={"kind": "docker", "docker_host": tool_image.HOST})
    return settings.model_copy(update={"runtime": runtime})


@pytest.fixture
async def garden(ada: Owner) -> dict[str, Any]:
    return await ada.create("garden", "RUNNING")


class Engine:
    """A container of a workspace, as the Observer would have seen it."""

    def __init__(self, kit: RuntimeKit, pool: asyncpg.Pool, installation: str) -> None:
        self._kit = kit
        self._pool = pool
        self._runtime = kit.open(installation)

    async def run(self, workspace: dict[str, Any]) -> Instance:
        instance = await self._kit.running(self._runtime, self._kit.home(UUID(workspace["id"])))
        conditions = {"infra.container_ready": {"subject": instance.id}}
        seen = "UPDATE workspaces SET conditions = $2 WHERE id = $1"
        await self._pool.execute(seen, UUID(workspace["id"]), orjson.dumps(conditions).decode())
        return instance

    async def kill(self, instance: Instance) -> None:
        await self._runtime.instances.stop(instance.id, 0)


@pytest.fixture
async def engine(docker_image: str, pool: asyncpg.Pool, tmp_path: Path) -> AsyncIterator[Engine]:
    installation: UUID = await pool.fetchval("SELECT id FROM installation")
    async with docker_kit(docker_image, tmp_path) as kit:
        yield Engine(kit, pool, installation.hex)


async def test_its_last_lines_and_what_it_uses_can_be_read(ada: Owner, garden: dict[str, Any], engine: Engine) -> None:
    await engine.run(garden)
    logs = await ada.client.get(f"{ROOT}/{garden['id']}/logs", params={"tail": 10})
    assert (logs.status_code, logs.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert "listening" in logs.text
    stats = await ada.client.get(f"{ROOT}/{garden['id']}/stats")
    assert stats.status_code == 200
    assert stats.json()["memory_bytes"] > 0


async def test_what_it_prints_is_followed_until_it_ends(ada: Owner, garden: dict[str, Any], engine: Engine) -> None:
    instance = await engine.run(garden)
    following = asyncio.ensure_future(ada.client.get(f"{ROOT}/{garden['id']}/logs", params={"follow": "true"}))
    done, _ = await asyncio.wait([following], timeout=0.5)
    assert not done
    await engine.kill(instance)
    async with asyncio.timeout(60):
        answer = await following
    assert (answer.status_code, "listening" in answer.text) == (200, True)


async def test_without_a_container_there_is_nothing_to_tell(ada: Owner, garden: dict[str, Any], engine: Engine) -> None:
    for path in ("logs", "stats"):
        never = await ada.client.get(f"{ROOT}/{garden['id']}/{path}")
        assert (never.status_code, never.json()["code"]) == (409, "not_running")
    await engine.kill(await engine.run(garden))
    for path in ("logs", "stats"):
        gone = await ada.client.get(f"{ROOT}/{garden['id']}/{path}")
        assert (gone.status_code, gone.json()["code"]) == (409, "not_running")


class TestWithoutAnEngine:
    @pytest.fixture
    def settings(self, settings: Settings, tmp_path: Path) -> Settings:
        runtime = settings.runtime.model_copy(update={"docker_host": f"unix://{tmp_path / 'nobody.sock'}"})
        return settings.model_copy(update={"runtime": runtime})

    async def test_that_the_engine_is_away_is_told(self, ada: Owner, garden: dict[str, Any]) -> None:
        conditions = '{"infra.container_ready": {"subject": "somewhere"}}'
        await ada.pool.execute("UPDATE workspaces SET conditions = $1", conditions)
        for path in ("logs", "stats"):
            away = await ada.client.get(f"{ROOT}/{garden['id']}/{path}")
            assert (away.status_code, away.json()["code"]) == (503, "runtime_away")
            assert int(away.headers["retry-after"]) > 0
