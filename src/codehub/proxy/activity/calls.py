"""What the two connections of a VS Code tab have in common: calls, known by their names."""

from collections.abc import Callable
from typing import Protocol

from codehub.model.activity import Kind

NAMES = 128
"""The names stand in so many of the first bytes of a message."""

UNREADABLE = b"unreadable"
"""The name of a call that has another form than expected, as in a version that is not known."""

Meaning = Kind | bytes | Callable[[bytes], Kind | bytes | None] | None
"""What a call means: always this; its name, where nobody knows; what a look at its arguments says; nothing."""


class Calls(Protocol):
    """One of the two connections."""

    @staticmethod
    def is_call(data: bytes | memoryview, start: int, stop: int) -> bool:
        """By a single byte: whether a client's message may be a call, and is no answer or subscription."""
        ...

    @staticmethod
    def is_news(data: bytes | memoryview, start: int, stop: int) -> bool:
        """By a single byte: whether a server's message may be something new, and is no answer."""
        ...

    @staticmethod
    def from_client(head: bytes) -> Meaning:
        """Of the call that begins so."""
        ...

    @staticmethod
    def from_server(head: bytes) -> Kind | None: ...
