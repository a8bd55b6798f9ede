"""The tables as the code knows them are the tables that the migrations make."""

import pytest
from sqlalchemy import Column, Connection, MetaData, Table
from sqlalchemy.dialects import postgresql
from sqlmodel import SQLModel

from codehub.store import tables
from codehub.store.engine import single

DIALECT = postgresql.dialect()  # type: ignore[no-untyped-call]


def reflect(connection: Connection) -> MetaData:
    metadata = MetaData()
    metadata.reflect(connection)
    metadata.remove(metadata.tables["alembic_version"])
    return metadata


@pytest.fixture
async def migrated(database_url: str) -> MetaData:
    engine = single(database_url, "reflection")
    async with engine.connect() as connection:
        return await connection.run_sync(reflect)


def described(table: Table) -> dict[str, tuple[object, ...]]:
    return {column.name: (type_of(column), column.nullable, column.primary_key, target(column)) for column in table.c}


def type_of(column: Column[object]) -> str:
    name = column.type.compile(DIALECT)
    return "TEXT" if name == "VARCHAR" else name  # what SQLModel makes of `str`; PostgreSQL makes no difference


def target(column: Column[object]) -> list[str]:
    return sorted(key.target_fullname for key in column.foreign_keys)


async def test_columns_types_nullability_and_keys_are_the_migrated_ones(migrated: MetaData) -> None:
    known = SQLModel.metadata.tables
    assert set(known) == set(migrated.tables)
    for name, table in migrated.tables.items():
        assert described(known[name]) == described(table), name


async def test_a_generated_column_is_known_to_be_generated(migrated: MetaData) -> None:
    generated = {
        name: {column.name for column in table.c if column.computed is not None}
        for name, table in migrated.tables.items()
    }
    assert generated["workspaces"] == {"settled"}
    assert tables.workspaces.c.settled.computed is not None
    assert not any(columns for name, columns in generated.items() if name != "workspaces")
