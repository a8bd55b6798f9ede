"""That somebody is there: how long they may take, how much is kept for them, and how it ends.

Deadlines are numbers that the front door looks at once a second; `NEVER` where nobody has to hurry."""

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, cast

from codehub.proxy.doorkeeper import Forward
from codehub.proxy.refusals import Refusal

if TYPE_CHECKING:
    from codehub.proxy.exchange import Exchange
    from codehub.proxy.front_door import FrontDoor

NEVER = float("inf")


class Presence(asyncio.Protocol, ABC):
    """One connection of a visitor, whatever is asked on it."""

    __slots__ = (
        "_forwarding",
        "_held",
        "_is_ending",
        "_is_tls",
        "_scheme",
        "_task",
        "_trusted",
        "deadline",
        "door",
        "exchange",
        "is_full",
        "is_half_closed",
        "peer",
        "transport",
    )

    transport: asyncio.Transport

    def __init__(self, door: "FrontDoor") -> None:
        self.door = door
        self.exchange: Exchange | None = None
        self.deadline = NEVER
        self._held = b""  # a part of a head, or what was sent before its turn
        self._task: asyncio.Task[None] | None = None
        self.is_half_closed = False
        self._is_ending = False
        self.is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=self.door.limits.buffered_bytes)
        name = transport.get_extra_info("peername")
        self.peer: str = name[0] if isinstance(name, tuple) else ""
        self._is_tls = transport.get_extra_info("sslcontext") is not None
        self._trusted = self.door.everybody.trusted.trusts(self.peer)
        self._scheme = b"https" if self._is_tls else self.door.scheme
        self._forwarding = forwarding(self.peer.encode(), self._scheme)
        self.deadline = self.door.now + self.door.limits.idle_seconds
        self.door.counts.connections += 1
        if not self.door.everybody.arrived(self):
            self.refuse(Refusal.TOO_MANY)

    def fail(self, refusal: Refusal) -> None:
        """It cannot be brought to its end. Who has been sent a part of an answer must see that it is cut."""
        if self.exchange is not None and self.exchange.is_answered:
            self.door.refused(refusal, self.peer)
            self.abort()
        else:
            self.refuse(refusal)

    def refuse(self, refusal: Refusal) -> None:
        is_to_head = self.exchange is not None and self.exchange.is_to_head
        self._let_go()
        self.door.refused(refusal, self.peer)
        if not self.transport.is_closing():
            self.transport.write(refusal.head if is_to_head else refusal.answer)
            self.end(lingers=True)

    def end(self, *, lingers: bool = False) -> None:
        self._is_ending = True
        self._held = b""
        if lingers and self.transport.can_write_eof() and not self.is_half_closed:
            self.transport.resume_reading()
            self.transport.write_eof()
            self.deadline = self.door.now + self.door.limits.linger_seconds
        else:
            self.deadline = self.door.now + self.door.limits.stalled_seconds
            self.transport.close()

    def expire(self) -> None:
        """The deadline has passed."""
        self.deadline = NEVER
        exchange = self.exchange
        is_taken_by_nobody = exchange is not None and exchange.is_whole and exchange.is_answered
        if self._is_ending or self.is_half_closed or is_taken_by_nobody:
            self.abort()
        elif exchange is not None:
            self.fail(Refusal.ANSWER_TOO_SLOW if exchange.is_whole else Refusal.BODY_TOO_SLOW)
        elif self._held:
            self.refuse(Refusal.HEAD_TOO_SLOW)
        else:
            self.end()

    def end_stream(self) -> None:
        """If one is being sent."""
        if self.exchange is not None and self.exchange.connection is not None:
            self.exchange.connection.end_stream()

    def cut(self) -> None:
        """What was asked for is not to be had any more."""
        self.door.counts.cut += 1
        self.abort()

    def abort(self) -> None:
        self._let_go()
        self.transport.abort()

    @property
    def forward(self) -> Forward | None:
        """What is under way to a workspace."""
        decision = self.exchange.decision if self.exchange is not None else None
        return decision if isinstance(decision, Forward) else None

    @property
    def is_idle(self) -> bool:
        return self.exchange is None and not self._held

    def _let_go(self) -> None:
        """Of whoever was asked on behalf of this visitor."""
        exchange, self.exchange = self.exchange, None
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        if exchange is not None and exchange.connection is not None:
            exchange.connection.drop()
            exchange.connection = None

    def hand_over(self) -> bytes:
        """To a tunnel: what was sent early. Nothing of HTTP happens here any more."""
        held, self._held = self._held, b""
        self.exchange = None
        self.deadline = NEVER
        return held

    def eof_received(self) -> bool:
        """The visitor sends no more: has left, or only has nothing more to ask, which looks the same. A request that
        has come whole is still answered, for a while."""
        if self._is_tls or self._is_ending or self.exchange is None or not self.exchange.is_whole:
            return False
        self.is_half_closed = True
        limits = self.door.limits
        self.deadline = self.door.now + (
            limits.half_open_seconds if self.exchange.is_answered else limits.ended_seconds
        )
        return True

    def connection_lost(self, _error: Exception | None) -> None:
        self._let_go()
        self._held = b""
        self.door.everybody.left(self)

    def hold_back(self) -> None:
        """The upstream takes no more for now."""
        self.transport.pause_reading()
        self.deadline = NEVER

    def go_on(self) -> None:
        self.transport.resume_reading()
        self.moved()

    def moved(self) -> None:
        """Something has come of what is under way, so that the next thing has a time of its own. Whoever takes nothing,
        or has left, gains none by it."""
        if self.exchange is not None and not self.is_full and not self.is_half_closed:
            self.deadline = self.patience(self.exchange)

    def patience(self, exchange: "Exchange") -> float:
        """Until when the next thing has to happen: more of the request comes, or its answer begins. An answer that has
        begun may take as long as it likes."""
        limits = self.door.limits
        if not exchange.is_whole:
            return self.door.now + limits.stalled_seconds
        return NEVER if exchange.is_answered else self.door.now + limits.answer_seconds

    def pause_writing(self) -> None:
        self.is_full = True
        self.deadline = self.door.now + self.door.limits.stalled_seconds
        if self.exchange is not None and self.exchange.connection is not None:
            self.exchange.connection.transport.pause_reading()

    def resume_writing(self) -> None:
        self.is_full = False
        if self.exchange is None:
            self._next()
            return
        self.deadline = self.patience(self.exchange)
        if self.exchange.connection is not None:
            self.exchange.connection.transport.resume_reading()

    @abstractmethod
    def _next(self) -> None:
        """Go on with what was sent before its turn."""


def forwarding(peer: bytes, scheme: bytes) -> bytes:
    """What we say of a visitor, in the place of what they said themselves."""
    return b"X-Forwarded-For: %b\r\nX-Forwarded-Proto: %b\r\n" % (peer or b"unknown", scheme)
