"""A part of a database on a disk of its own, which can be full."""

import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from codehub.stack.account import Account
from tests.chaos.disk import Disk


@asynccontextmanager
async def tablespace(url: str, disk: Disk, owner: Account) -> AsyncIterator[tuple[asyncpg.Connection, str]]:
    """A connection to the database, and the name of the space. Before the end it has to be empty again."""
    folder, name = _folder(disk, owner), f"space_{uuid.uuid4().hex}"
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"CREATE TABLESPACE {name} LOCATION '{folder}'")
        yield connection, name
        await connection.execute(f"DROP TABLESPACE {name}")
    finally:
        await connection.close()


def _folder(disk: Disk, owner: Account) -> Path:
    folder = disk.folder / "space"
    folder.mkdir()
    os.chown(folder, owner.uid, owner.gid)
    return folder
