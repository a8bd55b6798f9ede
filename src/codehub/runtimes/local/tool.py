"""What the sandbox has to know of an IDE that is installed on this machine; `codehub.images` has the real ones."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol


class Tool(Protocol):
    @property
    def folder(self) -> Path:
        """Shown to the workspace, read-only and at its own path."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    def argv(self, socket: str) -> Sequence[str]:
        """How to start it so that it serves HTTP on this unix socket."""


Tools = Callable[[str], Tool | None]
"""Finds a tool by the name that a template gives; None for one that is unknown or not installed."""
