"""The checker finds what is planted in a history, and nothing in one without fault."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from tests.chaos.checker import breaches
from tests.chaos.history import (
    Answered,
    Archived,
    Asked,
    Breached,
    Calm,
    Created,
    Event,
    History,
    Opened,
    Rested,
    Restored,
    Restoring,
    Struck,
    Synced,
    Visited,
    Writing,
    read,
)
from tests.folders import short_folder

GOOD: list[Event] = [
    Created(0, "a", "garden", "RUNNING"),
    Writing(1, "a", "page-0", "first"),
    Synced(2, "a", "page-0", "first"),
    Visited(3, "a", "page-0", "first"),
    Struck(4, "kill", "replica"),
    Writing(5, "a", "page-0", "second"),
    Asked(6, "a", "wish", "ARCHIVED"),
    Answered(7, "a", "wish", "ARCHIVED"),
    Asked(8, "a", "name", "orchard"),
    Answered(9, "a", "name", "orchard"),
    Created(10, "b", "fork", "STANDBY", source="a"),
    Asked(11, "b", "wish", "DELETED"),
    Answered(12, "b", "wish", "DELETED"),
    Created(13, "c", "another fork", "STANDBY", source="a"),
    Created(13, "d", "set back", "STANDBY"),
    Synced(13, "d", "page-0", "old"),
    Archived(13, "d", "generation-1"),
    Synced(13, "d", "page-0", "new"),
    Synced(13, "d", "page-1", "new"),
    Restoring(13, "d", "generation-1"),
    Restored(13, "d", "generation-1"),
    Calm(100, 60),
    Rested(110, "a", "orchard", "ARCHIVED", "ARCHIVED", None, 0, 0),
    Rested(110, "b", "fork", "DELETED", "DELETED", None, 0, 0),
    Rested(110, "c", "another fork", "STANDBY", "STANDBY", None, 0, 1),
    Rested(110, "d", "set back", "STANDBY", "STANDBY", None, 0, 1),
    Opened(120, "a", {"page-0": "second"}),
    Opened(120, "c", {"page-0": "first", "starts": "started"}),
    Opened(120, "d", {"page-0": "old"}),
]
A, B, C, D, A_OPENED, C_OPENED, D_OPENED = range(22, 29)
RESTORED = 20

Plant = Callable[[list[Event]], None]


def changed(place: int, **fields: object) -> Plant:
    def plant(history: list[Event]) -> None:
        history[place] = replace(history[place], **fields)  # type: ignore[arg-type]

    return plant


def added(event: Event) -> Plant:
    return lambda history: history.insert(14, event)


def removed(place: int) -> Plant:
    def plant(history: list[Event]) -> None:
        del history[place]

    return plant


PLANTED: Sequence[tuple[Plant, str]] = [
    (changed(A, wish="RUNNING", phase="RUNNING", containers=1, volumes=1), "a wish is lost: a"),
    (changed(B, wish="STANDBY", phase="STANDBY", volumes=1), "a wish is lost: b"),
    (changed(A, name="garden"), "a name is lost: a"),
    (changed(C, phase="PENDING"), "c is PENDING in the end"),
    (changed(A, at=161), "a came to rest too late"),
    (changed(C, phase="ERROR"), "c is in ERROR without a reason"),
    (changed(C, phase="ERROR", reason="DataLost"), "the home of c is lost"),
    (changed(C, volumes=2), "c is STANDBY with 0 containers and 2 volumes"),
    (changed(B, volumes=1), "b is DELETED with 0 containers and 1 volumes"),
    (removed(A), "a never came to rest"),
    (removed(A_OPENED), "the home of a could not be opened"),
    (changed(A_OPENED, pages={"page-0": "older"}), "page-0 of a is not as it was last synced"),
    (changed(A_OPENED, pages={}), "page-0 of a is not as it was last synced"),
    (changed(C_OPENED, pages={}), "page-0 of c is not as it was last synced"),
    (changed(D_OPENED, pages={"page-0": "new"}), "page-0 of d is not as it was last synced"),
    (changed(D_OPENED, pages={"page-0": "old", "page-1": "new"}), "page-1 of d is not as it was last synced"),
    (added(Visited(14, "a", "page-0", "zeroth")), "page-0 of a is not as it was last synced"),
    (added(Breached(14, "a ran in 2 containers at once")), "a ran in 2 containers at once"),
]


@pytest.mark.parametrize(("plant", "said"), PLANTED, ids=[said for _, said in PLANTED])
def test_what_is_planted_is_found(plant: Plant, said: str) -> None:
    history = list(GOOD)
    plant(history)
    (found, *_) = breaches(history)
    assert found.startswith(said)


def test_a_history_without_fault_has_no_breach() -> None:
    assert breaches(GOOD) == []


def test_what_was_never_answered_may_come_about_late_but_not_for_ever() -> None:
    awake = {"wish": "RUNNING", "phase": "RUNNING", "containers": 1, "volumes": 1}
    history = list(GOOD)
    changed(A, **awake)(history)
    assert breaches([*history[:6], Asked(5, "a", "wish", "RUNNING"), *history[6:]]) == []
    changed(7, at=66)(history)
    assert breaches([*history[:6], Asked(5, "a", "wish", "RUNNING"), *history[6:]]) != []


def test_who_was_not_told_that_files_are_restored_may_find_either() -> None:
    for pages in {"page-0": "old"}, {"page-0": "new", "page-1": "new"}:
        history = list(GOOD)
        changed(D_OPENED, pages=pages)(history)
        removed(RESTORED)(history)
        assert breaches(history) == []


def test_error_with_a_reason_is_rest_when_its_home_can_be_opened() -> None:
    history = list(GOOD)
    changed(C, phase="ERROR", reason="RetryExceeded", volumes=0)(history)
    assert breaches(history) == []


def test_a_history_is_read_as_it_was_told() -> None:
    with short_folder() as folder:
        told = History(folder / "history.jsonl")
        for event in GOOD:
            told.tell(event)
        assert read(told.path.read_text().splitlines()) == GOOD
