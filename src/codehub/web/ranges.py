"""Which bytes of a large answer are wanted (RFC 9110, section 14)."""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    """Behind the last byte."""

    @property
    def length(self) -> int:
        return self.end - self.start

    def of(self, size: int) -> str:
        """As `Content-Range` tells it."""
        return f"bytes {self.start}-{self.end - 1}/{size}"


class NotThere(ValueError):
    """No byte of the range is there."""


def span_of(header: str, size: int) -> Span | None:
    """None where the whole is to be sent: what is no range, and several of them, may be ignored. Raises NotThere."""
    found = _RANGE.fullmatch(header.replace(" ", ""))
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None
    if start >= size:
        raise NotThere
    return Span(start, end)
