"""Changes of rows become hints and events for pages, as coordination.md says in its table."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text, update

from codehub.bus.hints import Hints
from codehub.bus.page_events import PageEvents
from codehub.coordinators.event_listener import EventListener
from codehub.coordinators.supervisor import Supervisor, Terms
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.store.feed import PostgresFeed
from codehub.store.protocols import Seat
from codehub.store.seat import PostgresSeat
from codehub.store.tables import workspaces
from tests.coordinators.ear import Ear, listening
from tests.coordinators.house import IDLE_POLICY, House
from tests.coordinators.sessions import kill_leader

OBSERVER, CONTROLLER, EVERYBODY = "wake:ob", "wake:wc", "sse:all"


class CountingFeed(PostgresFeed):
    """Notes how many rows each query was about."""

    def __init__(self, seat: PostgresSeat, queries: list[int]) -> None:
        super().__init__(seat)
        self.queries = queries

    async def shown(self, ids: Sequence[UUID]) -> Sequence[ShownWorkspace]:
        self.queries.append(len(ids))
        return await super().shown(ids)


@dataclass
class Post:
    """An installation in which nobody works but the EventListener."""

    house: House
    ear: Ear
    queries: list[int] = field(default_factory=list)

    @property
    def page(self) -> str:
        return f"sse:{self.house.owner}"

    def open_store(self, seat: Seat) -> CountingFeed:
        assert isinstance(seat, PostgresSeat)
        return CountingFeed(seat, self.queries)

    async def change(self, workspace_id: UUID, values: dict[str, str]) -> None:
        async with self.house.pool.begin() as connection:
            await connection.execute(update(workspaces).where(workspaces.c.id == workspace_id).values(values))

    async def settle(self, workspace_id: UUID) -> None:
        """Wait until what the insert says has been heard, then forget it."""
        await self.ear.until_on(OBSERVER, 2)
        await self.ear.until_on(self.page)
        assert {said.text for said in self.ear.on(OBSERVER)} == {"", str(workspace_id)}
        self.ear.heard.clear()


async def nobody_competes() -> bool:
    return False


@pytest.fixture
async def post(house: House) -> AsyncIterator[Post]:
    async with listening(house.redis, house.prefix) as ear:
        post = Post(house, ear)
        listener = EventListener(
            post.open_store,
            Hints(house.redis, f"{house.prefix}:wake"),
            PageEvents(house.redis, f"{house.prefix}:sse", IDLE_POLICY),
        )
        supervisor = Supervisor(
            [listener],
            lambda lock_name: PostgresSeat.take(house.database_url, lock_name, "first", 3.0),
            nobody_competes,
            Terms(3.0, 0.05, 0.0),
        )
        task = asyncio.create_task(supervisor.run())
        await ear.until_on(EVERYBODY)
        yield post
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_at_the_start_everybody_looks_for_themselves(post: Post) -> None:
    assert [said.text for said in post.ear.on(OBSERVER)] == [""]
    assert [said.text for said in post.ear.on(CONTROLLER)] == [""]
    assert [said.event for said in post.ear.on(EVERYBODY)] == ["resync"]


async def test_a_new_workspace_wakes_both_and_is_shown_whole_to_its_owner(post: Post) -> None:
    workspace_id = await post.house.create()
    (said,) = await post.ear.until_on(post.page)
    assert said.event == "workspace_updated"
    assert (said.data["id"], said.data["desired_state"]) == (str(workspace_id), "RUNNING")
    for channel in (OBSERVER, CONTROLLER):
        assert [said.text for said in await post.ear.until_on(channel, 2)] == ["", str(workspace_id)]


async def test_a_wish_wakes_both_and_is_shown(post: Post) -> None:
    workspace_id = await post.house.create()
    await post.settle(workspace_id)
    await post.house.wish(workspace_id, Desired.STANDBY)
    (said,) = await post.ear.until_on(post.page)
    assert said.data["desired_state"] == "STANDBY"
    assert [said.text for said in await post.ear.until_on(OBSERVER)] == [str(workspace_id)]
    assert [said.text for said in await post.ear.until_on(CONTROLLER)] == [str(workspace_id)]


@pytest.mark.parametrize(
    "values",
    [{"phase": "STANDBY", "home_volume": "home"}, {"name": "other"}, {"description": "other"}, {"memo": "other"}],
)
async def test_what_only_people_want_to_know_wakes_nobody(post: Post, values: dict[str, str]) -> None:
    workspace_id = await post.house.create()
    await post.settle(workspace_id)
    await post.change(workspace_id, values)
    (said,) = await post.ear.until_on(post.page)
    assert said.event == "workspace_updated"
    assert {said.channel for said in post.ear.heard} == {post.page}


async def test_a_deleted_workspace_is_taken_from_the_page_and_wakes_both(post: Post) -> None:
    workspace_id = await post.house.create()
    await post.settle(workspace_id)
    await post.house.wish(workspace_id, Desired.DELETED)
    await post.ear.until_on(OBSERVER)
    await post.ear.until_on(CONTROLLER)
    (said,) = await post.ear.until_on(post.page)
    assert (said.event, said.data) == ("workspace_deleted", {"id": str(workspace_id)})


async def test_a_burst_is_read_in_few_queries(post: Post) -> None:
    ids = [uuid4() for _ in range(200)]
    async with post.house.pool.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state)"
                " SELECT id, :owner, id::text, :template, 'STANDBY' FROM unnest(CAST(:ids AS uuid[])) AS id"
            ),
            {"ids": ids, "owner": post.house.owner, "template": post.house.template},
        )
    shown = await post.ear.until_on(post.page, len(ids))
    assert {said.data["id"] for said in shown} == {str(each) for each in ids}
    assert sum(post.queries) == len(ids)
    assert len(post.queries) <= 5


async def test_after_a_takeover_everybody_looks_again_and_nothing_is_missed_from_then_on(post: Post) -> None:
    await kill_leader(post.house.database_url, "coordinator:events")
    await post.ear.until_on(EVERYBODY, 2)
    await post.ear.until_on(OBSERVER, 2)
    await post.ear.until_on(CONTROLLER, 2)
    workspace_id = await post.house.create()
    (said,) = await post.ear.until_on(post.page)
    assert said.data["id"] == str(workspace_id)
