"""Every state that a workspace can be in explains itself: in a true sentence, without contradiction, with a way on."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest

from codehub.decide.explain import current, explain
from codehub.decide.situations import Code
from codehub.model.activity import Kind
from codehub.model.plans import Waiting
from codehub.model.shown import Action, Explanation, Live, Next, Restorable, ShownWorkspace, WhatNext
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind
from tests.decide.builders import OP_ID, after
from tests.decide.shown import ARCHIVE, IDLE_POLICY, shown, waiting
from tests.decide.starts import STEPS

Case = tuple[ShownWorkspace, Live | None]

STEPS_UNDER_WAY = [(operation, step) for operation, steps in STEPS.items() for step in steps]
WAITS = [
    None,
    *(waiting(Waiting.SERVICE, service, OP_ID) for service in Service),
    waiting(Waiting.TURN, op_id=OP_ID),
    waiting(Waiting.OBSERVATION, op_id=OP_ID),
]
FAULTS = (None, *ErrorReason)
NEXT_TO_DELETED = {Next.DELETE, Next.RETRY, Next.RESUME, Next.FORGET}
SAID_FOR = {
    Action.START: ("Start it to",),
    Action.RECOVER: ("Recover it", "recover it"),
    Action.RESTORE: ("Restore it",),
    Action.UNDELETE: ("can be brought back",),
    Action.START_EMPTY: ("start it with an empty home",),
}
"""What a summary says an owner can do, by what they can."""


def at_rest() -> Iterator[Case]:
    requests = (None, *RequestKind)
    waits = [None, *(waiting(Waiting.SERVICE, service) for service in Service), waiting(Waiting.IMAGE_BUILDING)]
    for phase, desired, fault, request in product(Phase, Desired, FAULTS, requests):
        row = {"phase": phase, "desired_state": desired, "error_reason": fault, "request": request}
        for live, image, deaths in product(waits, (ImageState.READY, ImageState.BUILDING), (0, 2)):
            yield shown(**row, image=image, deaths=deaths, next_attempt_at=after(90)), live


def with_archives() -> Iterator[Case]:
    found = (None, Restorable(1, after(-60)), Restorable(3, after(-60)))
    for phase, desired, fault, restorable in product(Phase, Desired, FAULTS, found):
        row = {"phase": phase, "desired_state": desired, "error_reason": fault, "restorable": restorable}
        deleted_at = after(0) if desired is Desired.DELETED else None
        for archive in (None, ARCHIVE):
            yield shown(**row, archive=archive, deleted_at=deleted_at), None


def under_way() -> Iterator[Case]:
    phases = [phase for phase in Phase if phase is not Phase.ERROR]
    for phase, desired, (operation, step), fault in product(phases, Desired, STEPS_UNDER_WAY, FAULTS):
        row = {"phase": phase, "desired_state": desired, "operation": operation, "op_step": step}
        for live in (*WAITS, Live(step, OP_ID, bytes=1, total=2)):
            yield shown(**row, error_reason=fault), live
        yield shown(**row, error_reason=fault, request=RequestKind.RESTORE, archive=ARCHIVE), None


def reasons() -> Iterator[Case]:
    said = ("owner", "idle", "wake", "admin", "limit")
    for phase, desired, reason, by, used in product(Phase, Desired, said, (None, "bob"), (None, after(-60))):
        yield shown(phase=phase, desired_state=desired, desired_reason=reason, desired_by=by, last_access_at=used), None


@cache
def cases() -> Sequence[tuple[Case, Explanation]]:
    rows = (*at_rest(), *with_archives(), *under_way(), *reasons())
    return [((row, live), explain(row, live, IDLE_POLICY)) for row, live in rows]


def test_every_state_has_a_sentence_that_is_whole() -> None:
    for case, told in cases():
        assert told.summary.endswith("."), case
        assert not set("{}") & set(told.summary), case
        assert "  " not in told.summary, case
        assert "None" not in told.summary, case
        assert ".." not in told.summary, case


def test_every_sentence_is_said_of_some_state() -> None:
    assert {told.code for _, told in cases()} == set(Code)


def test_every_state_has_a_way_on_but_the_end() -> None:
    for case, told in cases():
        assert told.next or told.would_change or told.code is Code.GONE, case


def test_what_is_advised_can_be_done() -> None:
    for case, told in cases():
        for action, words in SAID_FOR.items():
            if any(word in told.summary for word in words):
                assert action in told.would_change, case


def test_no_state_offers_what_leads_nowhere() -> None:
    for (row, live), told in cases():
        offered = set(told.would_change)
        case = row, live
        assert not {Action.START, Action.STOP} <= offered, case
        assert (Action.RECOVER in offered) == (
            row.phase is Phase.ERROR and row.desired_state is not Desired.DELETED and row.request is None
        ), case
        assert (Action.DELETE in offered) == (row.desired_state is not Desired.DELETED), case
        assert Action.START_EMPTY not in offered or row.error_reason in (
            ErrorReason.DATA_LOST,
            ErrorReason.ARCHIVE_CORRUPTED,
        ), case
        if row.phase is not Phase.ERROR and row.desired_state is not Desired.DELETED:
            assert (Action.STOP in offered) == (row.desired_state is Desired.RUNNING), case
            assert (Action.START in offered) == (row.desired_state is not Desired.RUNNING), case
            assert (Action.ARCHIVE in offered) == (row.desired_state is not Desired.ARCHIVED), case


def test_lost_files_can_be_restored_where_there_is_an_archive_and_by_nobody_else() -> None:
    for (row, live), told in cases():
        lost = row.error_reason in (ErrorReason.DATA_LOST, ErrorReason.ARCHIVE_CORRUPTED)
        asks = row.phase is Phase.ERROR and row.request is None and row.desired_state is not Desired.DELETED
        assert (Action.RESTORE in told.would_change) == (lost and asks and row.restorable is not None), (row, live)


def test_what_is_deleted_can_be_brought_back_while_an_archive_of_it_is_kept() -> None:
    for (row, live), told in cases():
        is_gone = row.phase is Phase.DELETED and row.desired_state is Desired.DELETED
        kept = is_gone and row.deleted_at is not None and row.archive is not None
        assert (Action.UNDELETE in told.would_change) == kept, (row, live)
        assert (told.code is Code.GONE) == (is_gone and not kept), (row, live)


def test_nothing_is_said_of_a_workspace_that_is_not_so() -> None:
    for (row, live), told in cases():
        case = row, live
        at_rest = row.operation is Operation.NONE and row.phase.value == row.desired_state.value
        assert not told.summary.startswith("Running") or (at_rest and row.phase is Phase.RUNNING), case
        assert not told.summary.startswith("Stopped") or (at_rest and row.phase is Phase.STANDBY), case
        assert not told.summary.startswith("In the archive") or (at_rest and row.phase is Phase.ARCHIVED), case
        assert not told.summary.startswith("It cannot go on") or row.phase is Phase.ERROR, case
        assert (told.doing is not None) == (row.operation is not Operation.NONE), case
        assert (told.because.reason == "error") == (row.phase is Phase.ERROR), case
        if row.desired_state is Desired.DELETED and told.next is not None:
            assert told.next.what in NEXT_TO_DELETED, case


def test_what_comes_next_is_told_with_its_time_where_there_is_one() -> None:
    for case, told in cases():
        if told.next is not None and told.next.at is not None:
            assert told.next.what in (Next.SLEEP, Next.ARCHIVE, Next.RETRY, Next.FORGET), case
            assert told.next.at.isoformat(" ", "minutes")[:16] in told.summary, case


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (shown(phase=Phase.ERROR, error_reason=ErrorReason.ACTION_FAILED, deaths=5), Code.CRASHED),
        (shown(phase=Phase.ERROR, error_reason=ErrorReason.ACTION_FAILED), Code.ERROR),
        (shown(phase=Phase.ERROR, error_reason=ErrorReason.TIMEOUT, deaths=5), Code.ERROR),
        (shown(desired_state=Desired.RUNNING, image=ImageState.BUILDING), Code.WAITING_FOR_IMAGE),
        (shown(desired_state=Desired.ARCHIVED, image=ImageState.BUILDING), Code.ARCHIVES_SOON),
        (shown(phase=Phase.PENDING, desired_state=Desired.RUNNING, image=ImageState.BUILDING), Code.STARTS_SOON),
        (shown(desired_state=Desired.RUNNING, deaths=1, next_attempt_at=after(9)), Code.RESTARTING),
        (shown(desired_state=Desired.RUNNING, deaths=1), Code.STARTS_SOON),
        (shown(desired_state=Desired.RUNNING, next_attempt_at=after(9)), Code.STARTS_SOON),
    ],
)
def test_what_looks_alike_is_told_apart(row: ShownWorkspace, code: Code) -> None:
    assert explain(row, None, IDLE_POLICY).code is code


class TestWhatIsSaidLive:
    """Only what is about the present step counts: the rest is old news."""

    pulling = shown(operation=Operation.STARTING, op_step=Step.PULL)

    @pytest.mark.parametrize(
        ("row", "live"),
        [
            (pulling, Live("pull", OP_ID)),
            (pulling, waiting(Waiting.TURN, op_id=OP_ID)),
            (shown(), waiting(Waiting.IMAGE_BUILDING)),
            (shown(op_id=OP_ID), waiting(Waiting.IMAGE_BUILDING)),
        ],
    )
    def test_what_is_about_the_present_step_counts(self, row: ShownWorkspace, live: Live) -> None:
        assert current(row, live) is live

    @pytest.mark.parametrize(
        ("row", "live"),
        [
            (pulling, None),
            (pulling, Live("pull")),
            (pulling, Live("start", OP_ID)),
            (pulling, waiting(Waiting.TURN)),
            (shown(), Live("pull", OP_ID)),
            (shown(op_id=OP_ID), Live("pull", OP_ID)),
            (shown(), waiting(Waiting.TURN, op_id=OP_ID)),
            (shown(), Live("wait")),
        ],
    )
    def test_what_is_about_another_does_not(self, row: ShownWorkspace, live: Live | None) -> None:
        assert current(row, live) is None


def test_a_hold_is_named_where_it_is_what_keeps_it_awake() -> None:
    row = shown(phase=Phase.RUNNING, desired_state=Desired.RUNNING, held_until=after(3600), hold_reason="build")
    told = explain(row, None, IDLE_POLICY)
    assert told.next == WhatNext(Next.SLEEP, after(3600))
    assert told.params["hold"] == "build"
    assert "The hold 'build' keeps it awake until 2030-01-01 01:00 UTC." in told.summary


@pytest.mark.parametrize("change", [{"held_until": after(60)}, {"standby_after_seconds": 0}, {"phase": Phase.STANDBY}])
def test_a_hold_is_not_named_where_it_makes_no_difference(change: dict[str, Any]) -> None:
    held = {"phase": Phase.RUNNING, "desired_state": Desired.RUNNING, "held_until": after(3600), "hold_reason": "build"}
    told = explain(shown(**held | change), None, IDLE_POLICY)
    assert "hold" not in told.params
    assert "build" not in told.summary


def test_a_running_one_tells_what_it_was_last_used_for() -> None:
    row = shown(
        phase=Phase.RUNNING,
        desired_state=Desired.RUNNING,
        last_access_at=after(60),
        last_activity=Kind.TERMINAL_OUTPUT,
    )
    told = explain(row, None, IDLE_POLICY)
    assert "Last used at 2030-01-01 00:01 UTC (terminal output)." in told.summary
    assert (told.params["last_used"], told.params["last_activity"]) == (after(60), Kind.TERMINAL_OUTPUT)
