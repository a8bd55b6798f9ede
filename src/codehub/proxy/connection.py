"""One connection to an upstream: the answers that come over it, each passed on to the visitor who asked.

Any doubt about an answer ends the connection: bytes that nobody asked for must never wait there for the next one."""

import asyncio
from typing import TYPE_CHECKING, cast

from codehub.proxy.chunks import BadChunks, Chunks
from codehub.proxy.doorkeeper import Forward, Upstream
from codehub.proxy.refusals import BadAnswer, Refusal
from codehub.proxy.response_head import Answer, Expected, answer_of

if TYPE_CHECKING:
    from codehub.proxy.exchange import Exchange
    from codehub.proxy.front_door import FrontDoor
    from codehub.proxy.visitor import Visitor

_END = b"\r\n"
_CLOSING_END = b"Connection: close\r\n\r\n"
_JOINED = 16 * 1024
"""Up to so many bytes of a body are sent in one piece with the head."""


class Connection(asyncio.Protocol):
    __slots__ = (
        "_answer",
        "_chunks",
        "_door",
        "_interim",
        "_left",
        "_unread",
        "_visitor",
        "idle_since",
        "is_full",
        "is_reused",
        "transport",
        "upstream",
    )

    transport: asyncio.Transport

    def __init__(self, door: "FrontDoor", upstream: Upstream) -> None:
        self._door = door
        self.upstream = upstream
        self._visitor: Visitor | None = None
        self._answer: Answer | None = None
        self._unread = b""
        self._left = 0
        self._chunks: Chunks | None = None
        self._interim = 0
        self.idle_since = 0.0
        self.is_reused = False
        self.is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=self._door.limits.buffered_bytes)

    def begin(self, visitor: "Visitor", head: bytes) -> None:
        """Send a request of this visitor; what comes from now on answers it."""
        self._visitor = visitor
        self._answer = None
        self._interim = 0
        self.transport.write(head)

    def drop(self) -> None:
        """End it, whatever is under way: nobody waits for it any more."""
        self._visitor = None
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        visitor = self._visitor
        if visitor is None:
            self.drop()  # nobody asked
        elif self._answer is None:
            self._read_head(visitor, self._unread + data if self._unread else data)
        else:
            self._pass_body(visitor, data)

    def _read_head(self, visitor: "Visitor", data: bytes) -> None:
        exchange = cast("Exchange", visitor.exchange)
        expected = _expected(exchange)
        try:
            while True:
                end = data.find(b"\r\n\r\n") + 4
                if end < 4 or end > self._door.limits.answer_head_bytes:
                    self._wait_for_head(data)
                    return
                answer, date = answer_of(data[:end], expected)
                data = data[end:]
                if not answer.is_interim:
                    break
                self._pass_interim(visitor, exchange, answer.lines + date)
        except BadAnswer:
            self.drop()
            visitor.fail(Refusal.BAD_ANSWER)
            return
        self._unread = b""
        if answer.status == 101:
            self._visitor = None
            self._door.open_tunnel(visitor, self, answer.lines + date, data)
        else:
            self._begin_answer(visitor, exchange, answer, date, data)

    def _wait_for_head(self, data: bytes) -> None:
        if len(data) > self._door.limits.answer_head_bytes or data.count(b"\n") != data.count(b"\r\n"):
            raise BadAnswer
        self._unread = data

    def _pass_interim(self, visitor: "Visitor", exchange: "Exchange", lines: bytes) -> None:
        self._interim += 1
        if self._interim > self._door.limits.interim_answers:
            raise BadAnswer
        visitor.moved()
        if not exchange.is_1_0:
            visitor.transport.write(lines + _END)

    def _begin_answer(self, visitor: "Visitor", exchange: "Exchange", answer: Answer, date: bytes, data: bytes) -> None:
        self._answer = answer
        length = self._left = answer.length
        self._chunks = Chunks() if answer.is_chunked else None
        until_end = length < 0 and not answer.is_chunked
        if until_end or self._door.is_draining or not exchange.is_whole or visitor.is_half_closed:
            exchange.closes = True
        exchange.is_answered = True
        if visitor.is_half_closed:
            visitor.deadline = self._door.now + self._door.limits.half_open_seconds
        else:
            visitor.moved()
        exchange.status = answer.status
        head = answer.lines + date + (_CLOSING_END if exchange.closes else _END)
        if length == len(data) and length <= _JOINED and not answer.is_chunked:  # all of it, as most answers are
            visitor.transport.write(head + data)
            self._finish(visitor, exchange, is_clean=True)
            return
        visitor.transport.write(head)
        if data:
            self._pass_body(visitor, data)

    def _pass_body(self, visitor: "Visitor", data: bytes) -> None:
        size, left = len(data), self._left
        if self._chunks is not None:
            self._pass_chunks(visitor, self._chunks, data)
        elif left < 0:
            visitor.transport.write(data)
        elif size < left:
            self._left = left - size
            visitor.transport.write(data)
        else:
            visitor.transport.write(data if size == left else data[:left])
            self._finish(visitor, cast("Exchange", visitor.exchange), is_clean=size == left)

    def _pass_chunks(self, visitor: "Visitor", chunks: Chunks, data: bytes) -> None:
        try:
            passed = chunks.take(data)
        except BadChunks:
            self.drop()
            visitor.fail(Refusal.BAD_ANSWER)
            return
        visitor.transport.write(passed)
        if chunks.is_done:
            self._finish(visitor, cast("Exchange", visitor.exchange), is_clean=not chunks.rest)

    def _finish(self, visitor: "Visitor", exchange: "Exchange", *, is_clean: bool) -> None:
        """The answer is over. `is_clean`: nothing came after it that nobody asked for."""
        answer = self._answer
        self._visitor = self._answer = self._chunks = None
        if self.is_full:
            visitor.go_on()
        if visitor.is_full and not self.transport.is_closing():
            self.transport.resume_reading()
        if is_clean and answer is not None and answer.keeps and exchange.is_whole and not self.is_full:
            self.is_reused = True
            self._door.pool.give_back(self, self._door.now)
        else:
            self.drop()
        visitor.answered()

    def end_stream(self) -> None:
        """End a stream of events as HTTP asks, between two of them: its reader comes again, and misses nothing. Any
        other answer would only look whole."""
        visitor, answer, chunks = self._visitor, self._answer, self._chunks
        if visitor is None or answer is None or not answer.is_stream or (answer.length >= 0 and chunks is None):
            return
        if chunks is None or chunks.is_between:
            exchange = cast("Exchange", visitor.exchange)
            exchange.closes = True
            visitor.transport.write(b"0\r\n\r\n" if chunks else b"")
            self._finish(visitor, exchange, is_clean=False)

    def eof_received(self) -> None:
        """The upstream says no more; that ends an answer which has no other end, and breaks every other."""
        visitor = self._visitor
        if visitor is not None and self._answer is not None and self._left < 0 and self._chunks is None:
            self._finish(visitor, cast("Exchange", visitor.exchange), is_clean=False)

    def connection_lost(self, _error: Exception | None) -> None:
        visitor, self._visitor = self._visitor, None
        if visitor is None:
            self._door.pool.forget(self)
        elif self._answer is None and not self._unread and not self._interim:
            visitor.unanswered(self)
        else:
            visitor.fail(Refusal.NO_ANSWER)

    def pause_writing(self) -> None:
        self.is_full = True
        if self._visitor is not None:
            self._visitor.hold_back()

    def resume_writing(self) -> None:
        self.is_full = False
        if self._visitor is not None:
            self._visitor.go_on()


_USUAL = Expected()


def _expected(exchange: "Exchange") -> Expected:
    match exchange.decision:
        case Forward(mount=b"") if exchange.asked.method == b"GET" and not exchange.fields.is_upgrade:
            return _USUAL
        case Forward(mount=mount):
            return Expected(exchange.is_to_head, exchange.fields.is_upgrade, of_workspace=True, mount=mount)
        case _:
            return Expected(exchange.is_to_head, of_workspace=False)


async def connect(door: "FrontDoor", upstream: Upstream, seconds: float) -> Connection:
    """A fresh connection. Raises OSError, TimeoutError included."""
    loop = asyncio.get_running_loop()
    endpoint = upstream.endpoint
    async with asyncio.timeout(seconds):
        if endpoint.address.startswith("unix:"):
            path = endpoint.address.removeprefix("unix:")
            _, connection = await loop.create_unix_connection(lambda: Connection(door, upstream), path)
        else:
            _, connection = await loop.create_connection(
                lambda: Connection(door, upstream), endpoint.address, endpoint.port
            )
    door.counts.connected += 1
    return connection
