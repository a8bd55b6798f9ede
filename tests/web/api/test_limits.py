"""Limits: exact, whoever asks at the same time and through whichever process.

`CODEHUB_TEST_ROUNDS=100` repeats the race a hundred times."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from codehub.archives.open import open_store
from codehub.model.states import ErrorReason, Phase
from codehub.settings import Settings
from codehub.web.app import Dependencies, create_app
from tests.web.api.people import People, User
from tests.web.api.workspaces import ROOT, Owner

ROUNDS = int(os.environ.get("CODEHUB_TEST_ROUNDS", "3"))
CROWD = 50


@pytest.fixture
async def twin(
    settings: Settings, database_url: str, redis_url: str, archives: Path, pool: asyncpg.Pool, user: User
) -> AsyncIterator[Owner]:
    """The same person at a second process of the installation."""
    app: FastAPI = create_app(settings, Dependencies(database_url, redis_url, open_store(archives.as_uri())))
    async with app.router.lifespan_context(app), contextlib.AsyncExitStack() as clients:
        yield Owner(await People(app, pool, clients).program(user), pool)


def codes(answers: list[httpx.Response]) -> dict[int, int]:
    return {status: [each.status_code for each in answers].count(status) for status in {a.status_code for a in answers}}


@pytest.mark.timeout(1800)
async def test_of_fifty_who_start_at_once_exactly_two_succeed(ada: Owner, twin: Owner) -> None:
    crowd = [await ada.create() for _ in range(CROWD)]
    for _ in range(ROUNDS):
        starts = [(twin if number % 2 else ada).post(each, "start") for number, each in enumerate(crowd)]
        assert codes(await asyncio.gather(*starts)) == {202: 2, 429: CROWD - 2}
        assert await ada.count("workspaces WHERE desired_state = 'RUNNING'") == 2
        await ada.pool.execute("UPDATE workspaces SET desired_state = 'STANDBY'")


async def test_every_way_to_ask_for_running_takes_from_the_same_places(ada: Owner, twin: Owner) -> None:
    asleep = [await ada.create() for _ in range(8)]
    failed = [await ada.create() for _ in range(4)]
    await ada.pool.execute("UPDATE workspaces SET desired_state = 'STANDBY'")
    for each in failed:
        await ada.pool.execute("UPDATE workspaces SET desired_state = 'RUNNING' WHERE id = $1", each["id"])
        await ada.becomes(each, Phase.ERROR, ErrorReason.TIMEOUT)
    answers = await asyncio.gather(
        *(ada.post(each, "start") for each in asleep[:4]),
        *(twin.patch(each, desired_state="RUNNING") for each in asleep[4:]),
        *(twin.post(each, "recover") for each in failed),
        *(ada.ask_for(desired="RUNNING") for _ in range(4)),
    )
    assert sum(each.status_code < 300 for each in answers) == 2
    assert {each.status_code for each in answers} <= {201, 202, 429}


async def test_who_is_refused_is_told_the_limit_and_what_runs(ada: Owner) -> None:
    running = [await ada.create(name, "RUNNING") for name in ("apple", "beech")]
    refused = await ada.ask_for(desired="RUNNING")
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["limit"], problem["everybody"]) == (
        429,
        "limit_reached",
        2,
        False,
    )
    assert problem["running"] == [{"id": each["id"], "name": each["name"]} for each in running]
    assert int(refused.headers["retry-after"]) > 0
    assert await ada.count("workspaces") == 2


async def test_a_place_is_free_again_when_one_is_stopped_deleted_or_in_error(ada: Owner) -> None:
    first, second = await ada.create(desired="RUNNING"), await ada.create(desired="RUNNING")
    await ada.post(first, "stop")
    third = await ada.create(desired="RUNNING")
    await ada.delete(second)
    fourth = await ada.create(desired="RUNNING")
    await ada.becomes(third, Phase.ERROR, ErrorReason.TIMEOUT)
    await ada.create(desired="RUNNING")
    assert (await ada.post(third, "recover")).status_code == 429
    await ada.post(fourth, "stop")
    assert (await ada.post(third, "recover")).status_code == 202
    assert (await ada.ask_for(desired="RUNNING")).status_code == 429


@pytest.mark.parametrize(("own", "allowed"), [(0, 0), (1, 1), (4, 4)])
async def test_a_limit_of_ones_own_counts_for_oneself_and_for_whoever_acts_for_one(
    people: People, ada: Owner, user: User, own: int, allowed: int
) -> None:
    await ada.pool.execute("UPDATE users SET max_running = $2 WHERE id = $1", user.id, own)
    boss = await people.browser(await people.administrator())
    workspaces = [await ada.create() for _ in range(5)]
    answers = [await boss.post(f"{ROOT}/{each['id']}/start") for each in workspaces]
    assert [each.status_code for each in answers] == [202] * allowed + [429] * (5 - allowed)
    limits: dict[str, Any] = (await boss.get("/api/v1/admin/limits")).json()
    assert limits == {
        "max_running_per_user": 2,
        "max_running_global": 100,
        "running": allowed,
        "users_with_own_limit": 1,
    }


class TestOfEverybody:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        limits = settings.limits.model_copy(update={"max_running_global": 3})
        return settings.model_copy(update={"limits": limits})

    async def test_the_limit_of_all_is_exact_across_users_and_names_nobodys_but_ones_own(
        self, people: People, ada: Owner
    ) -> None:
        others = [Owner(await people.program(await people.user()), ada.pool) for _ in range(5)]
        answers = await asyncio.gather(*(each.ask_for(desired="RUNNING") for each in [ada, *others] * 2))
        refused = [each.json() for each in answers if each.status_code == 429]
        assert len(refused) == len(answers) - 3
        names = {each.json()["name"] for each in answers if each.status_code == 201}
        assert all(each["everybody"] and each["limit"] == 3 for each in refused if len(each["running"]) < 2)
        assert all(len(each["running"]) <= 2 for each in refused)
        assert {one["name"] for each in refused for one in each["running"]} <= names
