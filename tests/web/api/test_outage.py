"""Services that go while people work: answers are successes or 503, and everything recovers by itself."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from fastapi import FastAPI

from codehub.archives.open import open_store
from codehub.settings import Settings
from codehub.stack.account import Account
from codehub.web.app import Dependencies, create_app
from tests.coordinators.own_service import OwnService, own_redis
from tests.web.api.workspaces import ROOT, Owner
from tests.web.switch import Switch

READERS = 8


@pytest.fixture
def app_database_url(database_url: str, database_switch: Switch) -> str:
    parts = urlsplit(database_url)
    return parts._replace(netloc=f"{parts.netloc}127.0.0.1:{database_switch.port}", query="").geturl()


@pytest.fixture
async def redis_of_its_own(services_folder: Path, account: Account) -> AsyncIterator[tuple[OwnService, str]]:
    folder = services_folder / f"redis-{uuid4().hex[:8]}"
    folder.mkdir(mode=0o711)
    async with own_redis(folder, account) as redis:
        yield redis


@pytest.fixture
async def app(
    settings: Settings, app_database_url: str, redis_of_its_own: tuple[OwnService, str], archives: Path
) -> AsyncIterator[FastAPI]:
    app = create_app(settings, Dependencies(app_database_url, redis_of_its_own[1], open_store(archives.as_uri())))
    async with app.router.lifespan_context(app):
        yield app


class Load:
    """People who read, list, change and wish without a pause."""

    def __init__(self, owner: Owner, garden: dict[str, str]) -> None:
        self._asks: list[Callable[[], Awaitable[object]]] = [
            lambda: self._ask(owner.get(garden)),
            lambda: self._ask(owner.client.get(ROOT)),
            lambda: self._ask(owner.patch(garden, memo="x")),
            lambda: self._ask(owner.post(garden, "start", headers={"Idempotency-Key": uuid4().hex})),
            lambda: self._ask(owner.post(garden, "stop")),
        ]
        self.seen: Counter[int] = Counter()
        self.over = False

    async def _ask(self, asking: Awaitable[object]) -> None:
        answer = await asking
        status: int = answer.status_code  # type: ignore[attr-defined]
        self.seen[status] += 1

    async def work(self, number: int) -> None:
        while not self.over:
            number += 1
            await self._asks[number % len(self._asks)]()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.02)


async def test_while_the_database_is_away_every_answer_is_503_and_it_is_used_again_when_it_is_back(
    ada: Owner, database_switch: Switch
) -> None:
    load = Load(ada, await ada.create("garden"))
    async with asyncio.TaskGroup() as people:
        for number in range(READERS):
            people.create_task(load.work(number))
        await load.until(lambda: sum(load.seen.values()) > 50)
        await database_switch.close()
        await load.until(lambda: load.seen[503] > 50)
        load.seen.clear()
        await load.until(lambda: load.seen[503] > 20)
        assert set(load.seen) == {503}
        await database_switch.open()
        load.seen.clear()
        await load.until(lambda: load.seen[200] > 20 and load.seen[202] > 5)
        load.over = True
    assert set(load.seen) <= {200, 202, 503}
    assert (await ada.get(await ada.create("orchard"))).status_code == 200


async def test_without_redis_workspaces_are_read_and_changed_as_before(
    ada: Owner, redis_of_its_own: tuple[OwnService, str]
) -> None:
    load = Load(ada, await ada.create("garden"))
    async with asyncio.TaskGroup() as people:
        for number in range(READERS):
            people.create_task(load.work(number))
        await load.until(lambda: sum(load.seen.values()) > 50)
        await redis_of_its_own[0].stop()
        before = sum(load.seen.values())
        await load.until(lambda: sum(load.seen.values()) > before + 100)
        await redis_of_its_own[0].start()
        load.over = True
    assert set(load.seen) <= {200, 202}
