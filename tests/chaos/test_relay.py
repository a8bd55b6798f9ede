"""Trouble on the way to a real server: each kind as a client sees it, and none of it afterwards."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from tests.chaos.relay import Trouble, TroubledWay, way
from tests.faults.gate import to_port

PATIENCE_SECONDS = 60
SECONDS = 1.0


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while said := await reader.read(100):
            writer.write(said)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[TroubledWay, int]]:
    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, way(to_port(server.sockets[0].getsockname()[1])) as made:
        yield made


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether what is said comes back, or the connection is no more."""
    try:
        writer.write(b"hello")
        await writer.drain()
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await reader.readexactly(5) == b"hello"
    except (ConnectionError, asyncio.IncompleteReadError):
        return False


@pytest.mark.parametrize(
    ("trouble", "survives"),
    [(Trouble.DELAY, True), (Trouble.STALL, True), (Trouble.RESET, False), (Trouble.HALF_OPEN, False)],
)
async def test_who_is_connected_during_trouble(trouble: Trouble, *, survives: bool) -> None:
    async with opened() as (troubled, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await answered(reader, writer)
        suffering = asyncio.create_task(troubled.suffer(trouble, SECONDS))
        await asyncio.sleep(0)
        assert await answered(reader, writer) is survives
        await suffering
        writer.close()

        again = await asyncio.open_connection("127.0.0.1", port)
        assert await answered(*again)
        again[1].close()


async def test_nothing_passes_a_stall_before_it_is_over() -> None:
    async with opened() as (troubled, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await answered(reader, writer)
        suffering = asyncio.create_task(troubled.suffer(Trouble.STALL, SECONDS))
        await asyncio.sleep(0)
        answer = asyncio.create_task(answered(reader, writer))
        passed = []
        suffering.add_done_callback(lambda _: passed.append(answer.done()))
        await suffering
        assert await answer
        assert passed == [False]
        writer.close()
