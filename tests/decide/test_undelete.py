"""What becomes of somebody's wish to have a deleted workspace back, and how long they are told it takes to open."""

from datetime import timedelta

import pytest

from codehub.decide.opening import opens_in
from codehub.decide.phrases import roughly
from codehub.decide.undelete import BeingDeleted, BringBack, NothingLeft, TooLate, consider_undelete
from codehub.decide.wording_english import ENGLISH
from codehub.model.shown import ShownArchive
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import Workspace
from tests.decide.builders import HOME, KEY, T0, after, workspace

WINDOW = timedelta(hours=1)


def deleted(**columns: object) -> Workspace:
    return workspace(desired_state=Desired.DELETED, deleted_at=T0, **columns)


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (deleted(phase=Phase.DELETED), NothingLeft()),
        (deleted(phase=Phase.DELETED, archive_key=KEY), BringBack(Desired.ARCHIVED)),
        (deleted(phase=Phase.RUNNING, home_volume=HOME), BringBack(Desired.STANDBY)),
        (deleted(phase=Phase.STANDBY, home_volume=HOME, archive_key=KEY), BringBack(Desired.STANDBY)),
        (
            deleted(home_volume=HOME, operation=Operation.STOPPING, op_step=Step.STOP),
            BringBack(Desired.STANDBY),
        ),
        (
            deleted(home_volume=HOME, archive_key=KEY, operation=Operation.DELETING, op_step=Step.DELETE),
            BeingDeleted(),
        ),
    ],
)
def test_what_is_left_comes_back_and_never_something_else_in_its_place(row: Workspace, outcome: object) -> None:
    assert consider_undelete(row, WINDOW, after(3599)) == outcome
    assert consider_undelete(row, WINDOW, after(3600)) == TooLate()
    assert consider_undelete(row, timedelta(0), T0) == TooLate()


def test_one_that_lives_is_not_brought_back() -> None:
    assert consider_undelete(workspace(archive_key=KEY), WINDOW, T0) == TooLate()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "a few seconds"),
        (14.9, "a few seconds"),
        (15, "about half a minute"),
        (44.9, "about half a minute"),
        (45, "about a minute"),
        (89.9, "about a minute"),
        (90, "about 2 minutes"),
        (150, "about 2 minutes"),
        (151, "about 3 minutes"),
        (3600, "about 60 minutes"),
    ],
)
def test_a_time_is_told_as_roughly_as_it_is_known(seconds: float, told: str) -> None:
    assert roughly(seconds, ENGLISH) == told


def test_files_and_bytes_each_take_their_time() -> None:
    empty = ShownArchive(1, T0, 0, 0)
    assert opens_in(empty) == 5.0
    assert opens_in(ShownArchive(1, T0, 0, 10_000)) == 7.0
    assert opens_in(ShownArchive(1, T0, 100_000_000, 0)) == 7.0
