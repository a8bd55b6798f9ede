"""Real IDEs in a real browser, recorded: what people did is seen, what a tab does by itself is not (contract 14)."""

from collections import Counter
from uuid import uuid4

import pytest

from codehub.proxy.activity.requests import Requests
from tests.proxy.activity.kept import doing, found, marks, names, requests, stream, summary

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
    "jupyter-work": {
        "idle": {},
        "open a notebook": {},
        "idle in a notebook": {},
        "run a cell": {"notebook": 3},
        "kernel prints": {"notebook": 5},
        "complete": {"completion": 2},
        "save": {},
        "open a terminal": {},
        "idle with a terminal": {},
        "type in the terminal": {"terminal_input": 52, "terminal_output": 51},
        "terminal prints": {"terminal_output": 6},
        "idle after a reconnect": {},
    },
}
"""How many pieces told what. A file was saved by the IDE itself, too, a second after the typing had stopped."""

ASKED: dict[str, dict[str, dict[str, int]]] = {
    "vscode-idle": {"idle": {"page": 6}},  # three windows were opened, each of them led on to its folder
    "vscode-work": {"idle": {"page": 2}},
    "jupyter-work": {
        "idle": {"page": 2},
        "open a notebook": {"save": 1, "command": 3},
        "save": {"save": 2},
        "open a terminal": {"command": 1},
    },
}


@pytest.mark.parametrize("story", SIGNS)
def test_each_thing_that_was_done_gives_its_signs_and_no_others(story: str) -> None:
    assert summary(story) == SIGNS[story]


@pytest.mark.parametrize("name", names("vscode-idle"))
def test_a_tab_that_nobody_touches_gives_no_sign_from_its_first_message_on(name: str) -> None:
    kept = stream(name)
    assert kept.pieces[-1].at - kept.pieces[0].at > 240
    assert found(kept.target, kept.pieces) == []


def asked(story: str) -> dict[str, dict[str, int]]:
    """For all that was done: how many requests were made that count, by kind. WebSockets are no requests."""
    seen, rule, workspace_id = {what: Counter[str]() for _, what in marks(story)}, Requests(), uuid4()
    for each in requests(story):
        headers = {name.encode(): value.encode() for name, value in each.headers.items()}
        if b"upgrade" not in headers:
            kind = rule.seen(workspace_id, each.method.encode(), each.target.encode(), headers, each.at)
            if kind is not None:
                seen[doing(story, each.at)][kind.value] += 1
    return {what: dict(counted) for what, counted in seen.items() if counted}


@pytest.mark.parametrize(("story", "expected"), ASKED.items())
def test_of_the_requests_of_a_tab_only_those_count_that_somebody_made(
    story: str, expected: dict[str, dict[str, int]]
) -> None:
    assert asked(story) == expected
