"""`codehub migrate` brings a database to the schema that this codehub knows, and says what it did."""

import json

import asyncpg

from codehub.errors import ExitCode
from codehub.store.migrate import schema_state
from tests.cli.command import Command


async def test_an_empty_database_is_upgraded_once(codehub: Command, empty_database_url: str) -> None:
    head = (await schema_state(empty_database_url)).head
    first = await codehub("migrate", DATABASE_URL=empty_database_url)
    assert (first.code, first.stdout) == (0, f"The database had no schema and was upgraded to {head}.\n")
    assert (await schema_state(empty_database_url)).is_current
    second = await codehub("migrate", DATABASE_URL=empty_database_url)
    assert (second.code, second.stdout) == (0, f"The database has schema {head}: nothing to do.\n")


async def test_a_check_changes_nothing(codehub: Command, empty_database_url: str) -> None:
    outcome = await codehub("migrate", "--check", DATABASE_URL=empty_database_url)
    assert outcome.code == ExitCode.SERVICE
    assert outcome.stderr.startswith("codehub: The database has no schema, but needs ")
    assert (await schema_state(empty_database_url)).current is None


async def test_programs_get_an_object(codehub: Command, database_url: str) -> None:
    head = (await schema_state(database_url)).head
    outcome = await codehub("migrate", "--json", DATABASE_URL=database_url)
    assert json.loads(outcome.stdout) == {"before": head, "after": head, "changed": False}


async def test_a_newer_schema_is_left_alone(codehub: Command, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute("UPDATE alembic_version SET version_num = 'from_the_future'")
    await connection.close()
    outcome = await codehub("migrate", DATABASE_URL=database_url)
    assert outcome.code == ExitCode.SERVICE
    assert outcome.stderr == (
        "codehub: The database has schema from_the_future, which this codehub does not know. Upgrade this codehub.\n"
    )


async def test_a_database_that_is_away_is_told(codehub: Command, unused_tcp_port: int) -> None:
    outcome = await codehub("migrate", DATABASE_URL=f"postgresql://user:hunter2@127.0.0.1:{unused_tcp_port}/name")
    assert outcome.code == ExitCode.SERVICE
    assert outcome.stderr.startswith("codehub: The database does not answer: ")
    assert outcome.stderr.count("\n") == 1
    assert "hunter2" not in outcome.stderr


async def test_the_embedded_database_is_left_to_up(codehub: Command) -> None:
    outcome = await codehub("migrate")
    assert outcome.code == ExitCode.CONFIGURATION
    assert "codehub up" in outcome.stderr
