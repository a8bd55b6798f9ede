"""VS Code's own protocol: messages with a header of 13 bytes, a stream over WebSocket frames (contract 14).

Type, id, acknowledged id, length; then the data. Only Regular messages carry calls; the first Control messages say which
of the two connections of a tab this is. KeepAlive, Ack and the rest are upkeep of both sides, every few seconds.
"""

import re
import struct

from codehub.model.activity import Kind
from codehub.proxy.activity import extension_host, management
from codehub.proxy.activity.frames import CannotFollow
from codehub.proxy.activity.rhythm import Rhythm

HEADER = struct.Struct(">BIII")
LOOK = 1024
"""Of each message: names stand in its first hundred bytes, the path of a file in the first thousand. What cannot be
seen in it is taken for the person's."""
_LONGEST_MESSAGE = 1 << 30
_REGULAR, _CONTROL, _ACK, _KEEP_ALIVE = 1, 2, 3, 9
_TYPES = frozenset(range(12))
_CONNECTION = re.compile(rb'"desiredConnectionType":(\d)')


class Connection:
    """What both directions have to know of each other: which of a tab's connections this is, told by the client."""

    __slots__ = ("reads",)

    def __init__(self) -> None:
        self.reads: type[management.Calls | extension_host.Calls] | None = None

    def told(self, control: bytes) -> None:
        found = _CONNECTION.search(control)
        if found is None:
            return
        if found[1] not in CONNECTIONS:
            raise CannotFollow  # a forwarded port: its bytes are any app's
        self.reads = CONNECTIONS[found[1]]


CONNECTIONS: dict[bytes, type[management.Calls | extension_host.Calls]] = {
    b"1": management.Calls,
    b"2": extension_host.Calls,
}


class Messages:
    """Reads one direction: walks over the headers, and shows the beginning of each Regular message to those who know its
    meaning."""

    __slots__ = ("_connection", "_held", "_is_client", "_look", "_rest", "_rhythm", "_type", "skip", "want")

    def __init__(self, connection: Connection, *, is_client: bool) -> None:
        self._connection = connection
        self._is_client = is_client
        self._rhythm = Rhythm()
        self._held = b""
        self._look = 0
        """How much of the data of the present message is looked at; 0 while its header is read."""
        self._rest = 0
        self._type = 0
        self.want, self.skip = HEADER.size, 0

    def is_upkeep(self, first: int, length: int) -> bool:
        is_between = self.want == 13 and not self.skip and not self._look
        return length == 13 and is_between and (first == _KEEP_ALIVE or first == _ACK)  # noqa: PLR1714 - twice as quick

    def take(self, piece: bytes, now: float) -> Kind | None:
        if self.want > len(piece):
            self.want -= len(piece)
            self._held += piece
            return None
        if self._held:
            piece = self._held + piece
            self._held = b""
        if not self._look:
            self._opened(piece)
            return None
        self.skip, self.want, self._look = self._rest, HEADER.size, 0
        return self._seen(piece, now)

    def end(self, length: int, now: float) -> Kind | None:  # noqa: ARG002 - the stream does not care about frames
        return None

    def _opened(self, header: bytes) -> None:
        type_, _, _, length = HEADER.unpack(header)
        if type_ not in _TYPES or length > _LONGEST_MESSAGE:
            raise CannotFollow
        if length and (type_ == _REGULAR or type_ == _CONTROL):  # noqa: PLR1714
            self._type = type_
            self.want = self._look = min(length, LOOK)
            self._rest = length - self._look
        else:
            self.want, self.skip = HEADER.size, length

    def _seen(self, head: bytes, now: float) -> Kind | None:
        if self._type == _CONTROL:
            if self._is_client:
                self._connection.told(head)
            return None
        calls = self._connection.reads
        if calls is None:
            return None
        if not self._is_client:
            return calls.from_server(head)
        meant = calls.from_client(head)
        if isinstance(meant, bytes):  # a call that nobody here knows, by its name
            return None if self._rhythm.is_clockwork(meant, now) else Kind.MESSAGE
        return meant
