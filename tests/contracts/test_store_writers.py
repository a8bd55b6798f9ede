"""Contract 3: every column has one writer, and PostgreSQL refuses all others. That each writer function gets by with
what its role may write is shown by the whole suite, which logs in with these roles."""

from collections import Counter

import asyncpg
import pytest

from codehub.store.tables import workspaces
from tests.contracts.store_backends import PostgresBackend
from tests.contracts.store_grants import (
    BY_THE_DATABASE,
    CONSUMERS,
    COORDINATORS,
    ROLES,
    TABLES,
    WRITERS,
    as_role,
)

COLUMNS = [column.name for column in workspaces.c]
FOREIGN = [
    (role, column)
    for role in ROLES
    for column in COLUMNS
    if column not in [*WRITERS.get(role, []), *CONSUMERS.get(role, []), "settled"]
]


def test_every_column_has_exactly_one_writer() -> None:
    owned = Counter([column for columns in WRITERS.values() for column in columns] + BY_THE_DATABASE)
    assert owned == Counter(COLUMNS)


def test_others_write_of_what_is_the_apis_only_a_request_that_was_seen_to_and_the_wish_to_sleep() -> None:
    idle = ["desired_state", "desired_reason", "desired_by", "last_access_at", "last_activity"]
    assert {"controller": ["request"], "ttl": idle} == CONSUMERS
    assert {"request", *idle} <= set(WRITERS["api"])


async def test_no_role_can_write_a_column_of_another(postgres: PostgresBackend, database_with_roles: str) -> None:
    row = await postgres.create()
    refused = []
    for role in ROLES:
        connection = await asyncpg.connect(as_role(database_with_roles, role))
        for column in [column for writer, column in FOREIGN if writer == role]:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(f"UPDATE workspaces SET {column} = {column}")  # noqa: S608 (our own names)
            refused.append((role, column))
        await connection.close()
    assert refused == FOREIGN
    assert await postgres.row(row.id) == row


@pytest.mark.parametrize("role", COORDINATORS)
async def test_no_coordinator_makes_or_removes_a_workspace(
    postgres: PostgresBackend, database_with_roles: str, role: str
) -> None:
    row = await postgres.create()
    connection = await asyncpg.connect(as_role(database_with_roles, role))
    for statement in ("DELETE FROM workspaces", "INSERT INTO workspaces (id) VALUES (gen_random_uuid())"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)
    await connection.close()
    assert await postgres.row(row.id) == row


@pytest.mark.parametrize("privilege", ["INSERT", "UPDATE", "DELETE"])
@pytest.mark.parametrize("table", sorted({grant.table for grant in TABLES}))
async def test_other_tables_are_closed_to_those_who_do_not_write_them(
    database_with_roles: str, table: str, privilege: str
) -> None:
    connection = await asyncpg.connect(database_with_roles)
    may_write = "SELECT has_table_privilege($1, $2, $3)"
    writers = {role for role in ROLES if await connection.fetchval(may_write, role, table, privilege)}
    await connection.close()
    granted = [grant.roles for grant in TABLES if grant.table == table and privilege in grant.what]
    assert writers == set().union(*granted)
