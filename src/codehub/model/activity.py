"""What counts as activity: what a person or their work does in a workspace (contract 14)."""

from enum import StrEnum


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
