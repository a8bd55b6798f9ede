"""What people notice of others who behave badly: the time of small answers over eight connections, without and with a
hundred clients that send a head byte by byte, slow readers, slow writers, and clients that end their half at once.

One process of the front door on one core, everything else on the other; slices of one second without and with them, in
turn. Needs the Debian packages nginx-light and gcc.

Run it on a quiet machine: python -m benchmarks.neighbours [--slices 15] [--slowloris 100] [--others 50]"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from statistics import median
from typing import Any

from benchmarks import proxy_peers
from benchmarks.proxy import HEAD, WORKSPACES, Bench, Series, Test, tables_of
from benchmarks.stage import Figure, arguments, progress, run
from tests.folders import short_folder

PAUSE_SECONDS = 0.5
TAKEN_BYTES = 4096
BODY_BYTES = 2**20
RECEIVE_BUFFER = 16 * 1024
"""Small, so that what a slow reader does not take stays with the proxy."""
SINK = f"{'f' * 32}.dev.test"

Nuisance = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Nuisances:
    def __init__(self, port: int, tables: dict[str, Any]) -> None:
        self._port = port
        host, (owner, _) = next(iter(tables["places"].items()))
        secrets = {person: secret for secret, person in tables["sessions"].items()}
        self._large = _head(HEAD.format(target="/1m", host=host, secret=secrets[owner]))
        sink = HEAD.format(target="/", host=SINK, secret=secrets[owner]).replace("GET", "POST")
        self._upload = _head(sink.replace("Pragma", f"Content-Length: {BODY_BYTES}\nPragma"))

    @asynccontextmanager
    async def at_work(self, slowloris: int, others: int) -> AsyncIterator[None]:
        """So many that send heads byte by byte, and so many of every other kind."""
        kinds = ((self._slow_head, slowloris), (self._reads, others), (self._writes, others), (self._half, others))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._again(kind)) for kind, count in kinds for _ in range(count)]
            await asyncio.sleep(2 * PAUSE_SECONDS)  # until all of them are there
            yield
            for task in tasks:
                task.cancel()

    async def _again(self, kind: Nuisance) -> None:
        """Whoever is sent away comes back."""
        while True:
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
            connection.setblocking(False)
            await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self._port))
            reader, writer = await asyncio.open_connection(sock=connection, limit=TAKEN_BYTES)
            try:
                with suppress(ConnectionError):
                    await kind(reader, writer)
            finally:
                writer.transport.abort()

    async def _slow_head(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for byte in self._large:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _reads(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._large)
        while await reader.read(TAKEN_BYTES):
            await asyncio.sleep(PAUSE_SECONDS)

    async def _writes(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._upload)
        for _ in range(BODY_BYTES):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _half(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self._large)
        writer.write_eof()
        while await reader.read(TAKEN_BYTES):
            await asyncio.sleep(PAUSE_SECONDS)


def _head(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


@asynccontextmanager
async def sink() -> AsyncIterator[int]:
    """A workspace that takes whatever is sent, and never has it all."""

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while await reader.read(65536):
                pass
        writer.close()

    async with await asyncio.start_server(take, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def measure(slices: int, slowloris: int, others: int) -> list[Figure]:
    alone, beside = Series(), Series()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(short_folder())
        load = proxy_peers.compiled(folder)
        files, _ = await stack.enter_async_context(proxy_peers.backends(folder, load))
        tables = tables_of(WORKSPACES, files)
        bench = Bench(folder, load, slices)
        test = Test("1 KB, 8 connections", "http", 8, bench.requests("1k", tables, HEAD, target="/1k"))
        owner = next(iter(tables["places"].values()))[0]
        tables["places"][SINK] = [owner, await stack.enter_async_context(sink())]
        document = folder / "tables.json"
        document.write_text(json.dumps(tables))
        door = await stack.enter_async_context(proxy_peers.front_door(folder, document))
        nuisances = Nuisances(door.port, tables)
        await bench.one_slice(test, door)
        for _ in range(slices):
            _note(alone, await bench.one_slice(test, door))
            async with nuisances.at_work(slowloris, others):
                _note(beside, await bench.one_slice(test, door))
    for name, series in (("alone", alone), ("beside them", beside)):
        progress(
            f"{name:<12} {median(series.rates):>7.0f}/s  p50 {median(series.p50_ms):.2f} ms  "
            f"p99 {median(series.p99_ms):.2f} ms"
        )
    return [
        Figure("p99 alone", median(alone.p99_ms), "ms"),
        Figure("p99 beside them", median(beside.p99_ms), "ms"),
        Figure("p99 beside them, times that alone", median(beside.p99_ms) / median(alone.p99_ms), "x", at_most=2),
        Figure("requests/s beside them, times those alone", median(beside.rates) / median(alone.rates), "x"),
    ]


def _note(series: Series, seen: dict[str, Any]) -> None:
    series.rates.append(seen["answers"] / seen["seconds"])
    series.p50_ms.append(seen["p50"] * 1000)
    series.p99_ms.append(seen["p99"] * 1000)


if __name__ == "__main__":
    chosen = arguments(__doc__, slices=15, slowloris=100, others=50)
    run(measure(chosen.slices, chosen.slowloris, chosen.others))
