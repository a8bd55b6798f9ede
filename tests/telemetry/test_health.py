"""Each service is judged by using it, and every fault becomes one sentence."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from redis.asyncio import Redis

from codehub.archives.open import open_store
from codehub.store import migrate
from codehub.telemetry import health


@pytest.fixture
async def silent_port() -> AsyncIterator[int]:
    """A port that takes connections and never says anything."""
    held = []

    async def hold(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    for writer in held:
        writer.close()
    server.close()


@pytest.fixture
def free_port(unused_tcp_port: int) -> int:
    return unused_tcp_port


def written_at(folder: Path) -> int:
    """When something was last made or removed in it, and that is nothing."""
    assert list(folder.iterdir()) == []
    return folder.stat().st_mtime_ns


async def test_a_database_that_can_be_used_says_what_it_is(empty_database_url: str) -> None:
    check = await health.check_database(empty_database_url, schema=False)
    assert (check.name, check.ok, check.lasting) == ("database", True, False)
    assert check.detail.startswith("PostgreSQL 1")
    assert 0 < check.latency_ms < 3000


async def test_an_old_database_server_is_named_with_the_version_that_is_needed(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "POSTGRES_NEEDED", 99)
    check = await health.check_database(empty_database_url, schema=False)
    assert check.detail.startswith("is PostgreSQL 1")
    assert check.detail.endswith("but codehub needs 99 or newer")
    assert (check.ok, check.lasting, check.remedy) == (False, True, "Upgrade it.")


async def test_a_read_only_database_is_told(empty_database_url: str) -> None:
    connection = await asyncpg.connect(empty_database_url)
    name = urlsplit(empty_database_url).path.strip("/")
    await connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    await connection.close()
    check = await health.check_database(empty_database_url, schema=False)
    assert (check.ok, check.lasting) == (False, False)
    assert "read-only" in check.detail


async def test_an_unknown_database_is_told_and_waiting_will_not_help(postgres_url: str) -> None:
    check = await health.check_database(urlsplit(postgres_url)._replace(path="/nowhere").geturl())
    assert (check.ok, check.lasting) == (False, True)
    assert check.detail == 'does not know its database: database "nowhere" does not exist'


async def test_a_refused_login_is_told_without_its_password(postgres_url: str) -> None:
    parts = urlsplit(postgres_url)
    check = await health.check_database(parts._replace(netloc="codehub:hunter2@").geturl())
    assert (check.ok, check.lasting) == (False, True)
    assert "refused the login" in check.detail
    assert "hunter2" not in repr(check)


async def test_a_database_that_is_away_may_come_back(free_port: int) -> None:
    check = await health.check_database(f"postgresql://user:hunter2@127.0.0.1:{free_port}/name")
    assert (check.ok, check.lasting) == (False, False)
    assert "does not answer" in check.detail
    assert "hunter2" not in repr(check)


async def test_a_database_that_says_nothing_is_given_up_in_time(silent_port: int) -> None:
    check = await health.check_database(f"postgresql://user:pw@127.0.0.1:{silent_port}/name", seconds=0.2)
    assert (check.ok, check.detail) == (False, "no answer within 0.2 s")
    assert check.latency_ms < 2000


async def test_a_database_without_our_tables_is_told_to_migrate(empty_database_url: str) -> None:
    check = await health.check_database(empty_database_url)
    assert (check.ok, check.lasting, check.remedy) == (False, True, "Run: codehub migrate")
    assert check.detail.startswith("has no schema yet, but this codehub needs ")


async def test_a_migrated_database_is_ready_until_a_newer_codehub_migrates_it_further(empty_database_url: str) -> None:
    await migrate.upgrade(empty_database_url)
    assert (await health.check_database(empty_database_url)).ok
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("UPDATE alembic_version SET version_num = 'from_the_future'")
    await connection.close()
    check = await health.check_database(empty_database_url)
    assert (check.ok, check.lasting, check.remedy) == (False, True, "Upgrade this codehub.")
    assert check.detail.startswith("was written by a newer codehub (schema from_the_future,")


async def test_a_redis_that_can_be_used_says_what_it_is(redis_url: str) -> None:
    check = await health.check_redis(redis_url)
    assert (check.name, check.ok) == ("redis", True)
    assert check.detail.startswith("Valkey ")


async def test_looking_at_redis_leaves_nothing_behind(redis_url: str) -> None:
    await health.check_redis(redis_url)
    async with Redis.from_url(redis_url) as client:
        assert [key async for key in client.scan_iter("codehub:health:*")] == []


async def test_an_old_redis_is_named_with_the_version_that_is_needed(old_redis_url: str) -> None:
    check = await health.check_redis(old_redis_url)
    assert check.detail == "is Redis 5.0.12, but codehub needs 6.2 or newer"
    assert (check.ok, check.lasting, check.remedy) == (False, True, "Upgrade it.")


async def test_a_server_that_repeats_what_it_does_not_know_is_quoted_without_the_password(old_redis_url: str) -> None:
    check = await health.check_redis(f"{old_redis_url}?protocol=3")
    assert (check.ok, check.detail) == (False, "does not answer: unknown command `HELLO`")


async def test_a_wrong_redis_password_is_told_without_it(redis_url: str) -> None:
    parts = urlsplit(redis_url)
    check = await health.check_redis(parts._replace(netloc=":hunter2@").geturl())
    assert (check.ok, check.lasting) == (False, True)
    assert check.detail.startswith("refused us")
    assert "hunter2" not in repr(check)


async def test_a_redis_that_is_away_may_come_back(free_port: int) -> None:
    check = await health.check_redis(f"redis://127.0.0.1:{free_port}")
    assert (check.ok, check.lasting) == (False, False)
    assert "does not answer" in check.detail


async def test_a_redis_that_says_nothing_is_given_up_in_time(silent_port: int) -> None:
    check = await health.check_redis(f"redis://127.0.0.1:{silent_port}", seconds=0.2)
    assert (check.ok, check.detail) == (False, "no answer within 0.2 s")


async def test_an_archive_store_is_asked_and_written_to_once_a_minute(tmp_path: Path) -> None:
    look = health.ArchiveStoreCheck(open_store(tmp_path.as_uri()))
    check = await look()
    assert (check.name, check.ok, check.detail) == ("archive store", True, "answers, and takes what is written")
    before = written_at(tmp_path)
    assert (await look()).ok
    assert written_at(tmp_path) == before


async def test_an_archive_store_that_is_away_is_told(tmp_path: Path) -> None:
    check = await health.ArchiveStoreCheck(open_store((tmp_path / "gone").as_uri()))()
    assert not check.ok
    assert str(tmp_path / "gone") in check.detail


async def test_the_disk_of_a_database_that_is_away_is_not_known(free_port: int) -> None:
    check = await health.check_database_disk(f"postgresql://127.0.0.1:{free_port}/codehub")
    assert (check.ok, check.detail) == (True, "is not known while the database does not answer")


async def test_what_a_driver_raises_unexpectedly_is_a_fault_too() -> None:
    async def use() -> str:
        raise RuntimeError("first line\nsecond line")

    check = await health.examine("part", use())
    assert (check.ok, check.detail) == (False, "first line")


async def test_being_cancelled_is_no_answer() -> None:
    async def use() -> str:
        await asyncio.Event().wait()
        return "never"

    task = asyncio.create_task(health.examine("part", use()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
