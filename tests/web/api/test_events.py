"""Live events: a snapshot first, then everything that happens to the caller's workspaces, and to nobody else's."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from codehub.bus import page_channels
from codehub.bus.connect import connect
from codehub.bus.page_events import PageEvents
from codehub.model.accounts import Role, Scope
from codehub.model.shown import Live
from codehub.settings import Settings
from codehub.settings.idle_times import idle_policy
from codehub.store.pages import PAGE
from codehub.store.shown import SHOWN_SQL, to_shown
from codehub.web import streams as web_streams
from tests.web.api.people import People, Secret, User
from tests.web.api.served import Reader, reading, served

_NEW = """
    INSERT INTO workspaces (id, owner_user_id, name, desired_state)
    SELECT gen_random_uuid(), $1, number::text, 'STANDBY' FROM generate_series(1, $2) AS number RETURNING id
"""

_PULLING = """
    UPDATE workspaces
    SET phase = 'STANDBY', desired_state = 'RUNNING', home_volume = 'home', operation = 'STARTING', op_step = 'pull',
        op_id = $2, op_clock_at = clock_timestamp(), op_started_at = clock_timestamp()
    WHERE id = $1
"""


class Desk:
    """Somebody who changes workspaces, and tells of it as the EventListener does."""

    def __init__(self, pool: asyncpg.Pool, pages: PageEvents) -> None:
        self.pool = pool
        self.pages = pages

    async def create(self, owner: User, number: int = 1) -> list[UUID]:
        return [row["id"] for row in await self.pool.fetch(_NEW, owner.id, number)]

    async def tell(self, workspace_id: UUID) -> None:
        row = await self.pool.fetchrow(f"{SHOWN_SQL} WHERE workspaces.id = $1", workspace_id)
        await self.pages.updated([to_shown(row)])

    async def rename(self, workspace_id: UUID, name: str) -> None:
        await self.pool.execute("UPDATE workspaces SET name = $2 WHERE id = $1", workspace_id, name)
        await self.tell(workspace_id)


@pytest.fixture
def prefix(redis_prefix: Callable[[], str]) -> str:
    return redis_prefix()


@pytest.fixture
def settings(tmp_path: Path, prefix: str) -> Settings:
    names = {"CODEHUB_DATA_DIR": str(tmp_path), "REDIS_CHANNEL_SSE_PREFIX": prefix, "AUTH_CACHE_SECONDS": "0.2"}
    return Settings.load({**names, "SSE_HEARTBEAT_SECONDS": "1"}, tmp_path)


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    async with served(app) as address:
        yield address


@pytest.fixture
async def desk(pool: asyncpg.Pool, redis_url: str, prefix: str, settings: Settings) -> AsyncIterator[Desk]:
    redis = connect(redis_url)
    yield Desk(pool, PageEvents(redis, prefix, idle_policy(settings)))
    await redis.aclose()


@pytest.fixture
async def ann(people: People) -> User:
    return await people.user("ann")


@pytest.fixture
async def anns(people: People, ann: User) -> Secret:
    return await people.token(ann, Scope.READ)


async def test_the_snapshot_comes_first_and_changes_follow(address: str, desk: Desk, ann: User, anns: Secret) -> None:
    [mine] = await desk.create(ann)
    async with reading(address, anns.value) as reader:
        [shown] = await reader.snapshot()
        assert (shown["id"], shown["owner"]["login"], shown["name"]) == (str(mine), "ann", "1")
        await desk.rename(mine, "garden")
        updated = await reader.expect("workspace_updated")
        assert updated == {**shown, "name": "garden", "revision": 2, "updated_at": updated["updated_at"]}
        await desk.pages.deleted(ann.id, mine)
        assert await reader.expect("workspace_deleted") == {"id": str(mine)}
        assert reader.retry is not None


async def test_it_is_an_event_stream_that_nobody_in_between_keeps_or_holds_back(address: str, anns: Secret) -> None:
    async with reading(address, anns.value) as reader:
        headers = reader.answer.headers
        assert headers["content-type"].startswith("text/event-stream")
        assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
        assert "content-length" not in headers
        assert headers["x-content-type-options"] == "nosniff"


async def test_while_nothing_happens_the_stream_beats_and_its_events_are_numbered(address: str, anns: Secret) -> None:
    async with reading(address, anns.value) as reader:
        await reader.snapshot()
        beats = [await reader.next_of_any_kind() for _ in range(2)]
        assert [(beat.name, beat.data) for beat in beats if beat is not None] == [("heartbeat", {})] * 2
        assert len({beat.id for beat in beats if beat is not None}) == 2


async def test_two_people_never_see_each_others_events(address: str, desk: Desk, people: People, ann: User) -> None:
    bob = await people.user("bob")
    async with (
        reading(address, (await people.token(ann)).value) as hers,
        reading(address, (await people.token(bob)).value) as his,
    ):
        assert (await hers.snapshot(), await his.snapshot()) == ([], [])
        [mine], [his_own] = await desk.create(ann), await desk.create(bob)
        for _ in range(10):
            await desk.tell(mine)
            await desk.tell(his_own)
            await desk.pages.progress(ann.id, mine, Live("pull"))
            await desk.pages.deleted(bob.id, his_own)
        for _ in range(10):
            assert (await hers.expect("workspace_updated"))["id"] == str(mine)
            assert (await hers.expect("workspace_progress"))["id"] == str(mine)
            assert (await his.expect("workspace_updated"))["id"] == str(his_own)
            assert (await his.expect("workspace_deleted"))["id"] == str(his_own)


async def test_an_administrator_sees_their_own_and_everybodys_only_when_asked_for(
    address: str, desk: Desk, people: People, ann: User
) -> None:
    chief = await people.administrator("chief")
    token = await people.token(chief, Scope.ADMIN)
    [theirs], [hers] = await desk.create(chief), await desk.create(ann)
    async with reading(address, token.value) as own, reading(address, token.value, all="true") as everyones:
        assert [shown["id"] for shown in await own.snapshot()] == [str(theirs)]
        assert {shown["id"] for shown in await everyones.snapshot()} == {str(theirs), str(hers)}
        await desk.tell(hers)
        await desk.tell(theirs)
        assert [(await everyones.expect("workspace_updated"))["id"] for _ in range(2)] == [str(hers), str(theirs)]
        assert (await own.expect("workspace_updated"))["id"] == str(theirs)
        await desk.pages.resync()
        await everyones.expect("resync")
        assert len(await everyones.snapshot()) == 2
        await desk.tell(hers)
        await everyones.expect("workspace_updated")


async def test_who_may_not_see_everybodys_is_refused(address: str, people: People, ann: User) -> None:
    chief = await people.administrator()
    for user, scope in ((ann, Scope.ADMIN), (chief, Scope.WORKSPACES)):
        headers = {"Authorization": f"Bearer {(await people.token(user, scope)).value}"}
        async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
            answer = await client.get("/api/v1/events", headers=headers, params={"all": "true"})
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


async def test_many_workspaces_come_in_parts_and_none_is_left_out(
    address: str, desk: Desk, ann: User, anns: Secret
) -> None:
    made = await desk.create(ann, 2 * PAGE + 1)
    async with reading(address, anns.value) as reader:
        assert {shown["id"] for shown in await reader.snapshot()} == {str(each) for each in made}


async def test_whoever_comes_late_is_told_how_far_it_is(address: str, desk: Desk, ann: User, anns: Secret) -> None:
    """An answer waits for Redis for a moment only, and says nothing of this where that is too short: so it is asked
    again."""
    [mine] = await desk.create(ann)
    op_id = uuid4()
    await desk.pool.execute(_PULLING, mine, op_id)
    await desk.pages.progress(ann.id, mine, Live("pull", op_id, 5, 10, 2.5, 2.0))
    async with asyncio.timeout(60):
        while (shown := await _only_one(address, anns))["operation"]["progress"] is None:
            await asyncio.sleep(0.1)
        progress = shown["operation"]["progress"]
        assert (progress["stage"], progress["bytes"], progress["total"]) == ("pull", 5, 10)
        assert shown["explanation"]["doing"]["progress"] == progress
        async with reading(address, anns.value) as reader:
            await reader.snapshot()
            await desk.tell(mine)
            while (await reader.expect("workspace_updated"))["operation"]["progress"] != progress:
                await asyncio.sleep(0.1)
                await desk.tell(mine)


async def _only_one(address: str, secret: Secret) -> dict[str, Any]:
    async with reading(address, secret.value) as reader:
        [shown] = await reader.snapshot()
        return shown


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM api_tokens WHERE user_id = $1",
        "UPDATE users SET disabled = true WHERE id = $1",
        "UPDATE api_tokens SET expires_at = clock_timestamp() WHERE user_id = $1",
    ],
)
async def test_whoever_may_no_longer_read_is_cut_off(
    address: str, desk: Desk, people: People, ann: User, anns: Secret, loss: str
) -> None:
    bob = await people.user()
    async with reading(address, anns.value) as hers, reading(address, (await people.token(bob)).value) as his:
        await hers.snapshot()
        await his.snapshot()
        await desk.pool.execute(loss, ann.id)
        assert await hers.next() is None
        await desk.pages.deleted(bob.id, uuid4())
        await his.expect("workspace_deleted")


async def test_who_is_no_longer_an_administrator_sees_no_more_of_others(
    address: str, desk: Desk, people: People
) -> None:
    chief = await people.administrator()
    token = await people.token(chief, Scope.ADMIN)
    async with reading(address, token.value) as own, reading(address, token.value, all="true") as everyones:
        await own.snapshot()
        await everyones.snapshot()
        await desk.pool.execute("UPDATE users SET role = $2 WHERE id = $1", chief.id, Role.USER)
        assert await everyones.next() is None
        await desk.pages.deleted(chief.id, uuid4())
        await own.expect("workspace_deleted")


async def test_a_browser_with_a_session_is_served_and_cut_off_when_it_logs_out(
    app: FastAPI, address: str, desk: Desk, people: People, ann: User
) -> None:
    session = await people.session(ann)
    cookies = {app.state.callers.cookie_name: session.value}
    async with (
        httpx.AsyncClient(base_url=address, cookies=cookies, trust_env=False) as client,
        client.stream("GET", "/api/v1/events") as answer,
    ):
        reader = Reader(answer)
        await reader.snapshot()
        await desk.pool.execute("DELETE FROM sessions WHERE id = $1", session.id)
        assert await reader.next() is None


async def test_nobody_gets_a_stream_without_saying_who_they_are(address: str) -> None:
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
        assert (await client.get("/api/v1/events")).status_code == 401


async def test_a_resync_brings_a_new_snapshot_by_itself(address: str, desk: Desk, ann: User, anns: Secret) -> None:
    async with reading(address, anns.value) as reader:
        assert await reader.snapshot() == []
        [mine] = await desk.create(ann)
        await desk.pages.resync()
        await reader.expect("resync")
        assert [shown["id"] for shown in await reader.snapshot()] == [str(mine)]


async def test_a_reader_that_falls_behind_is_cut_off_and_nobody_else_is(
    app: FastAPI, address: str, desk: Desk, people: People, ann: User, anns: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_streams, "WAITING_EVENTS", 8)
    bob = await people.user()
    [mine] = await desk.create(ann)
    await desk.pool.execute("UPDATE workspaces SET description = repeat('x', 100000) WHERE id = $1", mine)
    async with reading(address, anns.value) as slow, reading(address, (await people.token(bob)).value) as quick:
        await slow.snapshot()
        await quick.snapshot()
        async with asyncio.timeout(60):
            while str(ann.id) in app.state.parts.streams._open:  # she reads nothing more
                if not any(stream.is_over for stream in app.state.parts.streams._open[str(ann.id)]):
                    await desk.tell(mine)
                else:
                    break
        await desk.pages.deleted(bob.id, uuid4())
        await quick.expect("workspace_deleted")
        seen = 0
        while await slow.next() is not None:
            seen += 1
        assert seen > 0
    assert app.state.process.metrics.registry.get_sample_value("codehub_streams_cut_total") == 1


async def test_channels_are_heard_only_while_somebody_reads_them(
    address: str, desk: Desk, ann: User, anns: Secret, redis_url: str, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_channels, "PING_SECONDS", 0.05)
    redis = connect(redis_url)

    async def until_heard_by(number: int) -> None:
        async with asyncio.timeout(60):
            while (await redis.pubsub_numsub(f"{prefix}:{ann.id}"))[0][1] != number:
                await asyncio.sleep(0.01)

    for _ in range(2):
        async with reading(address, anns.value) as first, reading(address, anns.value) as second:
            for reader in (first, second):
                await reader.snapshot()
            await until_heard_by(1)
            await desk.pages.deleted(ann.id, uuid4())
            for reader in (first, second):
                await reader.expect("workspace_deleted")
        await until_heard_by(0)
    await redis.aclose()


async def test_the_end_of_the_process_ends_all_streams_in_order(app: FastAPI, address: str, anns: Secret) -> None:
    async with reading(address, anns.value) as reader:
        await reader.snapshot()
        app.state.parts.streams.close_all()
        assert await reader.next() is None


async def test_open_streams_hold_no_connection_of_the_database(
    app: FastAPI, address: str, people: People, desk: Desk
) -> None:
    async with AsyncExitStack() as stack:
        users = [await people.user() for _ in range(30)]
        tokens = [await people.token(each) for each in users]
        readers = [await stack.enter_async_context(reading(address, each.value)) for each in tokens]
        for reader in readers:
            await reader.snapshot()
        reads: asyncpg.Pool = app.state.parts.reads.pool
        async with asyncio.timeout(60):
            while reads.get_idle_size() < reads.get_size():
                await asyncio.sleep(0.01)
        made = [await desk.create(each) for each in users]
        for [workspace_id] in made:
            await desk.tell(workspace_id)
        shown = [await reader.expect("workspace_updated") for reader in readers]
        assert [each["id"] for each in shown] == [str(workspace_id) for [workspace_id] in made]
    async with asyncio.timeout(60):
        while app.state.parts.streams._open:
            await asyncio.sleep(0.01)
