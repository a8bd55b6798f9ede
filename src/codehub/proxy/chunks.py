"""The framing of a chunked body, checked while it passes: what goes on has been understood to the byte."""

import re

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[\t -~\x80-\xff]*)?\r\n")
_PART_OF_SIZE = re.compile(rb"[0-9A-Fa-f]{0,15}(?:(?<=.);[\t -~\x80-\xff]*)?\r?", re.DOTALL)
_TRAILERS = re.compile(rb"(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*\r\n")
_NOT_IN_TRAILERS = re.compile(
    rb"^(?:host|content[-_]length|transfer[-_]encoding|connection|cookie|set[-_]cookie|authorization|forwarded|te|upgrade"
    rb"|x[-_]forwarded[-_][^:]*|x[-_]real[-_]ip|x[-_]codehub[-_][^:]*):",
    re.IGNORECASE | re.MULTILINE,
)
LONGEST_LINE = 4096
LONGEST_TRAILERS = 16384


class BadChunks(Exception):
    """This is no chunked body."""


class Chunks:
    """One chunked body. `is_done` once its end has passed; what came after it is in `rest`."""

    __slots__ = ("_in_trailers", "_left", "_unread", "is_done", "rest")

    def __init__(self) -> None:
        self._left = 0  # of the data of a chunk and of its CRLF
        self._unread = b""  # the beginning of a line that has not come whole
        self._in_trailers = False
        self.is_done = False
        self.rest = b""

    @property
    def is_between(self) -> bool:
        """Whether all that was passed on are whole chunks, and not the last."""
        return not self._left and not self._in_trailers

    def take(self, data: bytes) -> bytes:
        """What of the body can be passed on, now that this has come. Raises BadChunks before a wrong byte is."""
        if self._unread:
            data = self._unread + data
            self._unread = b""
        position, end = 0, len(data)
        while position < end and not self.is_done:
            if self._left:
                position = self._data(data, position, end)
            elif self._in_trailers:
                before, position = position, self._trailers(data, position)
                if position == before:
                    break
            else:
                found = _SIZE.match(data, position)
                if found is None:
                    self._hold(data, position)
                    break
                position = found.end()
                size = int(found[1], 16)
                self._left, self._in_trailers = (size + 2, False) if size else (0, True)
        if self.is_done:
            self.rest = data[position:]
        return data if position == end else data[:position]

    def _data(self, data: bytes, position: int, end: int) -> int:
        after = position + self._left
        ending = data[max(position, after - 2) : after]
        if not (b"\r\n".endswith(ending) if after <= end else ending in (b"", b"\r")):
            raise BadChunks
        self._left = max(0, after - end)
        return min(after, end)

    def _trailers(self, data: bytes, position: int) -> int:
        found = _TRAILERS.match(data, position)
        if found is None:
            last = data.rfind(b"\r\n", position)
            whole_lines = data[position : last + 2] + b"\r\n" if last >= 0 else b"\r\n"
            if len(data) - position > LONGEST_TRAILERS or not _TRAILERS.fullmatch(whole_lines):
                raise BadChunks
            self._unread = data[position:]
            return position
        if _NOT_IN_TRAILERS.search(found[0]):
            raise BadChunks
        self.is_done = True
        return found.end()

    def _hold(self, data: bytes, position: int) -> None:
        line = data[position:]
        if len(line) > LONGEST_LINE or not _PART_OF_SIZE.fullmatch(line):
            raise BadChunks
        self._unread = line
