"""What the two connections of a VS Code tab have in common: calls, known by their names."""

from collections.abc import Callable
from typing import Protocol

from codehub.model.activity import Kind

NAMES = 128
"""The names stand in so many of the first bytes of a message."""

Meaning = Kind | bytes | Callable[[bytes], Kind | bytes | None] | None
"""What a call means: always this; its name, where nobody knows; what a look at its arguments says; nothing."""


class Calls(Protocol):
    """One of the two connections."""

    @staticmethod
    def is_call(data: bytes | memoryview, at: int, mask_at: int) -> bool:
        """By a single byte, whether the masked message in a client's frame is a call and not an answer."""
        ...

    @staticmethod
    def from_client(head: bytes) -> Meaning:
        """Of the call that begins so."""
        ...

    @staticmethod
    def from_server(head: bytes) -> Kind | None: ...
