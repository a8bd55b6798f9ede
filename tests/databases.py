"""Databases for tests: made, cloned and dropped beside each other on one server."""

from uuid import uuid4

import asyncpg
from sqlalchemy import make_url


def with_database(url: str, name: str) -> str:
    return make_url(url).set(database=name).render_as_string(hide_password=False)


async def execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


async def create_database(url: str, template: str = "template1") -> str:
    name = f"test_{uuid4().hex}"
    await execute(url, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    return with_database(url, name)


async def drop_database(url: str, database_url: str) -> None:
    await execute(url, f"DROP DATABASE {make_url(database_url).database} WITH (FORCE)")
