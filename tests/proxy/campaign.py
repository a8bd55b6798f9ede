"""Mutated requests, answers and frames by the thousand, over real sockets, and what must hold whatever they are.

The whole of it, which takes some minutes: python -m tests.proxy.campaign [1000000]"""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import cast

import structlog
import uvloop

from codehub.proxy.limits import Limits
from tests.proxy.backend import Talk
from tests.proxy.mutations import WORDS, mutated
from tests.proxy.scene import Scene, opened, until

AT_ONCE = 32
LIMITS = Limits(
    ended_seconds=1, half_open_seconds=2, stalled_seconds=2, linger_seconds=1, connections_per_address=10**6
)
_OURS = re.compile(rb"[ \t=]*(?:__[a-z]+-)*codehub", re.IGNORECASE)
_MARK = re.compile(rb"mark-[0-9a-f]{16}")
_STATUS = re.compile(rb"HTTP/1\.1 ([1-5][0-9][0-9])[ \r]")


class Sender(asyncio.Protocol):
    """Sends some bytes, ends, and keeps what comes back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.got = bytearray()
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        sending = cast("asyncio.Transport", transport)
        sending.write(self._data)
        sending.write_eof()

    def data_received(self, data: bytes) -> None:
        self.got += data

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(exc)


async def send(scene: Scene, data: bytes) -> bytes:
    """What comes back until the connection ends, which it always does."""
    loop = asyncio.get_running_loop()
    _, sender = await loop.create_connection(lambda: Sender(data), *scene.address)
    async with asyncio.timeout(60):
        await sender.over
    return bytes(sender.got)


def requests_of(scene: Scene) -> list[bytes]:
    """Valid ones, of every kind."""
    chunked = scene.lines(None, b"Transfer-Encoding: chunked")
    return [
        scene.get(b"/one", b"Accept: */*"),
        scene.get(b"/one") + scene.get(b"/two"),
        scene.post(b"hello"),
        scene.post(b"hello", b"Expect: 100-continue"),
        b"POST / HTTP/1.1\r\n%b\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n" % chunked,
        b"POST / HTTP/1.1\r\n%b\r\n5;a=b\r\nhello\r\n0\r\n\r\n" % chunked + scene.get(b"/two"),
        scene.upgrade(),
        b"GET /w/%b/x HTTP/1.1\r\nHost: paths.test\r\nCookie: codehub-workspace=ann-secret\r\n\r\n" % scene.w,
        b"HEAD / HTTP/1.0\r\n%b\r\n" % scene.lines(),
    ]


async def strict_workspace(talk: Talk) -> None:
    """Takes nothing that is not to the letter, and nothing that is ours."""
    while True:
        whole = await talk.request()
        head = whole.partition(b"\r\n\r\n")[0]
        line, *lines = head.split(b"\r\n")
        assert re.fullmatch(rb"[A-Z]{1,24} (/[!-~]*|\*) HTTP/1\.[01]", line), whole
        assert not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", head.replace(b"\r\n", b"")), whole
        names = [each.partition(b":")[0].lower() for each in lines]
        assert names.count(b"host") == names.count(b"x-forwarded-host") == names.count(b"x-forwarded-for") == 1, whole
        assert names.count(b"content-length") + names.count(b"transfer-encoding") <= 1, whole
        assert not any(name.startswith(b"x-codehub-") for name in names), whole
        for each in lines:
            name, _, value = each.partition(b":")
            if name.lower() == b"cookie":
                assert not any(_OURS.match(part) for part in value.split(b";")), whole
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


async def mutate_requests(number: int, seed: int) -> None:
    """None reaches a workspace of others, each that reaches hers is valid to the letter, and each is answered."""
    chance = Random(seed)
    async with opened(strict_workspace, LIMITS) as scene:
        samples = requests_of(scene)
        words = (*WORDS, scene.e, scene.host(scene.e), b"Host: %b\r\n" % scene.host(scene.e), b"/w/%b/" % scene.e)

        async def one() -> None:
            got = await send(scene, mutated(chance.choice(samples), chance, words))
            assert not got or _STATUS.match(got), got

        await _many(scene, number, one)
        assert scene.foreign.seen == b""
        failed = [talk.failure for talk in scene.backend.talks if talk.failure]
        assert not failed, failed[:3]


ANSWERS = (
    b"HTTP/1.1 200 OK\r\nContent-Length: %(length)d\r\nX-Mark: %(mark)b\r\n\r\n%(mark)b",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Mark: %(mark)b\r\n\r\n%(length)x\r\n%(mark)b\r\n0\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: %(length)d\r\n\r\n%(mark)b",
    b"HTTP/1.1 304 Not Modified\r\nETag: %(mark)b\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nSet-Cookie: a=%(mark)b\r\nConnection: close\r\nContent-Length: %(length)d\r\n\r\n%(mark)b",
)


async def mutate_answers(number: int, seed: int) -> None:
    """Whatever a workspace says, it says to the one who asked, though connections are used again all the time."""
    chance = Random(seed)

    async def workspace(talk: Talk) -> None:
        while True:
            mark = _MARK.search(await talk.request())
            assert mark
            answer = chance.choice(ANSWERS) % {b"mark": mark[0], b"length": len(mark[0])}
            if chance.random() < 0.8:
                answer = mutated(answer, chance)
            await talk.say(answer)
            if chance.random() < 0.1:
                return

    async with opened(workspace, LIMITS) as scene:
        marks: set[bytes] = set()

        async def one() -> None:
            mark = b"mark-%b" % chance.randbytes(8).hex().encode()
            marks.add(mark)
            got = await send(scene, scene.get(b"/" + mark, b"Connection: close"))
            assert set(_MARK.findall(got)) & marks <= {mark}, (mark, got)
            assert b"\r\nset-cookie: codehub" not in heads_of(got).lower(), got

        await _many(scene, number, one)


def heads_of(got: bytes) -> bytes:
    """The head of the first answer, and of those hints that came before it."""
    head, _, rest = got.partition(b"\r\n\r\n")
    return head + heads_of(rest) if head.startswith(b"HTTP/1.1 1") else head


async def mutate_frames(number: int, seed: int) -> None:
    """Every byte of a tunnel arrives, in both directions, whatever it is."""
    chance = Random(seed)
    agreed = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    async def echo(talk: Talk) -> None:
        await talk.head()
        await talk.say(agreed)
        while data := await talk.some():
            await talk.say(data)

    async with opened(echo, LIMITS) as scene:

        async def one() -> None:
            frames = b"".join(_frame(chance) for _ in range(chance.randrange(1, 8)))
            data = mutated(frames, chance)
            got = await send(scene, scene.upgrade() + data)
            head, _, rest = got.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 101 "), got
            assert rest == data

        await _many(scene, number, one)


def _frame(chance: Random) -> bytes:
    length = chance.choice((0, 1, 5, 125, 126, 300, 70_000))
    payload = chance.randbytes(length)
    first = bytes([0x80 | chance.choice((0, 1, 2, 8, 9, 10))])
    if length < 126:
        return first + bytes([length]) + payload
    if length < 65536:
        return first + b"\x7e" + length.to_bytes(2, "big") + payload
    return first + b"\x7f" + length.to_bytes(8, "big") + payload


async def _many(scene: Scene, number: int, one: Callable[[], Awaitable[None]]) -> None:
    """So many, some at once, while the time of the front door goes on; and nothing is left of them."""
    left = iter(range(number))

    async def worker() -> None:
        for _ in left:
            await one()

    async def time_passes() -> None:
        while True:
            await asyncio.sleep(0.05)
            scene.pass_time(0.25)

    loop = asyncio.get_running_loop()
    faults: list[object] = []
    loop.set_exception_handler(lambda _loop, context: faults.append(context))
    with no_errors_logged() as logged:
        clock = asyncio.create_task(time_passes())
        before = open_files()
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(AT_ONCE):
                    workers.create_task(worker())
            await until(lambda: scene.door.everybody.is_nobody, 30)
            scene.door.pool.close()
            await until(lambda: open_files() <= before + 2, 30)
        finally:
            clock.cancel()
    assert not faults, faults[:3]
    assert not logged, logged[:3]


@contextmanager
def no_errors_logged() -> Iterator[list[object]]:
    """What was logged as a fault meanwhile."""
    with structlog.testing.capture_logs() as lines:
        faults: list[object] = []
        yield faults
        faults += [line for line in lines if line["log_level"] in ("warning", "error", "critical")]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def campaign(number: int) -> None:
    """Of each kind a share, in rounds with seeds of their own, so that a fault can be found again."""
    rounds = max(1, number // 20_000)
    for seed in range(rounds):
        share = number // rounds
        await mutate_requests(share * 6 // 10, seed)
        await mutate_answers(share * 3 // 10, seed)
        await mutate_frames(share // 10, seed)
        print(f"seed {seed}: {share * (seed + 1)} sent", flush=True)  # noqa: T201 (a command)


if __name__ == "__main__":
    uvloop.run(campaign(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
