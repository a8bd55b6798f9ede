"""VS Code's own protocol: messages with a header of 13 bytes, a stream over WebSocket frames (contract 14).

Type, id, acknowledged id, length; then the data. Only Regular messages carry calls; the first Control messages say
which of the two connections of a tab this is. KeepAlive, Ack and the rest are upkeep of both sides, every few seconds.
"""

import re
import struct
from collections.abc import Mapping

from codehub.model.activity import Kind
from codehub.proxy.activity.calls import NAMES, Calls
from codehub.proxy.activity.extension_host import ExtensionHost
from codehub.proxy.activity.frames import CannotFollow, unmasked
from codehub.proxy.activity.management import Management
from codehub.proxy.activity.rhythm import Rhythm

_HEADER = struct.Struct(">BIII")
LOOK = 1024
"""Of each message: names stand in its first hundred bytes, the path of a file in the first thousand. What cannot be
seen in it is taken for the person's."""
_LONGEST_MESSAGE = 1 << 30
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


class Messages:
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
        return self._seen(piece, now)

    def end(self, length: int, now: float) -> Kind | None:  # noqa: ARG002 - the stream does not care about frames
        return None

    @property
    def _is_between(self) -> bool:
        return self.want == 13 and not self.skip and not self._look

    def _opened(self, header: bytes) -> None:
        type_, _, _, length = _HEADER.unpack(header)
        if type_ not in _TYPES or length > _LONGEST_MESSAGE:
            raise CannotFollow
        if length and type_ in _LOOKED_AT:
            self._type = type_
            self.want = self._look = min(length, LOOK)
            self._rest = length - self._look
        else:
            self.want, self.skip = _HEADER.size, length

    def _told(self, control: bytes) -> None:
        """Only the client's Control messages matter."""

    def _seen(self, head: bytes, now: float) -> Kind | None:
        raise NotImplementedError


class FromClient(Messages):
    __slots__ = ("_rhythm",)

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._rhythm = Rhythm()

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:
        calls = self._connection.calls
        if calls is None or not self._is_between:
            return 0, None
        position, end, found = 0, len(data), None
        while position + 19 <= end and data[position] == _BINARY:
            mask_at, length = position + 2, data[position + 1] - 128
            if length == 126:
                mask_at, length = position + 4, data[position + 2] << 8 | data[position + 3]
            start = mask_at + 4
            stop = start + length
            if stop > end or not 128 <= data[position + 1] < 255:
                break
            type_ = data[start] ^ data[mask_at]
            if length != 13 or type_ not in _UPKEEP:
                if type_ != _REGULAR or _length(data, start, mask_at) != length - 13:
                    break
                if calls.is_call(data, start + 13, mask_at):
                    found = self._called(calls, data, start, stop, mask_at, now) or found
            position = stop
        return position, found

    def _called(
        self, calls: Calls, data: bytes | memoryview, start: int, stop: int, mask_at: int, now: float
    ) -> Kind | None:
        mask = bytes(data[mask_at : mask_at + 4])
        head = unmasked(bytes(data[start + 13 : min(start + 13 + NAMES, stop)]), mask, 1)
        meaning = calls.from_client(head)
        if callable(meaning):
            meaning = meaning(unmasked(bytes(data[start + 13 : min(start + 13 + LOOK, stop)]), mask, 1))
        return self._meant(meaning, now) if meaning else None

    def _told(self, control: bytes) -> None:
        self._connection.told(control)

    def _seen(self, head: bytes, now: float) -> Kind | None:
        calls = self._connection.calls
        if calls is None:
            return None
        meaning = calls.from_client(head[:NAMES])
        return self._meant(meaning(head) if callable(meaning) else meaning, now)

    def _meant(self, meaning: Kind | bytes | None, now: float) -> Kind | None:
        if isinstance(meaning, bytes):  # a call that nobody here knows, by its name
            return None if self._rhythm.is_clockwork(meaning, now) else Kind.MESSAGE
        return meaning


class FromServer(Messages):
    __slots__ = ()

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:  # noqa: ARG002
        calls = self._connection.calls
        if calls is None or not self._is_between:
            return 0, None
        position, end, found = 0, len(data), None
        while position + 15 <= end and data[position] == _BINARY:
            start, length = position + 2, data[position + 1]
            if length == 126:
                start, length = position + 4, data[position + 2] << 8 | data[position + 3]
            stop = start + length
            if stop > end or data[position + 1] > 126:
                break
            type_ = data[start]
            if length != 13 or type_ not in _UPKEEP:
                if type_ != _REGULAR or int.from_bytes(data[start + 9 : start + 13], "big") != length - 13:
                    break
                found = calls.from_server(bytes(data[start + 13 : min(start + 13 + NAMES, stop)])) or found
            position = stop
        return position, found

    def _seen(self, head: bytes, now: float) -> Kind | None:  # noqa: ARG002
        calls = self._connection.calls
        return None if calls is None else calls.from_server(head[:NAMES])


def _length(data: bytes | memoryview, start: int, mask_at: int) -> int:
    """What the header of a masked message says of its data; it stands at its ninth byte."""
    masked = int.from_bytes(data[start + 9 : start + 13], "big")
    mask = int.from_bytes(data[mask_at : mask_at + 4], "big")
    return masked ^ (mask << 8 & 0xFFFFFFFF | mask >> 24)
