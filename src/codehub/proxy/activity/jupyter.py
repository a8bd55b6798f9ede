"""JupyterLab's tunnels: one to each kernel, one to each terminal, one for notices (contract 14).

To a kernel, messages are JSON, or binary with JSON in it (its subprotocol v1); both name their type in clear text, that
of the message itself before that of its parent. To a terminal they are lists of two."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

from codehub.model.activity import Kind
from codehub.proxy.activity.rhythm import Rhythm

LOOK = 1024
OLD_SCREEN_SECONDS = 2.0
"""What a terminal prints this soon after a tab has joined it is what stood there before."""
_NEVER_ENDS = 1 << 62
_TYPE = re.compile(rb'"msg_type": ?"(\w+)"')

_TO_KERNEL: Mapping[bytes, Kind | None] = {
    b"execute_request": Kind.NOTEBOOK,
    b"input_reply": Kind.NOTEBOOK,
    b"complete_request": Kind.COMPLETION,
    b"inspect_request": Kind.COMPLETION,
    b"kernel_info_request": None,
    b"history_request": None,
    b"is_complete_request": None,
    b"comm_info_request": None,
    b"comm_open": None,
    b"comm_close": None,
    b"debug_request": None,
    b"interrupt_request": Kind.COMMAND,
    b"shutdown_request": Kind.COMMAND,
}
"""Of others, such as what a control in a notebook says, only clockwork does not count."""

_FROM_KERNEL: Mapping[bytes, Kind] = dict.fromkeys(
    (b"stream", b"display_data", b"update_display_data", b"execute_result", b"execute_input", b"error", b"comm_msg"),
    Kind.NOTEBOOK,
)
_TO_TERMINAL: Mapping[bytes, Kind] = {b'["stdin"': Kind.TERMINAL_INPUT}
_FROM_TERMINAL: Mapping[bytes, Kind] = {b'["stdout"': Kind.TERMINAL_OUTPUT}


class Messages(ABC):
    """Reads one direction: the beginning of each message, and what `_kind` of a subclass makes of it."""

    __slots__ = ("_held", "_rhythm", "skip", "want")

    def __init__(self) -> None:
        self._rhythm = Rhythm()
        self._held = b""
        self.want, self.skip = LOOK, 0

    def glance(self, data: bytes | memoryview, now: float) -> tuple[int, Kind | None]:  # noqa: ARG002
        return 0, None

    def take(self, piece: bytes, now: float) -> Kind | None:  # noqa: ARG002 - decided at its end
        self._held += piece
        self.want = LOOK - len(self._held)
        if not self.want:
            self.skip = _NEVER_ENDS
        return None

    def end(self, length: int, now: float) -> Kind | None:  # noqa: ARG002
        head, self._held = self._held, b""
        self.want, self.skip = LOOK, 0
        return self._kind(head, now)

    @abstractmethod
    def _kind(self, head: bytes, now: float) -> Kind | None:
        """What a message that begins so is a sign of."""


class ToKernel(Messages):
    __slots__ = ()

    def _kind(self, head: bytes, now: float) -> Kind | None:
        found = _TYPE.search(head)
        name = found[1] if found else b""
        if name in _TO_KERNEL:
            return _TO_KERNEL[name]
        return None if self._rhythm.is_clockwork(name, now) else Kind.MESSAGE


class FromKernel(Messages):
    __slots__ = ()

    def _kind(self, head: bytes, now: float) -> Kind | None:  # noqa: ARG002
        found = _TYPE.search(head)
        return _FROM_KERNEL.get(found[1]) if found else None


class ToTerminal(Messages):
    __slots__ = ()

    def _kind(self, head: bytes, now: float) -> Kind | None:  # noqa: ARG002
        return _TO_TERMINAL.get(head.partition(b",")[0])


class FromTerminal(Messages):
    __slots__ = ("_joined",)

    def __init__(self) -> None:
        super().__init__()
        self._joined: float | None = None

    def _kind(self, head: bytes, now: float) -> Kind | None:
        if self._joined is None:
            self._joined = now
        is_old = now - self._joined < OLD_SCREEN_SECONDS
        return None if is_old else _FROM_TERMINAL.get(head.partition(b",")[0])
