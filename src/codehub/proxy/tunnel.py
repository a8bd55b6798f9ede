"""A WebSocket: bytes in both directions, as they come, until both sides have ended."""

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from codehub.proxy.doorkeeper import Forward, Watcher, Why
from codehub.proxy.frames import FrameWalk, close_frame

if TYPE_CHECKING:
    from codehub.proxy.front_door import FrontDoor

log = structlog.get_logger(__name__)

NEVER = float("inf")
# A peer that is gone without a word is noticed within two minutes, however quiet the tunnel is.
_KEEP_ALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 15), (socket.TCP_KEEPCNT, 4))


class Tunnel:
    """The two ends and what is known of them."""

    __slots__ = ("_door", "_open", "_watcher", "deadline", "forward", "peer", "visitor", "workspace")

    def __init__(
        self,
        door: "FrontDoor",
        forward: Forward,
        peer: str,
        visitor: asyncio.Transport,
        workspace: asyncio.Transport,
        watcher: Watcher | None,
    ) -> None:
        self._door = door
        self._open = 2
        self.forward = forward
        self.peer = peer
        self._watcher = watcher
        self.deadline = NEVER
        self.visitor = _VisitorsEnd(self, visitor, workspace, watcher.from_visitor if watcher else _nobody)
        self.workspace = _WorkspacesEnd(self, workspace, visitor, watcher.from_workspace if watcher else _nobody)
        for end in (self.visitor, self.workspace):
            _keep_alive(end.transport)
            end.transport.set_protocol(end)

    def begin(self, early: bytes, data: bytes, *, has_visitor_ended: bool) -> None:
        """With what the visitor had sent before they were answered, and what the workspace sent with its answer."""
        if data:
            self.workspace.data_received(data)
        if early:
            self.visitor.data_received(early)
        for end in (self.visitor, self.workspace):
            if not end.transport.is_closing():
                end.transport.resume_reading()
        if has_visitor_ended:
            self.visitor.eof_received()

    def half_close(self) -> None:
        """One side has said all it will; the other may still, for a while."""
        self.deadline = self._door.now + self._door.limits.half_open_seconds

    def close(self, why: Why) -> None:
        """Say why to the visitor, if a frame of ours does not fall into one of theirs; the workspace sees an end."""
        self.workspace.transport.abort()
        transport = self.visitor.transport
        if transport.is_closing():
            return
        transport.set_protocol(_Ending(self))
        if self.workspace.has_ended:
            self._end(transport)  # they have been told already that nothing more comes
            return
        if not self.workspace.walk.left:
            transport.write(close_frame(why.value))
        if transport.can_write_eof():
            transport.resume_reading()
            transport.write_eof()  # what they still send is read: to close before would take our frame away from them
            self.deadline = self._door.now + self._door.limits.linger_seconds
        else:
            self._end(transport)

    def abort(self) -> None:
        self.deadline = NEVER
        self.workspace.transport.abort()
        self.visitor.transport.abort()

    def lost(self, other: asyncio.Transport) -> None:
        """One connection is gone: the other is sent what is left, and ended."""
        self._open -= 1
        if self._open:
            self._end(other)
            return
        if self._watcher is not None:
            try:
                self._watcher.ended()
            except Exception:  # a bulkhead: whoever watches a tunnel must not be able to break it
                log.exception("a watcher failed")
        self._door.everybody.ended(self)
        del self.visitor.tunnel, self.workspace.tunnel  # garbage is looked for seldom: this goes by itself

    def _end(self, transport: asyncio.Transport) -> None:
        transport.close()
        self.deadline = self._door.now + self._door.limits.stalled_seconds


def _nobody(_data: bytes) -> None:
    """Watches."""


class _End(asyncio.Protocol):
    """What comes from one side goes to the other; what one cannot take, the other is not asked for."""

    __slots__ = ("_tell", "_write", "has_ended", "other", "transport", "tunnel")

    def __init__(
        self, tunnel: Tunnel, transport: asyncio.Transport, other: asyncio.Transport, tell: Callable[[bytes], None]
    ) -> None:
        self.tunnel = tunnel
        self.transport = transport
        self.other = other
        self._write = other.write  # found once: this is done for every message
        self._tell = tell
        self.has_ended = False

    def unwatched(self, error: Exception) -> None:
        """The watcher cannot follow any more: the tunnel goes on without it."""
        log.warning("a watcher failed", exc_info=error)
        self._tell = _nobody

    def eof_received(self) -> bool:
        self.has_ended = True
        if self.tunnel.visitor.has_ended and self.tunnel.workspace.has_ended:
            self.other.close()
            return False
        if not self.other.can_write_eof():  # TLS has no half of an end
            self.other.close()
            return False
        self.other.write_eof()
        self.tunnel.half_close()
        return self.transport.can_write_eof()

    def connection_lost(self, _error: Exception | None) -> None:
        self.tunnel.lost(self.other)

    def pause_writing(self) -> None:
        if not self.other.is_closing():
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if not self.other.is_closing():
            self.other.resume_reading()


class _VisitorsEnd(_End):
    __slots__ = ()

    def data_received(self, data: bytes) -> None:
        self._write(data)
        try:
            self._tell(data)
        except Exception as error:  # noqa: BLE001 (a bulkhead, as in `Tunnel.lost`)
            self.unwatched(error)


class _WorkspacesEnd(_End):
    __slots__ = ("walk",)

    def __init__(
        self, tunnel: Tunnel, transport: asyncio.Transport, other: asyncio.Transport, tell: Callable[[bytes], None]
    ) -> None:
        super().__init__(tunnel, transport, other, tell)
        self.walk = FrameWalk()

    def data_received(self, data: bytes) -> None:
        self._write(data)
        walk = self.walk
        if walk.left or not 1 < len(data) < 128 or data[1] + 2 != len(data):  # else one short frame, as nearly all are
            walk.feed(data)
        try:
            self._tell(data)
        except Exception as error:  # noqa: BLE001 (a bulkhead, as in `Tunnel.lost`)
            self.unwatched(error)


class _Ending(asyncio.Protocol):
    """The visitor's end after our goodbye: nothing they say is for anybody."""

    __slots__ = ("_tunnel",)

    def __init__(self, tunnel: Tunnel) -> None:
        self._tunnel = tunnel

    def connection_lost(self, _error: Exception | None) -> None:
        self._tunnel.lost(self._tunnel.workspace.transport)


def _keep_alive(transport: asyncio.Transport) -> None:
    connected: socket.socket = transport.get_extra_info("socket")
    if connected.family == socket.AF_UNIX:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEP_ALIVE:
        connected.setsockopt(socket.IPPROTO_TCP, option, value)
