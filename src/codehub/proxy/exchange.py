"""One request and its answer."""

from typing import TYPE_CHECKING

from codehub.proxy.chunks import Chunks
from codehub.proxy.doorkeeper import Asked, Forward, ToApi
from codehub.proxy.refusals import Refusal, Refused
from codehub.proxy.request_head import Fields

if TYPE_CHECKING:
    from codehub.proxy.connection import Connection

_REPEATABLE = frozenset({b"GET", b"HEAD", b"OPTIONS"})


class Exchange:
    """What is known of one request until its answer is over. Raises Refused where head and line contradict."""

    __slots__ = (
        "_chunks",
        "_left",
        "asked",
        "began",
        "closes",
        "connection",
        "decision",
        "fields",
        "first",
        "is_1_0",
        "is_answered",
        "is_whole",
        "retried",
        "status",
    )

    def __init__(self, asked: Asked, fields: Fields, is_1_0: bool, began: float) -> None:
        if is_1_0 and fields.is_chunked:
            raise Refused(Refusal.BAD_FRAMING)
        if fields.is_upgrade and (is_1_0 or asked.method != b"GET"):
            raise Refused(Refusal.BAD_UPGRADE)
        self.asked = asked
        self.fields = fields
        self.is_1_0 = is_1_0
        self.began = began
        self._left = fields.length
        self._chunks = Chunks() if fields.is_chunked else None
        self.is_whole = not fields.length and not fields.is_chunked
        """Whether the last byte of the request has come."""
        self.first = b""
        """What of its body has come with the head."""
        self.closes = fields.closes or is_1_0
        self.decision: Forward | ToApi | None = None
        self.connection: Connection | None = None
        self.is_answered = False
        """Whether the visitor has been sent the beginning of its answer."""
        self.retried = False
        self.status = 0

    @property
    def is_to_head(self) -> bool:
        return self.asked.method == b"HEAD"

    @property
    def can_be_repeated(self) -> bool:
        """Whether the same request may be sent again when nobody can tell what became of it: once, if it changes
        nothing and has no body."""
        return not self.retried and self.asked.method in _REPEATABLE and not (self.fields.length or self._chunks)

    def take(self, data: bytes) -> tuple[bytes, bytes]:
        """What of this belongs to the body and may be passed on, and what came after it. Raises BadChunks."""
        chunks = self._chunks
        if chunks is not None:
            passed = chunks.take(data)
            self.is_whole = chunks.is_done
            return passed, chunks.rest
        if len(data) < self._left:
            self._left -= len(data)
            return data, b""
        left, self._left = self._left, 0
        self.is_whole = True
        return (data, b"") if len(data) == left else (data[:left], data[left:])

    def head(self, decision: Forward | ToApi, forwarding: bytes) -> bytes:
        """As it goes on: the line, what we say of the visitor, and what of theirs is passed on."""
        version = b"HTTP/1.0\r\nConnection: close" if self.is_1_0 else b"HTTP/1.1"
        fields = self.fields
        match decision:
            case Forward():
                own = fields.for_workspace
            case ToApi():
                own = decision.headers + fields.for_api
        return b"%b %b %b\r\n%b%b%b\r\n" % (
            self.asked.method,
            decision.target,
            version,
            forwarding,
            fields.common,
            own,
        )
