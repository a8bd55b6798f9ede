"""What is being done about a workspace: said as it happens, not too often, and kept for those who come later."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest
from redis.asyncio import Redis

from codehub.bus.connect import connect
from codehub.bus.live_notes import LiveNotes
from codehub.bus.page_events import PageEvents
from codehub.coordinators import progress as module
from codehub.coordinators.progress import SAID_AGAIN_SECONDS, Progress
from codehub.model.plans import Waiting, WaitUntil
from codehub.model.shown import Live
from codehub.model.states import Desired, Operation, Phase, Service, Step
from codehub.runtimes.protocols import PullProgress
from tests.coordinators.ear import listening
from tests.coordinators.house import until
from tests.decide.builders import OP_ID, OWNER_ID, WORKSPACE_ID, standby, under_way
from tests.decide.shown import IDLE_POLICY, shown

PULLING = under_way(standby(desired_state=Desired.RUNNING), Operation.STARTING, Step.PULL)
AWAY = WaitUntil(None, Waiting.SERVICE, Service.RUNTIME)


@dataclass
class Pages:
    """Notes what pages are told, at a time that the test says."""

    now: float = 100.0
    said: list[tuple[UUID, UUID, Live]] = field(default_factory=list)

    async def publish(self, owner_user_id: UUID, workspace_id: UUID, live: Live) -> None:
        self.said.append((owner_user_id, workspace_id, live))


@pytest.fixture
async def pages() -> Pages:
    return Pages()


@pytest.fixture
async def progress(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Progress]:
    monkeypatch.setattr(module, "FLUSH_SECONDS", 0.001)
    progress = Progress(pages.publish, lambda: pages.now)
    task = asyncio.create_task(progress.flush_for_ever())
    yield progress
    task.cancel()
    await asyncio.wait([task])


async def said(pages: Pages) -> Live:
    """The next that pages are told, of the one workspace."""

    async def found() -> list[tuple[UUID, UUID, Live]] | None:
        return pages.said or None

    [(owner_user_id, workspace_id, live)] = await until(found, 60)
    pages.said = []
    assert (owner_user_id, workspace_id) == (OWNER_ID, WORKSPACE_ID)
    return live


async def test_a_pull_is_told_with_its_rate_and_the_time_that_is_left(progress: Progress, pages: Pages) -> None:
    progress.pulled(PULLING, PullProgress(1000, 9000))
    assert await said(pages) == Live("pull", OP_ID, 1000, 9000)
    pages.now += 4
    progress.pulled(PULLING, PullProgress(5000, 9000))
    assert await said(pages) == Live("pull", OP_ID, 5000, 9000, 1000.0, 4.0)
    pages.now += 1
    progress.pulled(PULLING, PullProgress(6000, None))
    assert await said(pages) == Live("pull", OP_ID, 6000, None, 1000.0, None)


async def test_the_next_operation_counts_anew(progress: Progress, pages: Pages) -> None:
    progress.pulled(PULLING, PullProgress(1000, 9000))
    await said(pages)
    pages.now += 4
    another = replace(PULLING, op_id=UUID(int=9))
    progress.pulled(another, PullProgress(3000, 9000))
    assert await said(pages) == Live("pull", another.op_id, 3000, 9000)


async def test_of_many_words_at_once_the_newest_is_said(pages: Pages) -> None:
    progress = Progress(pages.publish, lambda: pages.now)
    for done in range(100):
        progress.pulled(PULLING, PullProgress(done, 100))
    task = asyncio.create_task(progress.flush_for_ever())
    assert (await said(pages)).bytes == 99
    task.cancel()
    await asyncio.wait([task])


async def test_what_it_waits_for_is_said_once_and_again_before_it_is_forgotten(
    progress: Progress, pages: Pages
) -> None:
    progress.waits(PULLING, AWAY)
    assert await said(pages) == Live("wait", OP_ID, waiting=Waiting.SERVICE, service=Service.RUNTIME)
    progress.waits(PULLING, AWAY)
    progress.waits(PULLING, WaitUntil(None, Waiting.TURN))
    assert (await said(pages)).waiting is Waiting.TURN
    pages.now += SAID_AGAIN_SECONDS
    progress.waits(PULLING, WaitUntil(None, Waiting.TURN))
    assert (await said(pages)).waiting is Waiting.TURN


async def test_what_is_over_in_a_moment_is_not_said(progress: Progress, pages: Pages) -> None:
    progress.waits(PULLING, WaitUntil(None, Waiting.OBSERVATION))
    progress.waits(standby(), AWAY)
    assert await said(pages) == Live("wait", None, waiting=Waiting.SERVICE, service=Service.RUNTIME)


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    redis = connect(redis_url)
    yield redis
    await redis.aclose()


async def test_the_newest_word_is_kept_for_whoever_looks_later(redis: Redis, redis_prefix: Callable[[], str]) -> None:
    prefix = redis_prefix()
    live = Live("pull", OP_ID, 5, 10, 2.5, 2.0, Waiting.SERVICE, Service.RUNTIME, 7)
    async with listening(redis, prefix) as ear:
        await PageEvents(redis, prefix, IDLE_POLICY).progress(OWNER_ID, WORKSPACE_ID, live)
        [heard] = await ear.until_on(str(OWNER_ID))
    assert (heard.event, heard.data["id"], heard.data["bytes"]) == ("workspace_progress", str(WORKSPACE_ID), 5)
    notes = LiveNotes(redis, prefix)
    busy = shown(operation=Operation.STARTING, op_step=Step.PULL)
    assert await notes.about([busy]) == {WORKSPACE_ID: live}
    assert await notes.about([shown(phase=Phase.PENDING)]) == {WORKSPACE_ID: live}
    assert 0 < await redis.ttl(f"{prefix}:progress:{WORKSPACE_ID}") <= 60
    assert await notes.about([shown(), shown(phase=Phase.ERROR)]) == {}  # nobody works on these: nobody is asked


async def test_nothing_is_known_while_redis_is_away(redis_prefix: Callable[[], str]) -> None:
    nobody = connect("redis://127.0.0.1:1")
    assert await LiveNotes(nobody, redis_prefix()).about([shown(phase=Phase.PENDING)]) == {}
    await nobody.aclose()
