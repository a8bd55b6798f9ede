"""The collector over the API: what it would do, what it did, and what has to be confirmed."""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest

from codehub.archives.counter import leave_mark
from codehub.model.accounts import Scope
from codehub.model.mark import Mark
from codehub.model.workspace import archive_key
from tests.web.api.people import People, User
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import Owner

GC = "/api/v1/admin/gc"


@pytest.fixture
async def boss(people: People, root: User) -> httpx.AsyncClient:
    return await people.program(root, Scope.ADMIN)


async def told(client: httpx.AsyncClient, path: str = "") -> Any:  # noqa: ANN401 (any document)
    answer = await client.get(f"{GC}{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def audited(pool: asyncpg.Pool) -> list[tuple[str, str]]:
    rows = await pool.fetch("SELECT actor, action FROM audit_log WHERE action LIKE 'gc.%' ORDER BY id")
    return [(row["actor"], row["action"]) for row in rows]


async def installation(pool: asyncpg.Pool) -> str:
    found: UUID = await pool.fetchval("SELECT id FROM installation")
    return found.hex


async def halted_round(pool: asyncpg.Pool, due: int = 7) -> None:
    await pool.execute(
        "INSERT INTO gc_rounds (began_at, ended_at, due, halted) VALUES (now(), now(), $1, 'too much')", due
    )


async def test_a_new_installation_has_no_rounds_and_no_alarms(boss: httpx.AsyncClient) -> None:
    assert await told(boss) == {"alarms": [], "last_round": None, "next_round_at": None}
    assert await told(boss, "/rounds") == {"items": []}
    assert (await boss.get(f"{GC}/rounds/{uuid4()}")).status_code == 404


async def test_a_round_that_is_asked_for_is_written_down_for_the_collector(
    boss: httpx.AsyncClient, pool: asyncpg.Pool
) -> None:
    asked = await boss.post(f"{GC}/rounds")
    assert asked.status_code == 202
    assert asked.json()["asked_by"] == "root"
    assert asked.json()["ended_at"] is None
    assert (await boss.get(asked.headers["Location"])).json() == asked.json()
    assert (await boss.post(f"{GC}/rounds")).json()["id"] == asked.json()["id"]
    assert [each["id"] for each in (await told(boss, "/rounds"))["items"]] == [asked.json()["id"]]
    assert await audited(pool) == [("root", "gc.round")] * 2


async def test_a_preview_names_what_would_go_and_why_the_rest_stays(
    boss: httpx.AsyncClient, ada: Owner, shelf: Shelf, pool: asyncpg.Pool
) -> None:
    workspace = await ada.create()
    await shelf.put(workspace)
    orphans = sorted(archive_key(UUID(workspace["id"]), uuid4()) for _ in range(2))
    for key in orphans:
        await shelf.store.put(key, b"given up")
    await pool.execute(
        "INSERT INTO orphans (kind, key, workspace_id, first_seen) VALUES ('archive', $1, $2, '2026-01-01Z')",
        orphans[0],
        UUID(workspace["id"]),
    )
    found = await told(boss, "/preview")
    assert [(each["kind"], each["key"]) for each in found["take"]] == [("archive", orphans[0])]
    assert found["take"][0]["unprotected_since"].startswith("2026-01-01T")
    assert [(each["key"], each["unprotected_since"]) for each in found["wait"]] == [(orphans[1], None)]
    assert (found["seen"], found["kept"], found["halted"]) == (3, {"it is the current archive": 1}, None)
    assert {each.key async for each in shelf.store.list()} >= set(orphans)
    assert await pool.fetchval("SELECT count(*) FROM orphans") == 1


async def test_a_halted_round_is_an_alarm_until_it_is_confirmed(boss: httpx.AsyncClient, pool: asyncpg.Pool) -> None:
    await halted_round(pool)
    assert (await told(boss))["alarms"] == [{"code": "round_halted", "why": "too much"}]
    confirmed = await boss.post(f"{GC}/confirm", json={"alarm": "round_halted"})
    assert confirmed.status_code == 200
    assert confirmed.json()["ended_at"] is None  # the round that follows
    assert (await told(boss))["alarms"] == []
    again = await boss.post(f"{GC}/confirm", json={"alarm": "round_halted"})
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_confirm")
    assert await audited(pool) == [("root", "gc.confirm")]


async def test_only_the_last_round_can_be_confirmed(boss: httpx.AsyncClient, pool: asyncpg.Pool) -> None:
    await halted_round(pool)
    await pool.execute("INSERT INTO gc_rounds (began_at, ended_at) VALUES (now(), now() + interval '1 hour')")
    assert (await told(boss))["alarms"] == []
    assert (await boss.post(f"{GC}/confirm", json={"alarm": "round_halted"})).status_code == 409


async def test_a_database_that_is_older_than_the_store_is_an_alarm_until_it_is_confirmed(
    boss: httpx.AsyncClient, shelf: Shelf, pool: asyncpg.Pool
) -> None:
    await pool.execute("INSERT INTO orphans (kind, key, workspace_id) VALUES ('archive', 'noted', $1)", uuid4())
    assert (await boss.post(f"{GC}/confirm", json={"alarm": "database_is_old"})).status_code == 409
    mark = Mark(uuid4(), 12)
    await leave_mark(shelf.store, await installation(pool), mark)
    (alarm,) = (await told(boss))["alarms"]
    assert alarm["code"] == "database_is_old"
    assert "counter 12 there, 0 here" in alarm["why"]
    confirmed = await boss.post(f"{GC}/confirm", json={"alarm": "database_is_old"})
    assert confirmed.status_code == 200, confirmed.text
    assert (await told(boss))["alarms"] == []
    assert await pool.fetchval("SELECT value FROM home_counter") == 12
    assert await pool.fetchval("SELECT count(*) FROM orphans") == 0  # every grace begins anew
    assert (await boss.post(f"{GC}/confirm", json={"alarm": "database_is_old"})).status_code == 409


async def test_a_confirmation_that_is_sent_again_confirms_nothing_more(
    boss: httpx.AsyncClient, pool: asyncpg.Pool
) -> None:
    await halted_round(pool)
    key = {"Idempotency-Key": "the-same"}
    first = await boss.post(f"{GC}/confirm", json={"alarm": "round_halted"}, headers=key)
    following = "began_at = now(), ended_at = now() + interval '1 hour', due = 9, halted = 'again'"
    await pool.execute(f"UPDATE gc_rounds SET {following} WHERE ended_at IS NULL")  # noqa: S608
    second = await boss.post(f"{GC}/confirm", json={"alarm": "round_halted"}, headers=key)
    assert second.json() == first.json()
    assert (await told(boss))["alarms"] == [{"code": "round_halted", "why": "again"}]


async def test_a_store_that_is_away_is_told_and_hides_nothing_else(
    boss: httpx.AsyncClient, archives: Path, pool: asyncpg.Pool
) -> None:
    await halted_round(pool)
    await asyncio.to_thread(archives.rename, archives.with_name("not mounted"))
    assert [each["code"] for each in (await told(boss))["alarms"]] == ["archive_store_away", "round_halted"]
    away = await boss.get(f"{GC}/preview")
    assert (away.status_code, away.json()["code"]) == (503, "archive_store_away")
    assert (await boss.post(f"{GC}/confirm", json={"alarm": "database_is_old"})).status_code == 503
