"""What owners read, word for word. `explanations.txt` holds one example of everything that can be said, to be read by a
person: a sentence that changes shows there. `python -m tests.decide.test_explanations` writes it anew."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from codehub.decide.explain import explain
from codehub.model.activity import Kind
from codehub.model.plans import Waiting
from codehub.model.shown import Explanation, Live, Restorable, ShownWorkspace
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind
from tests.decide.builders import OP_ID, after
from tests.decide.shown import ARCHIVE, IDLE_POLICY, shown, waiting
from tests.decide.starts import STEPS

FILE = Path(__file__).with_name("explanations.txt")

REST = {
    Phase.RUNNING: Desired.RUNNING,
    Phase.STANDBY: Desired.STANDBY,
    Phase.ARCHIVED: Desired.ARCHIVED,
    Phase.DELETED: Desired.DELETED,
}
TO_BEGIN = (
    (Phase.PENDING, Desired.RUNNING),
    (Phase.PENDING, Desired.STANDBY),
    (Phase.ARCHIVED, Desired.STANDBY),
    (Phase.RUNNING, Desired.STANDBY),
    (Phase.STANDBY, Desired.ARCHIVED),
    (Phase.RUNNING, Desired.DELETED),
    (Phase.DELETING, Desired.STANDBY),
)

Told = tuple[ShownWorkspace, Live | None]


def at_rest() -> Iterator[Told]:
    for phase, desired in REST.items():
        wished = {"phase": phase, "desired_state": desired}
        for reason in ("owner", "wake", "admin", "idle", "limit"):
            for by in ("bob", None):
                yield shown(**wished, desired_reason=reason, desired_by=by), None
        yield shown(**wished, desired_reason="idle", desired_by=None, last_access_at=after(-600)), None
        yield shown(**wished, standby_after_seconds=0, archive_after_seconds=0), None
        yield shown(**wished, last_access_at=after(60)), None
        for kind in Kind:
            yield shown(**wished, last_access_at=after(60), last_activity=kind), None
        for ends in (after(600), after(1200)):
            yield shown(**wished, held_until=ends, hold_reason="nightly build"), None
    deleted = {"phase": Phase.DELETED, "desired_state": Desired.DELETED, "deleted_at": after(0)}
    yield shown(**deleted), None
    yield shown(**deleted, archive=ARCHIVE), None
    for entries in (1, 100_000, 300_000, 3_000_000):
        sleeping = {"phase": Phase.ARCHIVED, "desired_state": Desired.ARCHIVED}
        yield shown(**sleeping, archive=replace(ARCHIVE, entries=entries)), None


def before_it_begins() -> Iterator[Told]:
    for phase, desired in TO_BEGIN:
        yield shown(phase=phase, desired_state=desired), None
    for desired in Desired:
        for service in (*Service, None):
            yield shown(phase=Phase.PENDING, desired_state=desired), waiting(Waiting.SERVICE, service)
        yield shown(phase=Phase.PENDING, desired_state=desired), waiting(Waiting.TURN)
    yield shown(phase=Phase.RUNNING), waiting(Waiting.SERVICE, Service.RUNTIME)
    wished = {"desired_state": Desired.RUNNING}
    yield shown(**wished, image=ImageState.BUILDING), None
    yield shown(**wished, phase=Phase.PENDING, image=ImageState.BUILDING), None
    yield shown(**wished, template_name=None), waiting(Waiting.IMAGE_BUILDING)
    yield shown(**wished, deaths=1, next_attempt_at=after(90)), None
    yield shown(**wished, deaths=1), None


def under_way() -> Iterator[Told]:
    for operation, steps in STEPS.items():
        for step in steps:
            for desired in Desired:
                yield shown(operation=operation, op_step=step, desired_state=desired), None
    wished = {"phase": Phase.STANDBY, "desired_state": Desired.RUNNING}
    for operation in Operation:
        failed = {"error_reason": ErrorReason.ACTION_FAILED, "error_count": 1, "next_attempt_at": after(90)}
        yield shown(**wished, operation=operation, op_step=Step.START, **failed), None
    for step in (Step.RESTORE, Step.RESTORED):
        for entries in (1, 2, 12_345):
            back = {"operation": Operation.RESTORING, "op_step": step, "archive": replace(ARCHIVE, entries=entries)}
            yield shown(**wished, **back), Live(step, OP_ID, 5, 10, 2.5, 2.0, entries=7)
    for operation, step in ((Operation.STOPPING, Step.STOP), (Operation.ARCHIVING, Step.ARCHIVE)):
        yield shown(**wished, operation=operation, op_step=step, request=RequestKind.RESTORE), None
    starting = {"operation": Operation.STARTING, "op_step": Step.PULL}
    yield shown(**wished, **starting), Live("pull", OP_ID, 5, 10, 2.5, 2.0)
    yield shown(**wished, **starting), waiting(Waiting.TURN, op_id=OP_ID)
    yield shown(**wished, **starting), waiting(Waiting.OBSERVATION, op_id=OP_ID)
    deleting = {"operation": Operation.DELETING, "op_step": Step.DELETE, "desired_state": Desired.DELETED}
    yield shown(**deleting, error_reason=ErrorReason.TIMEOUT, next_attempt_at=after(90)), None


def in_trouble() -> Iterator[Told]:
    for reason in ErrorReason:
        yield shown(phase=Phase.ERROR, error_reason=reason, error_count=3), None
        yield shown(operation=Operation.STARTING, op_step=Step.START, error_reason=reason), None
    for reason in (ErrorReason.DATA_LOST, ErrorReason.ARCHIVE_CORRUPTED, ErrorReason.TIMEOUT):
        for count in (1, 2):
            yield shown(phase=Phase.ERROR, error_reason=reason, restorable=Restorable(count, after(-60))), None
    yield shown(phase=Phase.ERROR, error_reason=ErrorReason.ACTION_FAILED, deaths=5), None
    yield shown(phase=Phase.ERROR, error_reason=ErrorReason.TIMEOUT, deaths=5), None
    yield shown(phase=Phase.ERROR), None
    for kind in RequestKind:
        yield shown(phase=Phase.ERROR, error_reason=ErrorReason.DATA_LOST, request=kind), None
        yield shown(request=kind), None


def lines() -> Iterator[str]:
    for title, told in (
        ("At rest", at_rest()),
        ("Before it begins", before_it_begins()),
        ("Under way", under_way()),
        ("In trouble", in_trouble()),
    ):
        yield from (f"# {title}", "")
        yield from dict.fromkeys(_line(row, live) for row, live in told)
        yield ""


def _line(row: ShownWorkspace, live: Live | None) -> str:
    told = explain(row, live, IDLE_POLICY)
    return f"{told.code}: {told.summary}\n    {'; '.join(_facts(told))}"


def _facts(told: Explanation) -> Iterator[str]:
    yield f"since {_word(told.since)}, because {told.because.reason} {told.because.by or ''}".rstrip()
    if told.doing is not None:
        yield " ".join(_word(each) for each in (told.doing.operation, told.doing.step, told.doing.since))
        yield f"attempt {told.doing.attempt}" + (f" at {told.doing.progress.stage}" if told.doing.progress else "")
    if told.next is not None:
        yield f"next {told.next.what} {_word(told.next.at)}"
    yield f"can {', '.join(told.would_change) or 'do nothing'}"
    yield ", ".join(f"{name} = {_word(value)}" for name, value in told.params.items())


def _word(value: object) -> str:
    return value.strftime("%H:%M:%S") if isinstance(value, datetime) else str(value)


def test_owners_read_what_was_agreed_upon() -> None:
    assert "\n".join(lines()) == FILE.read_text()


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()))
