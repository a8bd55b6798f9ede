"""Many at once, and all of them gone again: nothing is left, and nobody else has to wait for them.

`CODEHUB_TEST_CAMPAIGN=1` makes them five thousand, twenty times."""

import asyncio
import gc
import os
import resource
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codehub.model.conditions import Endpoint
from codehub.proxy.connection import Connection
from codehub.proxy.exchange import Exchange
from codehub.proxy.limits import Limits
from codehub.proxy.tunnel import Tunnel
from codehub.proxy.visitor import Visitor
from tests.proxy.backend import OK, Talk
from tests.proxy.campaign import open_files
from tests.proxy.scene import Client, Scene, opened, until
from tests.proxy.test_tunnels import AGREED, MASKED

IS_CAMPAIGN = os.environ.get("CODEHUB_TEST_CAMPAIGN") == "1"
SOCKETS, ROUNDS = (5000, 20) if IS_CAMPAIGN else (200, 4)
LIMITS = Limits(connections_per_address=10**6)


async def workspace(talk: Talk) -> None:
    while True:
        head = await talk.request()
        if b"websocket" not in head:
            await talk.say(OK)
            continue
        await talk.say(AGREED)
        while data := await talk.some():
            await talk.say(data)


@pytest.fixture(autouse=True)
def many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def resident_kb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1])


async def a_round(scene: Scene) -> None:
    clients: list[Client] = []
    for start in range(0, SOCKETS, 100):
        clients += await asyncio.gather(*(scene.tunnel() for _ in range(min(100, SOCKETS - start))))
    for client in clients:
        client.writer.write(MASKED)
    for client in clients:
        assert await client.exactly(len(MASKED)) == MASKED
    for client in clients:
        client.writer.transport.abort()
    await until(lambda: scene.door.everybody.is_nobody, 60)
    scene._clients.clear()
    scene.keeper.watchers.clear()
    scene.keeper.asked.clear()


@asynccontextmanager
async def other_process() -> AsyncIterator[Endpoint]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.proxy.echo_workspace"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        yield Endpoint("echo", "127.0.0.1", int(await process.stdout.readline()))
    finally:
        process.kill()
        await process.wait()


@pytest.mark.timeout(1200)
async def test_after_all_have_gone_at_once_descriptors_and_memory_are_as_before() -> None:
    async with other_process() as endpoint, opened(workspace, LIMITS) as scene:
        scene.keeper.put("w", b"ann", endpoint)
        await a_round(scene)
        gc.collect()
        files, memory = open_files(), resident_kb()
        for _ in range(ROUNDS):
            await a_round(scene)
        await until(lambda: open_files() <= files, 30)
        gc.collect()
        assert resident_kb() - memory < 2 * 1024 + SOCKETS  # less than 1 KB for each, not for each round
        assert scene.door.counts.tunnels == SOCKETS * (ROUNDS + 1)


async def test_what_a_visit_leaves_behind_goes_by_itself() -> None:
    """With thousands of connections nobody can look for garbage again and again."""
    async with opened(workspace, LIMITS) as scene:
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                client = await scene.connect()
                for asked in (scene.get(), scene.post(b"hello"), b"nonsense\r\n\r\n"):
                    await client.send(asked)
                    await client.answer()
                client.close()
                tunnel = await scene.tunnel()
                tunnel.close()
                ended = await scene.tunnel()
                scene.door.everybody.abort()
                ended.close()
            await until(lambda: scene.door.everybody.is_nobody)
            scene.door.pool.close()
            await until(lambda: not scene.backend.open_talks)
            kinds = (Visitor, Exchange, Connection, Tunnel)
            assert [each for each in gc.get_objects() if isinstance(each, kinds)] == []
        finally:
            gc.enable()


async def test_slow_clients_do_not_keep_others_waiting() -> None:
    """A hundred who send their heads byte by byte, and twenty who take nothing: a neighbour is answered as ever."""

    async def generous(talk: Talk) -> None:
        head = await talk.request()
        if b"/endless" in head:
            await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            while True:
                await talk.say(b"x" * 65536)
        await talk.say(OK)
        await talk.rest()

    async with opened(generous, LIMITS) as scene:
        slow = [await scene.connect() for _ in range(100)]
        greedy = [await scene.connect() for _ in range(20)]
        for client in greedy:
            client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport of a socket
            await client.send(scene.get(b"/endless"))
        before = resident_kb()
        for byte in scene.get()[:-3]:
            for client in slow:
                client.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert (await scene.ask(scene.get())).status == 200
        buffered = [each.transport.get_write_buffer_size() for each in scene.door.everybody.visitors]
        assert max(buffered) < 2 * scene.door.limits.buffered_bytes
        assert resident_kb() - before < 40 * 1024
        scene.pass_time(11)
        for client in slow:
            assert (await client.answer()).status == 408
