"""As much of WebSocket frames as it takes to say goodbye between two of them."""

CLOSE = 0x88  # the last frame of a message, opcode 8


def close_frame(code: int) -> bytes:
    """As a server sends it: unmasked, with nothing but the code."""
    return bytes((CLOSE, 2)) + code.to_bytes(2, "big")


class FrameWalk:
    """Follows the frames that a server sends. Whoever speaks in the middle of one would break it."""

    __slots__ = ("_header", "left")

    def __init__(self) -> None:
        self.left = 0
        """Bytes of a frame still to come; -1 while its header has not come whole, 0 between two frames."""
        self._header = b""

    def feed(self, data: bytes) -> None:
        size, left = len(data), self.left
        if left >= size:
            self.left = left - size
        else:
            self._walk(self._header + data, max(left, 0))

    def _walk(self, data: bytes, position: int) -> None:
        while position < len(data):
            header = data[position : position + 14]
            length = _frame_length(header)
            if length is None:
                self._header, self.left = header, -1
                return
            position += length
        self._header, self.left = b"", position - len(data)


def _frame_length(header: bytes) -> int | None:
    """Of the whole frame, its header included; None while that has not come."""
    if len(header) < 2:
        return None
    mask = 4 if header[1] & 0x80 else 0
    short = header[1] & 0x7F
    if short < 126:
        return 2 + mask + short
    extended = 2 if short == 126 else 8
    if len(header) < 2 + extended:
        return None
    return 2 + extended + mask + int.from_bytes(header[2 : 2 + extended], "big")
