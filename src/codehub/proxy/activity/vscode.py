"""VS Code's own protocol: messages with a header of 13 bytes, a stream over WebSocket frames (contract 14).

Type, id, acknowledged id, length; then the data. Only Regular messages carry calls; the first Control messages say
which of the two connections of a tab this is. KeepAlive, Ack and the rest are upkeep of both sides, every few seconds.
"""

import re
import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping

from codehub.model.activity import Kind
from codehub.proxy.activity.calls import NAMES, Calls
from codehub.proxy.activity.extension_host import ExtensionHost
from codehub.proxy.activity.frames import CannotFollow, unmasked
from codehub.proxy.activity.management import Management
from codehub.proxy.activity.rhythm import Rhythm

_HEADER = struct.Struct(">B8xI")
_unpack = _HEADER.unpack_from
"""Of a header the type and the length."""
LOOK = 1024
"""Of each message: names stand in its first hundred bytes, the path of a file in the first thousand. What cannot be
seen in it is taken for the person's."""
_LONGEST_MESSAGE = 1 << 30
MOST_UNMASKED = 4096
"""Of longer frames only what is looked at is unmasked."""
_BINARY = 0x82  # the only frame of a binary message
_REGULAR, _CONTROL, _ACK, _KEEP_ALIVE = 1, 2, 3, 9
_TYPES = frozenset(range(12))
_UPKEEP = frozenset((_ACK, _KEEP_ALIVE))
_LOOKED_AT = frozenset((_REGULAR, _CONTROL))
_CONNECTION = re.compile(rb'"desiredConnectionType":(\d)')


CONNECTIONS: Mapping[bytes, Calls] = {b"1": Management(), b"2": ExtensionHost()}


class Connection:
    """What both directions have to know of each other: which of a tab's connections this is, told by the client."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls: Calls | None = None

    def told(self, control: bytes) -> None:
        found = _CONNECTION.search(control)
        if found is None:
            return
        if found[1] not in CONNECTIONS:
            raise CannotFollow  # a forwarded port: its bytes are any app's
        self.calls = CONNECTIONS[found[1]]


class Messages(ABC):
    """Reads one direction: walks over the headers, and shows the beginning of each Regular message to those who know
    its meaning."""

    __slots__ = ("_connection", "_held", "_look", "_rest", "_type", "skip", "want")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._held = b""
        self._look = 0
        """How much of the data of the present message is looked at; 0 while its header is read."""
        self._rest = 0
        self._type = 0
        self.want, self.skip = _HEADER.size, 0

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
        self.skip, self.want, self._look = self._rest, _HEADER.size, 0
        if self._type == _CONTROL:
            self._told(piece)
            return None
        return self._seen(piece, 0, len(piece), now)

    def end(self, length: int, now: float) -> Kind | None:  # noqa: ARG002 - the stream does not care about frames
        return None

    @property
    def _is_between(self) -> bool:
        return self.want == 13 and not self.skip and not self._look

    def _opened(self, header: bytes) -> None:
        type_, length = _HEADER.unpack(header)
        if type_ not in _TYPES or length > _LONGEST_MESSAGE:
            raise CannotFollow
        if length and type_ in _LOOKED_AT:
            self._type = type_
            self.want = self._look = min(length, LOOK)
            self._rest = length - self._look
        else:
            self.want, self.skip = _HEADER.size, length

    def _payload(self, data: bytes | memoryview, position: int, stop: int, now: float) -> Kind | None:
        """The whole payload of a frame. What `take` does in steps is done at once for each message that lies in it."""
        found: Kind | None = None
        while position < stop:
            if self._is_between and position + 13 <= stop:
                type_, length = _unpack(data, position)
                after = position + 13 + length
                if after <= stop and type_ in _TYPES:
                    if type_ == _REGULAR and length:
                        found = self._seen(data, position + 13, after, now) or found
                    elif type_ == _CONTROL:
                        self._told(bytes(data[position + 13 : min(after, position + 13 + LOOK)]))
                    position = after
                    continue
            passed = min(self.skip or self.want, stop - position)
            if self.skip:
                self.skip -= passed
            else:
                found = self.take(bytes(data[position : position + passed]), now) or found
            position += passed
        return found

    @abstractmethod
    def _told(self, control: bytes) -> None:
        """A Control message."""

    @abstractmethod
    def _seen(self, data: bytes | memoryview, start: int, stop: int, now: float) -> Kind | None:
        """A Regular message."""


class FromClient(Messages):
    __slots__ = ("_rhythm",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._rhythm = Rhythm()

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:
        position, end = 0, len(data)
        found: Kind | None = None
        while position + 6 <= end and data[position] == _BINARY:
            mask_at, length = position + 2, data[position + 1] - 128
            if length == 126:
                mask_at, length = position + 4, data[position + 2] << 8 | data[position + 3]
            start = mask_at + 4
            stop = start + length
            if stop > end or not 0 <= length <= MOST_UNMASKED or data[position + 1] == 255:
                break
            if length == 13 and self._is_between and _is_upkeep(data, start, mask_at):
                position = stop  # not even unmasked
                continue
            payload = unmasked(bytes(data[start:stop]), bytes(data[mask_at:start]), 0)
            found = self._payload(payload, 0, length, now) or found
            position = stop
        return position, found

    def _told(self, control: bytes) -> None:
        self._connection.told(control)

    def _seen(self, data: bytes | memoryview, start: int, stop: int, now: float) -> Kind | None:
        calls = self._connection.calls
        if calls is None:
            raise CannotFollow  # a version that begins in another way
        if not calls.is_call(data, start, stop):
            return None
        meaning = calls.from_client(bytes(data[start : min(stop, start + NAMES)]))
        if callable(meaning):
            meaning = meaning(bytes(data[start : min(stop, start + LOOK)]))
        if isinstance(meaning, bytes):  # a call that nobody here knows, by its name
            return None if self._rhythm.is_clockwork(meaning, now) else Kind.MESSAGE
        return meaning


class FromServer(Messages):
    __slots__ = ()

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:
        position, end = 0, len(data)
        found: Kind | None = None
        while position + 2 <= end and data[position] == _BINARY:
            start, length = position + 2, data[position + 1]
            if length == 126:
                start, length = position + 4, int.from_bytes(data[position + 2 : position + 4], "big")
            stop = start + length
            if stop > end or data[position + 1] > 126:
                break
            found = self._payload(data, start, stop, now) or found
            position = stop
        return position, found

    def _told(self, control: bytes) -> None:
        """Only the client's say what a connection is for."""

    def _seen(self, data: bytes | memoryview, start: int, stop: int, now: float) -> Kind | None:  # noqa: ARG002
        calls = self._connection.calls
        if calls is None:
            raise CannotFollow
        if not calls.is_news(data, start, stop):
            return None
        return calls.from_server(bytes(data[start : min(stop, start + NAMES)]))


def _is_upkeep(data: bytes | memoryview, start: int, mask_at: int) -> bool:
    """Whether a masked header is that of upkeep without data: its last four bytes are the length."""
    return (
        data[start] ^ data[mask_at] in _UPKEEP
        and data[start + 12] == data[mask_at]
        and data[start + 11] == data[mask_at + 3]
        and data[start + 10] == data[mask_at + 2]
        and data[start + 9] == data[mask_at + 1]
    )
