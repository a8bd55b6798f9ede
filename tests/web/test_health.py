"""`/healthz` and `/readyz`: alive is not ready, and each part is named."""

import asyncio
from pathlib import Path

import asyncpg
import httpx
import structlog

from tests.web.switch import Switch


async def until_ready_is(client: httpx.AsyncClient, status: str) -> httpx.Response:
    """Ask until the answer has this status; older answers are repeated for a second."""
    async with asyncio.timeout(60):
        while True:
            answer = await client.get("/readyz")
            if answer.json()["status"] == status:
                return answer
            await asyncio.sleep(0.05)


def unmount(folder: Path) -> None:
    folder.rename(folder.with_name("unmounted"))


async def test_a_living_process_says_so(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
    assert answer.headers["cache-control"] == "no-store"


async def test_each_part_is_named_with_its_latency_and_what_it_is(client: httpx.AsyncClient) -> None:
    answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ready"
    checks = answer.json()["checks"]
    assert set(checks) == {"database", "database disk", "redis", "archive store"}
    assert all(check["ok"] and check["latency_ms"] > 0 and check["detail"] for check in checks.values())


async def test_without_the_database_it_is_alive_but_not_ready_until_the_database_is_back(
    client: httpx.AsyncClient, database_switch: Switch
) -> None:
    await database_switch.close()
    away = await until_ready_is(client, "unavailable")
    assert away.status_code == 503
    assert int(away.headers["retry-after"]) > 0
    assert not away.json()["checks"]["database"]["ok"]
    assert away.json()["checks"]["redis"]["ok"]
    assert (await client.get("/healthz")).status_code == 200
    await database_switch.open()
    assert (await until_ready_is(client, "ready")).status_code == 200


async def test_without_the_archive_store_it_runs_on_and_says_so(client: httpx.AsyncClient, archives: Path) -> None:
    unmount(archives)
    answer = await until_ready_is(client, "degraded")
    assert answer.status_code == 200
    assert not answer.json()["checks"]["archive store"]["ok"]


async def test_a_database_of_another_schema_is_not_ready(client: httpx.AsyncClient, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("UPDATE alembic_version SET version_num = 'from_the_future'")
    await connection.close()
    answer = await until_ready_is(client, "unavailable")
    assert answer.json()["checks"]["database"]["remedy"] == "Upgrade this codehub."


async def test_many_who_ask_at_once_cost_the_database_one_look(
    client: httpx.AsyncClient, database_switch: Switch
) -> None:
    answers = await asyncio.gather(*(client.get("/readyz") for _ in range(50)))
    assert len({answer.content for answer in answers}) == 1
    assert database_switch.taken <= 4  # for the server, for the schema, for the disk, and one that is kept


async def test_health_can_be_asked_without_a_body(client: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/readyz", "/status"):
        answer = await client.head(path)
        assert answer.status_code == 200


async def test_a_part_that_goes_and_comes_back_is_logged_once_each(
    client: httpx.AsyncClient, database_switch: Switch
) -> None:
    await until_ready_is(client, "ready")
    with structlog.testing.capture_logs() as lines:
        await database_switch.close()
        await until_ready_is(client, "unavailable")
        await client.get("/readyz")
        await database_switch.open()
        await until_ready_is(client, "ready")
    assert [(line["event"], line["part"]) for line in lines if "part" in line] == [
        ("part cannot be used", "database"),
        ("part answers again", "database"),
    ]
