"""What can carry leadership, and what is refused with a sentence that says why."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codehub.errors import ServiceError
from codehub.stack.account import Account
from codehub.store.identity import installation_id
from codehub.store.self_test import require_direct_connection
from tests.coordinators.own_service import own_postgres, own_standby

SSL_REQUEST = 80877103
REFUSAL = b"SFATAL\0C08P01\0Munsupported startup parameter: idle_session_timeout\0\0"


@asynccontextmanager
async def refusing_pooler() -> AsyncIterator[str]:
    """A door that answers as a transaction pooler does to settings of a session that it would have to share."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size, code = struct.unpack("!II", await reader.readexactly(8))
        if code == SSL_REQUEST:
            writer.write(b"N")
            size, _ = struct.unpack("!II", await reader.readexactly(8))
        asked = await reader.readexactly(size - 8)
        assert b"idle_session_timeout" in asked
        writer.write(b"E" + struct.pack("!I", len(REFUSAL) + 4) + REFUSAL)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"postgresql://somebody:secret@127.0.0.1:{port}/codehub"


async def test_postgresql_itself_is_accepted(database_url: str) -> None:
    await require_direct_connection(database_url)


async def test_a_standby_is_refused(services_folder: Path, account: Account) -> None:
    async with (
        own_postgres(services_folder, account) as (_, primary_url),
        own_standby(services_folder, account, primary_url) as standby_url,
    ):
        await require_direct_connection(primary_url)
        with pytest.raises(ServiceError, match="standby"):
            await require_direct_connection(standby_url)


async def test_a_pooler_that_shares_sessions_is_refused() -> None:
    async with refusing_pooler() as url:
        with pytest.raises(ServiceError, match="pooler"):
            await require_direct_connection(url)


async def test_all_replicas_of_an_installation_find_the_same_identity(database_url: str) -> None:
    assert await installation_id(database_url) == await installation_id(database_url)
