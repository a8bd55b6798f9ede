"""What the product logs while it is simulated: nobody reads it, but for errors that it did not foresee."""

import gc
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

import structlog

unforeseen: list[str] = []
"""What was logged with a traceback since somebody last emptied this."""


@dataclass
class Memory:
    worlds_at_once: float = 40
    left: int = 0

    def keep_all(self) -> None:
        """For a process that ends after a few worlds: to close all that they leave behind is a quarter of its work."""
        self.worlds_at_once = math.inf


memory = Memory()


def forget_worlds() -> None:
    """Between two of them: what a world leaves behind ends in ways that must not be taken for the next one's."""
    memory.left += 1
    if memory.left >= memory.worlds_at_once:
        gc.collect()
        memory.left = 0
    unforeseen.clear()


@contextmanager
def in_silence() -> Iterator[None]:
    """Nobody hears what the dead leave behind either, when they are forgotten."""
    before, hook = structlog.get_config(), sys.unraisablehook
    structlog.configure(
        wrapper_class=cast("type[structlog.typing.BindableLogger]", _Silent), cache_logger_on_first_use=False
    )
    sys.unraisablehook = lambda _: None
    gc.freeze()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # coroutines of the dead that had not begun
            yield
            gc.collect()
    finally:
        gc.enable()
        gc.unfreeze()
        structlog.configure(**before)
        sys.unraisablehook = hook


class _Silent:
    def __init__(self, *_: object, **__: object) -> None: ...

    def __getattr__(self, _: str) -> Callable[..., None]:
        return _say_nothing

    def exception(self, event: str, **_: object) -> None:
        unforeseen.append(f"unforeseen: {event}: {sys.exc_info()[1]!r}")


def _say_nothing(*_: object, **__: object) -> None: ...
