"""Real IDEs in a real browser, recorded: what people did is seen, what a tab does by itself is not (contract 14)."""

import pytest

from tests.proxy.activity.kept import found, names, stream, summary

SIGNS: dict[str, dict[str, dict[str, int]]] = {
    "vscode-work": {
        "idle": {},
        "open a file": {"command": 1},
        "idle in a file": {},
        "click": {"edit": 1},
        "hover": {"completion": 1},
        "type": {"edit": 14, "completion": 5, "message": 1, "save": 4},
        "complete": {"edit": 6, "completion": 3, "command": 2, "save": 4},
        "save": {"command": 1, "save": 3},
        "open a terminal": {"command": 1, "terminal_output": 2},
        "idle with a terminal": {},
        "type in the terminal": {"terminal_input": 106, "terminal_output": 53},
        "terminal prints": {"terminal_input": 2, "terminal_output": 8},
        "command": {"command": 3},
        "task": {"command": 1, "terminal_output": 3, "task": 3},
        "debugging": {"command": 2, "message": 2, "debugging": 46},
        "idle at the end": {},
        "idle after a reconnect": {},
        "type after a reconnect": {"command": 1, "terminal_output": 46, "terminal_input": 86},
        "terminal prints after a reconnect": {"terminal_input": 2, "terminal_output": 4},
    },
}
"""How many pieces told what. A file was saved by the IDE itself, too, a second after the typing had stopped."""


@pytest.mark.parametrize("story", SIGNS)
def test_each_thing_that_was_done_gives_its_signs_and_no_others(story: str) -> None:
    assert summary(story) == SIGNS[story]


@pytest.mark.parametrize("name", names("vscode-idle"))
def test_a_tab_that_nobody_touches_gives_no_sign_from_its_first_message_on(name: str) -> None:
    kept = stream(name)
    assert kept.pieces[-1].at - kept.pieces[0].at > 240
    assert found(kept.target, kept.pieces) == []
