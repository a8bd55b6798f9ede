"""What counts as activity: what a person or their work does in a workspace (contract 14)."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Kind(StrEnum):
    """What was seen, in a word: the owner is told, so that "why is it awake?" has an answer."""

    TERMINAL_INPUT = "terminal_input"
    TERMINAL_OUTPUT = "terminal_output"
    EDIT = "edit"
    SAVE = "save"
    COMPLETION = "completion"
    COMMAND = "command"
    TASK = "task"
    DEBUGGING = "debugging"
    NOTEBOOK = "notebook"
    PAGE = "page"
    REQUEST = "request"
    TRANSFER = "transfer"
    MESSAGE = "message"
    EXTENSION = "extension"
    """Somebody said that it shall stay awake."""


@dataclass(frozen=True, slots=True)
class Sign:
    """The newest activity of one workspace, as the front doors have told it. How long ago, not when: no two clocks have
    to agree."""

    workspace_id: UUID
    seconds_ago: float
    kind: Kind | None
    """None for one that this release does not know."""
    score: bytes = b""
    """The time as the bus keeps it: what tells it from a newer one."""


@dataclass(frozen=True, slots=True)
class Doors:
    """What is known of the front doors: whatever any of them saw between these two moments has been told."""

    watched_for_seconds: float
    silent_for_seconds: float
    """The one that has said nothing for longest."""
    most_silent: str
