"""What the product logs while it is simulated: nobody reads it, but for errors that it did not foresee."""

import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import structlog

unforeseen: list[str] = []
"""What was logged with a traceback since somebody last emptied this."""


WORLDS_AT_ONCE = 40
_left = 0


def forget_worlds() -> None:
    """Between two of them: what a world leaves behind ends in ways that must not be taken for the next one's."""
    global _left  # noqa: PLW0603 (how many there are is the memory's own state)
    _left += 1
    if _left >= WORLDS_AT_ONCE:
        gc.collect()
        _left = 0
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
