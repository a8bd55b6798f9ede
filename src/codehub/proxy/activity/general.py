"""The rule for apps that nobody here knows, and for tunnels that could not be followed.

From the client, data counts unless it is a ping or recurs like clockwork. From the server, it counts only while it is
irregular or bulky: a page that shows a clock is no work, a log that scrolls is."""

import re

from codehub.model.activity import Kind
from codehub.proxy.activity.rhythm import Rhythm

LOOK = 64
BULKY_BYTES = 32 * 1024
"""In one message, or in one piece of what cannot be followed."""
SMALL_BYTES = 32
"""Of what cannot be followed: a keep-alive of any kind is no longer than that."""
_NEVER_ENDS = 1 << 62

_PING = re.compile(
    rb"""\s*(?:[0-9hH]?               # nothing, or the one letter of engine.io and SockJS
    |["'\[{\s]*(?:\w+["']?\s*[:,]\s*["']?)?(?:ping|pong|heart-?beat|keep-?alive|noop|ka)\b.*)\s*""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def is_ping(message: bytes) -> bool:
    """By its looks: short, and says so itself."""
    return len(message) < LOOK and _PING.fullmatch(message) is not None


class Client:
    """Reads messages of a client. Those of one size are one kind of message."""

    __slots__ = ("_head", "_rhythm", "skip", "want")

    def __init__(self) -> None:
        self._rhythm = Rhythm()
        self._head = b""
        self.want, self.skip = LOOK, 0

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:  # noqa: ARG002
        return 0, None

    def take(self, piece: bytes, now: float) -> Kind | None:  # noqa: ARG002 - decided at its end
        self._head += piece
        self.want = LOOK - len(self._head)
        if not self.want:
            self.skip = _NEVER_ENDS
        return None

    def end(self, length: int, now: float) -> Kind | None:
        head, self._head = self._head, b""
        self.want, self.skip = LOOK, 0
        if is_ping(head) or self._rhythm.is_clockwork(length.bit_length(), now):
            return None
        return Kind.MESSAGE


class Server:
    """Reads messages of a server: their sizes are all that matters."""

    __slots__ = ("_irregular", "skip", "want")

    def __init__(self) -> None:
        self._irregular = Irregular()
        self.want, self.skip = 1, _NEVER_ENDS

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:  # noqa: ARG002
        return 0, None

    def take(self, piece: bytes, now: float) -> Kind | None:  # noqa: ARG002
        return None

    def end(self, length: int, now: float) -> Kind | None:
        self.skip = _NEVER_ENDS
        return self._irregular.kind(length, now)


class Irregular:
    """What a server sends unasked, by size and time."""

    __slots__ = ("_rhythm",)

    def __init__(self) -> None:
        self._rhythm = Rhythm()

    def kind(self, size: int, now: float) -> Kind | None:
        if size >= BULKY_BYTES:
            return Kind.TRANSFER
        return None if self._rhythm.is_clockwork(size.bit_length(), now) else Kind.MESSAGE


class Pieces:
    """What passes in a tunnel that cannot be followed, as it was read from the socket: only its size is known."""

    __slots__ = ("_irregular",)

    def __init__(self) -> None:
        self._irregular = Irregular()

    def feed(self, data: bytes | memoryview, now: float) -> Kind | None:
        size = len(data)
        return None if size <= SMALL_BYTES else self._irregular.kind(size, now)
