"""The last moments of a process that is being replaced: whoever is there is let go of without a request lost."""

import asyncio
import fcntl
import struct
import termios

import structlog

from codehub.clock import elapsed
from codehub.proxy.doorkeeper import Why
from codehub.proxy.front_door import FrontDoor
from codehub.proxy.presence import Presence

log = structlog.get_logger(__name__)

IDLE_SECONDS = 6.0
"""How long an idle connection may still bring a request; many clients give theirs up by themselves after 5 s."""
GOODBYE_SECONDS = 3.0
LOOK_SECONDS = 0.05


async def drain(door: FrontDoor, seconds: float, hurry: asyncio.Event) -> None:
    """Nothing is accepted any more. Answers say that their connection closes, and streams of events end; WebSockets
    stay until all requests are answered or the time is over, and are then told to come back, to a successor."""
    door.is_draining = True
    began = elapsed()
    everybody = door.everybody
    while everybody.visitors and elapsed() - began < seconds:
        for visitor in list(everybody.visitors):
            visitor.end_stream()
        if hurry.is_set() or elapsed() - began > IDLE_SECONDS:
            for visitor in [each for each in everybody.visitors if each.is_idle and not _has_unread(each)]:
                visitor.end()
        await asyncio.sleep(LOOK_SECONDS)
    if everybody.visitors:
        log.warning("requests cut", number=len(everybody.visitors))
    everybody.cut(Why.RESTART, lambda _forward: True)
    await _until_nobody(door)
    everybody.abort()
    door.pool.close()
    await _until_nobody(door)


async def _until_nobody(door: FrontDoor) -> None:
    began = elapsed()
    while not door.everybody.is_nobody and elapsed() - began < GOODBYE_SECONDS:
        await asyncio.sleep(LOOK_SECONDS)


def _has_unread(visitor: Presence) -> bool:
    """Whether a request has arrived that this process has not looked at yet."""
    connected = visitor.transport.get_extra_info("socket")
    if connected is None or visitor.transport.is_closing():
        return False
    (number,) = struct.unpack("i", fcntl.ioctl(connected.fileno(), termios.FIONREAD, b"\0\0\0\0"))
    return bool(number)
