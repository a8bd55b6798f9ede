"""The way of WebSocket frames in one direction of a tunnel, and what in them is handed to a reader.

Only what the reader wants to see is copied and unmasked; the rest is counted and passed over, so that a large upload
costs what its frames cost. Whatever is not a plain WebSocket (compressed, damaged, something else altogether) ends the
following for good, and the `otherwise` rule goes on with the sizes of what passes. Nothing that arrives here can raise.
"""

from typing import Protocol

from codehub.model.activity import Kind

_FINAL = 0x80
_RESERVED = 0x70
_MASKED = 0x80
_LONGEST_FRAME = 1 << 40
_DATA = frozenset((0, 1, 2))
_CONTROLS = frozenset((8, 9, 10))


class CannotFollow(Exception):
    """What passed is not what was expected."""


class Side(Protocol):
    """One direction of a tunnel."""

    def feed(self, data: bytes | memoryview, now: float) -> Kind | None:
        """What these bytes tell of a person or their work, the last of it if there is more. Never raises."""
        ...


class Reader(Protocol):
    """Reads the payload of the data messages of one direction, of which it names the parts that it wants."""

    want: int
    """How many of the next bytes it wants, at least one where `skip` is 0."""
    skip: int
    """How many bytes to pass over before."""

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:
        """Read as many plain frames as it can at a glance, from a piece that begins with a frame and a message. Returns
        how far it got, 0 where it has no quick way. The result is the same as without: only the cost is not."""
        ...

    def take(self, piece: bytes, now: float) -> Kind | None: ...

    def end(self, length: int, now: float) -> Kind | None:
        """A message is over."""
        ...


class Frames:
    """Follows one direction. A client's frames are masked, a server's are not."""

    __slots__ = (
        "_header",
        "_is_control",
        "_is_final",
        "_is_open",
        "_left",
        "_mask",
        "_mask_at",
        "_masked",
        "_otherwise",
        "_reader",
        "_size",
        "is_lost",
    )

    def __init__(self, reader: Reader, otherwise: Side, *, is_client: bool) -> None:
        self._reader = reader
        self._otherwise = otherwise
        self._masked = _MASKED if is_client else 0
        self.is_lost = False
        """Whether this can be followed no longer."""
        self._header = b""
        """Of a frame of which less than the header has come."""
        self._left = 0
        """Bytes of the present frame that have still to come."""
        self._mask = b""
        self._mask_at = 0
        self._is_control = False
        self._is_final = True
        self._is_open = False
        """Whether a message has begun whose last frame has not come."""
        self._size = 0
        """Bytes of the present message so far."""

    def feed(self, data: bytes | memoryview, now: float) -> Kind | None:
        if self.is_lost:
            return self._otherwise.feed(data, now)
        try:
            if self._left or self._header or self._is_open:
                return self._walk(data, now, 0, None)
            position, found = self._reader.glance(data, now)
            return found if position == len(data) else self._walk(data, now, position, found)
        except Exception:  # noqa: BLE001 - the bulkhead: bytes of strangers must not reach the relay as an exception
            self.is_lost = True
            self._header = b""
            return None

    def _walk(self, data: bytes | memoryview, now: float, position: int, found: Kind | None) -> Kind | None:
        if self._header:
            data = self._header + bytes(data)
            self._header = b""
        end = len(data)
        while position < end:
            if not self._left:
                opened = self._open(data, position, end)
                if not opened:
                    self._header = bytes(data[position:end])
                    break
                position = opened
            stop = min(end, position + self._left)
            if not self._is_control and position < stop:
                found = self._read(data, position, stop, now) or found
            self._left -= stop - position
            position = stop
            if not self._left and self._is_final and not self._is_control:
                found = self._reader.end(self._size, now) or found
                self._is_open = False
                self._size = 0
        return found

    def _open(self, data: bytes | memoryview, position: int, end: int) -> int:
        """Read the header of a frame. Returns where its payload begins, 0 where the header is not whole yet."""
        if end - position < 2:
            return 0
        first, second = data[position], data[position + 1]
        length = second & 0x7F
        start = position + 2
        if length >= 126:
            wide = 2 if length == 126 else 8
            if end - start < wide:
                return 0
            length = int.from_bytes(data[start : start + wide], "big")
            start += wide
        if second & 0x80 != self._masked or length > _LONGEST_FRAME:
            raise CannotFollow
        if self._masked:
            if end - start < 4:
                return 0
            self._mask = bytes(data[start : start + 4])
            self._mask_at = 0
            start += 4
        self._begin(first, length)
        return start

    def _begin(self, first: int, length: int) -> None:
        opcode = first & 0x0F
        is_final = bool(first & _FINAL)
        is_control = opcode in _CONTROLS
        if first & _RESERVED or not (is_control or opcode in _DATA):
            raise CannotFollow
        if is_control:
            if length > 125 or not is_final:
                raise CannotFollow
        else:
            if self._is_open != (opcode == 0):
                raise CannotFollow
            self._is_open = True
            self._is_final = is_final
            self._size += length
        self._is_control = is_control
        self._left = length

    def _read(self, data: bytes | memoryview, position: int, stop: int, now: float) -> Kind | None:
        reader = self._reader
        found: Kind | None = None
        while position < stop:
            if reader.skip:
                passed = min(reader.skip, stop - position)
                reader.skip -= passed
            else:
                passed = min(reader.want, stop - position)
                piece = bytes(data[position : position + passed])
                if self._masked:
                    piece = unmasked(piece, self._mask, self._mask_at)
                found = reader.take(piece, now) or found
            self._mask_at += passed
            position += passed
        return found


def unmasked(piece: bytes, mask: bytes, at: int) -> bytes:
    """Bytes of a payload from this place on, as they were before they were masked."""
    size = len(piece)
    turned = mask[at & 3 :] + mask[: at & 3]
    key = (turned * (size // 4 + 1))[:size]
    return (int.from_bytes(piece, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
