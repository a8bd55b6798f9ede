"""Keeping a workspace awake for as long as a command runs: its hold is renewed meanwhile, and let go in the end."""

import math
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Self

import typer

from codehub.cli.measures import told_duration, told_time
from codehub.errors import CodehubError

if TYPE_CHECKING:
    from codehub.cli.server import Server

HOLD_SECONDS = 300
"""How long each renewal lasts: for so long a workspace stays awake in vain if this process is killed."""
PAUSE_SECONDS = HOLD_SECONDS / 3
"""Between two renewals: two of them may fail."""
NOT_FOUND, NOT_EXECUTABLE, KILLED = 127, 126, 128
"""What a shell says of a command that it cannot find, cannot run, or that a signal has ended."""
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def held(server: "Server", path: str, reason: str, longest: int | None) -> Iterator[None]:
    """Held while the block runs, but no longer than `longest` seconds. What goes wrong after the beginning is said, and
    ends nothing: what runs is worth more than the hold."""
    ends = math.inf if longest is None else time.monotonic() + longest
    placed = server.post(path, {"reason": reason, "seconds": _seconds(ends)})
    renewal = _Renewal(server, f"{path}/{placed['id']}", ends, placed["ends_at"])
    threading.Thread(target=renewal.keep, daemon=True).start()
    try:
        yield
    finally:
        renewal.over.set()
        _let_go(server, renewal.path)


@dataclass
class _Renewal:
    server: "Server"
    path: str
    ends: float
    told_end: str
    over: threading.Event = field(default_factory=threading.Event)
    _fails: bool = False

    def keep(self) -> None:
        """Until it is over, or nothing is left to renew."""
        while self.ends - time.monotonic() > HOLD_SECONDS - PAUSE_SECONDS and not self.over.wait(PAUSE_SECONDS):
            try:
                renewed = self.server.patch(self.path, {"seconds": _seconds(self.ends)})
            except CodehubError as error:
                self._note(error)
                continue
            self._fails = False
            if renewed["ends_at"] == self.told_end:
                _say(f"The hold ends at {told_time(self.told_end)}: an administrator allows no longer one.")
                return
            self.told_end = renewed["ends_at"]

    def _note(self, error: CodehubError) -> None:
        if not self._fails and not self.over.is_set():
            _say(f"The hold could not be renewed: {error.what} It is tried again.")
        self._fails = True


def _seconds(ends: float) -> int:
    return max(1, round(min(HOLD_SECONDS, ends - time.monotonic())))


def _let_go(server: "Server", path: str) -> None:
    try:
        server.delete_once(path)
    except CodehubError as error:
        _say(f"The hold could not be let go: {error.what} It ends by itself within {told_duration(HOLD_SECONDS)}.")


class Command:
    """What is run meanwhile. From the beginning of the block to its end signals are for the command to act on: it ends
    when it likes, and what has to be done afterwards is done."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._handlers: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        self._handlers = {number: signal.signal(number, self._pass_on) for number in PASSED_ON}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def run(self) -> int:
        """Its exit code. One that was told to end before it began is not begun."""
        if self._early:
            return KILLED + self._early[0]
        try:
            self._process = subprocess.Popen(self._words)
        except FileNotFoundError:
            _say(f"There is no command '{self._words[0]}'.")
            return NOT_FOUND
        except OSError as error:
            _say(f"'{self._words[0]}' cannot be run: {error.strerror}.")
            return NOT_EXECUTABLE
        for number in self._early:  # while it was being begun
            self._process.send_signal(number)
        code = self._process.wait()
        return code if code >= 0 else KILLED - code

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif number != signal.SIGINT or not sys.stdin.isatty():  # a terminal has told the command itself
            self._process.send_signal(number)


def _say(words: str) -> None:
    """To the person, and out of the way of what the command prints."""
    typer.echo(f"codehub: {words}", err=True)
