"""Live events while parts of the installation go and come back: streams live on, and nothing is missed in the end."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import asyncpg
import pytest
from fastapi import FastAPI

from codehub.bus import page_channels
from codehub.bus.connect import connect
from codehub.bus.page_events import PageEvents
from codehub.model.states import Desired
from codehub.settings import Settings
from codehub.stack.account import Account
from tests.coordinators.house import House
from tests.coordinators.own_service import OwnService, own_redis
from tests.coordinators.sessions import kill_leader
from tests.decide.shown import IDLE_POLICY
from tests.web.api.people import People, Secret, User
from tests.web.api.served import Reader, reading, served
from tests.web.switch import Switch

_NEW = "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, $3, 'STANDBY')"


@pytest.fixture
def prefix(redis_prefix: Callable[[], str]) -> str:
    return redis_prefix()


@pytest.fixture
def settings(tmp_path: Path, prefix: str) -> Settings:
    names = {"CODEHUB_DATA_DIR": str(tmp_path), "REDIS_CHANNEL_SSE_PREFIX": f"{prefix}:sse"}
    return Settings.load({**names, "SSE_HEARTBEAT_SECONDS": "1", "AUTH_CACHE_SECONDS": "0.2"}, tmp_path)


@pytest.fixture
async def own(services_folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, str]]:
    async with own_redis(services_folder, account) as own:
        yield own


@pytest.fixture
def redis_url(own: tuple[OwnService, str]) -> str:
    """A Redis of this test's own, which may be stopped."""
    return own[1]


@pytest.fixture
async def app_database_url(database_url: str, database_switch: Switch) -> str:
    parts = urlsplit(database_url)
    return parts._replace(netloc=f"{parts.netloc}127.0.0.1:{database_switch.port}", query="").geturl()


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with served(app) as address:
        yield address


@pytest.fixture
async def ann(people: People) -> User:
    return await people.user("ada")


@pytest.fixture
async def anns(people: People, ann: User) -> Secret:
    return await people.token(ann)


async def create(pool: asyncpg.Pool, owner: User) -> str:
    workspace_id = uuid4()
    await pool.execute(_NEW, workspace_id, owner.id, "garden")
    return str(workspace_id)


async def heartbeat(reader: Reader) -> None:
    event = await reader.next_of_any_kind()
    assert event is not None
    assert event.name == "heartbeat"


async def told_of_a_deletion(reader: Reader, redis_url: str, prefix: str, owner: User) -> None:
    """Events arrive: one that is sent now is the next to be read."""
    redis = connect(redis_url)
    workspace_id = uuid4()
    await PageEvents(redis, f"{prefix}:sse", IDLE_POLICY).deleted(owner.id, workspace_id)
    assert await reader.expect("workspace_deleted") == {"id": str(workspace_id)}
    await redis.aclose()


async def test_streams_outlive_redis_and_look_again_when_it_is_back(
    address: str, own: tuple[OwnService, str], pool: asyncpg.Pool, prefix: str, ann: User, anns: Secret
) -> None:
    redis, redis_url = own
    async with reading(address, anns.value) as before:
        assert await before.snapshot() == []
        await redis.stop()
        mine = await create(pool, ann)
        await heartbeat(before)
        async with reading(address, anns.value) as meanwhile:
            assert [shown["id"] for shown in await meanwhile.snapshot()] == [mine]
            await heartbeat(meanwhile)
            await redis.start()
            for reader in (before, meanwhile):
                await reader.expect("resync")
                assert [shown["id"] for shown in await reader.snapshot()] == [mine]
            await told_of_a_deletion(meanwhile, redis_url, prefix, ann)


async def test_a_redis_that_is_silent_counts_as_away(
    address: str,
    own: tuple[OwnService, str],
    pool: asyncpg.Pool,
    ann: User,
    anns: Secret,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_channels, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(page_channels, "PING_SECONDS", 0.1)
    redis, _ = own
    async with reading(address, anns.value) as reader:
        await reader.snapshot()
        await heartbeat(reader)
        redis.freeze()
        mine = await create(pool, ann)
        await heartbeat(reader)
        assert redis.process is not None
        redis.process.send_signal(signal.SIGCONT)
        await reader.expect("resync")
        assert [shown["id"] for shown in await reader.snapshot()] == [mine]


async def test_streams_outlive_the_database_and_nobody_is_thought_to_have_lost_their_right(
    address: str,
    database_switch: Switch,
    redis_url: str,
    prefix: str,
    pool: asyncpg.Pool,
    ann: User,
    anns: Secret,
) -> None:
    async with reading(address, anns.value) as reader:
        await reader.snapshot()
        await database_switch.close()
        await heartbeat(reader)
        await told_of_a_deletion(reader, redis_url, prefix, ann)
        redis = connect(redis_url)
        await PageEvents(redis, f"{prefix}:sse", IDLE_POLICY).resync()
        await redis.aclose()
        await reader.expect("resync")
        mine = await create(pool, ann)
        await heartbeat(reader)
        await database_switch.open()
        assert [shown["id"] for shown in await reader.snapshot()] == [mine]


async def test_a_life_is_followed_live_and_the_listeners_death_costs_nothing_in_the_end(
    address: str, people: People, database_url: str, redis_url: str, prefix: str
) -> None:
    async with House.open(database_url, redis_url, prefix) as house:
        token = await people.token(User(house.owner, "ann"))
        house.replica()
        async with reading(address, token.value) as reader:
            await reader.snapshot()
            mine = await house.create(Desired.RUNNING)
            await until_shown(reader, mine, "RUNNING")
            await kill_leader(database_url, "coordinator:events")
            await house.wish(mine, Desired.STANDBY)
            shown = await until_shown(reader, mine, "STANDBY")
            assert shown["explanation"]["code"] == "stopped"
            await house.wish(mine, Desired.DELETED)
            while (event := await reader.next()) is not None and event.name != "workspace_deleted":
                pass
            assert event is not None
            assert event.data == {"id": str(mine)}


async def test_an_owner_is_told_that_the_engine_does_not_answer(
    address: str, people: People, database_url: str, redis_url: str, prefix: str
) -> None:
    async with House.open(database_url, redis_url, prefix) as house:
        owner = User(house.owner, "ann")
        house.replica()
        async with reading(address, (await people.token(owner)).value) as reader:
            mine = await house.create(Desired.RUNNING)
            await until_shown(reader, mine, "RUNNING")
            house.engine.go_away()
            await house.wish(mine, Desired.STANDBY)
            async with asyncio.timeout(30):
                while (event := await reader.next()) is not None and event.name != "workspace_progress":
                    pass
            assert event is not None
            assert (event.data["waiting"], event.data["service"]) == ("service", "runtime")
            shown = (await (await people.program(owner)).get(f"/api/v1/workspaces/{mine}")).json()
            assert shown["explanation"]["code"] == "waiting_for_service"
            house.engine.come_back()
            assert (await until_shown(reader, mine, "STANDBY"))["explanation"]["code"] == "stopped"


async def until_shown(reader: Reader, workspace_id: UUID, phase: str) -> dict[str, Any]:
    """The workspace as a page shows it, when that is at rest in this phase: from events and snapshots alike."""
    async with asyncio.timeout(30):
        while (event := await reader.next()) is not None:
            shown = event.data.get("workspaces", [event.data] if event.name == "workspace_updated" else [])
            for each in shown:
                if (each["id"], each["phase"], each["operation"]) == (str(workspace_id), phase, None):
                    found: dict[str, Any] = each
                    return found
    raise AssertionError("the stream ended")
