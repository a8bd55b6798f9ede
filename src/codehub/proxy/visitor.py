"""What a visitor asks: request after request, each understood whole before anything of it is passed on."""

import time
from typing import cast

import structlog

from codehub.proxy.chunks import BadChunks
from codehub.proxy.connection import Connection
from codehub.proxy.doorkeeper import Asked, Decision, Forward, Reply, ToApi
from codehub.proxy.exchange import Exchange
from codehub.proxy.finding import find
from codehub.proxy.presence import Presence, forwarding
from codehub.proxy.refusals import Refusal, Refused
from codehub.proxy.request_head import fields_of, read_line

log = structlog.get_logger(__name__)


class Visitor(Presence):
    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        exchange = self.exchange
        if exchange is None:
            if self._is_ending:
                return  # the rest of what was refused
            if self._held:
                data = self._held + data
            if self.is_full:
                self._hold(data)
            else:
                self._begin(data)
        elif exchange.connection is not None and not exchange.is_whole:
            self._pass_body(exchange, exchange.connection, data)
        else:
            self._hold(self._held + data)

    def _begin(self, data: bytes) -> None:
        """A request, if its head is there."""
        end = data.find(b"\r\n\r\n") + 4
        if end < 4 or end > self.door.limits.head_bytes:
            self._wait_for_head(data, end)
            return
        try:
            exchange = self._read(data, end)
            if len(data) > end:
                self._held = data[end:]
                if not exchange.is_whole:
                    exchange.first, self._held = exchange.take(self._held)
            else:
                self._held = b""
        except Refused as refused:
            self.refuse(refused.refusal)
            return
        except BadChunks:
            self.refuse(Refusal.BAD_CHUNKS)
            return
        self.exchange = exchange
        self.deadline = self.patience(exchange)
        try:
            decision = self.door.doorkeeper.decide(exchange.asked)
        except Exception:  # a bulkhead, as in `find`
            log.exception("a decision failed")
            self.refuse(Refusal.UNKNOWN)
            return
        if decision is None:
            self._pursue(exchange, None)
        else:
            self._follow(exchange, decision)

    def _read(self, data: bytes, end: int) -> Exchange:
        line_end = data.find(b"\r\n")
        method, target, is_1_0 = read_line(data[:line_end])
        fields = fields_of(data[line_end:end])
        peer, scheme = self.peer, self._scheme
        if self._trusted:
            peer = self.door.everybody.trusted.visitor(peer, fields.forwarded_for)
            scheme = fields.forwarded_proto if fields.forwarded_proto in (b"http", b"https") else scheme
        asked = Asked(
            method,
            target,
            fields.host,
            fields.is_upgrade,
            fields.cookies,
            fields.token,
            fields.noted,
            peer,
            scheme,
        )
        return Exchange(asked, fields, is_1_0, time.perf_counter())

    def _wait_for_head(self, data: bytes, end: int) -> None:
        limit = self.door.limits.head_bytes
        if len(data) > limit or end > limit:
            self.refuse(Refusal.HEAD_TOO_LARGE)
        elif not 65 <= data[0] <= 90 or data.count(b"\n", 0) != data.count(b"\r\n"):
            self.refuse(Refusal.BAD_HEAD)  # no method begins like this, or a line ends with LF alone
        else:
            if not self._held:
                self.deadline = self.door.now + self.door.limits.head_seconds
            self._held = data

    def _follow(self, exchange: Exchange, decision: Decision) -> None:
        if isinstance(decision, Reply):
            self._reply(exchange, decision)
            return
        connection = self.door.pool.take(decision.upstream)
        if connection is None:
            self._pursue(exchange, decision)
        else:
            self._send(exchange, decision, connection)

    def _send(self, exchange: Exchange, decision: Forward | ToApi, connection: Connection) -> None:
        exchange.decision = decision
        exchange.connection = connection
        said = self._forwarding
        if self._trusted:
            said = forwarding(exchange.asked.peer.encode(), exchange.asked.scheme)
        head = exchange.head(decision, said)
        connection.begin(self, head + exchange.first if exchange.first else head)
        if self._held and not exchange.is_whole:
            held, self._held = self._held, b""
            self.transport.resume_reading()
            self._pass_body(exchange, connection, held)

    def _pass_body(self, exchange: Exchange, connection: Connection, data: bytes) -> None:
        try:
            passed, self._held = exchange.take(data)
        except BadChunks:
            self.fail(Refusal.BAD_CHUNKS)
            return
        self.deadline = self.patience(exchange)
        connection.transport.write(passed)

    def _hold(self, data: bytes) -> None:
        """It is not its turn yet."""
        self._held = data
        if len(data) > self.door.limits.held_bytes:
            self.transport.pause_reading()

    def _reply(self, exchange: Exchange, reply: Reply) -> None:
        exchange.status = int(reply.answer[9:12])
        exchange.closes |= reply.closes or not exchange.is_whole or self.door.is_draining
        self.transport.write(reply.answer)
        self.answered()

    def _pursue(self, exchange: Exchange, decision: Forward | ToApi | None) -> None:
        self._task = self.door.tasks.create_task(self._find(exchange, decision), name="a visit")

    async def _find(self, exchange: Exchange, decision: Forward | ToApi | None) -> None:
        found = await find(self.door, exchange, decision)
        self._task = None
        match found:
            case Reply():
                self._reply(exchange, found)
            case Refusal():
                self.refuse(found)
            case (decision, connection):
                self._send(exchange, decision, connection)

    def answered(self) -> None:
        """The answer is over: count it, and go on to the next request or the end."""
        exchange, self.exchange = cast("Exchange", self.exchange), None
        exchange.connection = None
        door = self.door
        door.counts.answered(exchange.status, time.perf_counter() - exchange.began)
        if exchange.closes:
            self.end(lingers=not exchange.is_whole)
            return
        self.deadline = door.now + door.limits.idle_seconds
        if self._held:
            door.loop.call_soon(self._next)

    def _next(self) -> None:
        """What was sent before its turn."""
        if self.exchange is None and self._held and not self.is_full and not self.transport.is_closing():
            held, self._held = self._held, b""
            self.transport.resume_reading()
            self._begin(held)

    def unanswered(self, connection: Connection) -> None:
        """The upstream closed the connection without a byte. On a kept one that happens to the best, when it went idle
        for too long there, and on any to a process of the API that was just killed: what may be repeated is, once, on
        a new one."""
        exchange = cast("Exchange", self.exchange)
        exchange.connection = None
        decision = exchange.decision
        is_excused = connection.is_reused or isinstance(decision, ToApi)
        if is_excused and exchange.can_be_repeated and decision is not None:
            exchange.retried = True
            self.door.counts.retries += 1
            self._pursue(exchange, decision)
        else:
            self.refuse(Refusal.NO_ANSWER)
