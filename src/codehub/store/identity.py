"""Which installation this is."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.store.engine import single
from codehub.store.tables import installation


async def installation_id(database_url: str) -> str:
    """What everything that this installation makes is labelled with: the same for all of its replicas."""
    engine = single(database_url, "codehub identity")
    try:
        async with engine.connect() as connection:
            return await this_installation(connection)
    finally:
        await engine.dispose()


async def inside_key(database_url: str) -> bytes:
    """What the tokens of workspaces are made with."""
    engine = single(database_url, "codehub identity")
    try:
        async with engine.connect() as connection:
            found: bytes = (await connection.execute(select(installation.c.inside_key))).scalar_one()
            return found
    finally:
        await engine.dispose()


async def this_installation(connection: AsyncConnection) -> str:
    found = (await connection.execute(select(installation.c.id))).scalar_one()
    return str(found.hex)
