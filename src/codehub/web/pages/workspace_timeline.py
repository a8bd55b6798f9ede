"""The story of a workspace: what was asked for, by whom and why, and where the seconds went until it was so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from codehub.model.clones import Outcome
from codehub.model.states import Desired, ErrorReason, Operation
from codehub.store.history import EventKind
from codehub.web.pages.telling import Telling

Event = Mapping[str, Any]

MOST_EVENTS = 100
"""Of one page; a chapter that does not fit whole is on the next one."""
WIDTH = 1000
"""Of a bar, in units of its drawing."""
SHORTEST_WAIT_SECONDS = 0.1
"""A wait that is shorter is left blank."""


@dataclass(frozen=True, slots=True)
class Stage:
    label: str
    tone: str
    took: str
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Line:
    at: str
    text: str
    detail: str = ""
    is_trouble: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """What somebody or something asked for, and all that followed from it."""

    id: int
    at: datetime
    title: str
    why: str
    took: str
    stages: Sequence[Stage]
    lines: Sequence[Line]
    is_trouble: bool


@dataclass(frozen=True, slots=True)
class Story:
    chapters: Sequence[Chapter]
    older: int | None
    """What the next page begins before."""


@dataclass(slots=True)
class _Part:
    """The events of one chapter, oldest first, and what was done in it."""

    events: list[Event]
    spans: list[tuple[Operation, datetime, datetime]] = field(default_factory=list)
    is_under_way: bool = False


def story(found: Sequence[Event], told: Telling, *, is_newest: bool) -> Story:
    """Of events, newest first, of which there may be one more than a page shows. What has not ended on the newest page
    is under way; on another one its end is on the page before."""
    shown = found[:MOST_EVENTS]
    parts = _parts(list(reversed(shown)), told.now if is_newest or not shown else shown[0]["at"], is_newest=is_newest)
    is_cut = len(found) > MOST_EVENTS
    if is_cut and len(parts) > 1 and not _begins(parts[0].events[0]):
        parts = parts[1:]
    older = parts[0].events[0]["id"] if is_cut else None
    return Story([_chapter(part, told) for part in reversed(parts)], older)


def _parts(events: Sequence[Event], until: datetime, *, is_newest: bool) -> list[_Part]:
    """A hold is a chapter of its own, beside the one that is under way."""
    parts: list[_Part] = []
    current: _Part | None = None
    for event in events:
        if _begins(event) or current is None:
            parts.append(part := _Part([event]))
            current = current if event["kind"] == EventKind.HOLD and current is not None else part
        else:
            current.events.append(event)
    for operation, begun, ended in _operations(events):
        part = next(part for part in parts if begun in part.events)
        part.spans.append((operation, begun["at"], ended["at"] if ended is not None else until))
        part.is_under_way = ended is None and is_newest
    return parts


def _begins(event: Event) -> bool:
    match event["kind"]:
        case EventKind.CREATED | EventKind.WISH | EventKind.DEATH | EventKind.HOLD:
            return True
        case EventKind.REQUEST:
            return bool(event["reason"] == "asked")
        case EventKind.FAILURE:  # of nothing that was being done: something was found to be wrong
            return bool(event["before"] == Operation.NONE)
        case _:
            return False


def _operations(events: Sequence[Event]) -> Iterator[tuple[Operation, Event, Event | None]]:
    """Each with the event that began it and the one that ended it, if that has been."""
    changes = [event for event in events if event["kind"] == EventKind.OPERATION]
    for begun, ended in pairwise([*changes, None]):
        if begun is not None and begun["after"] != Operation.NONE:
            yield Operation(begun["after"]), begun, ended


def _chapter(part: _Part, told: Telling) -> Chapter:
    first = part.events[0]
    lines = [line for event in part.events if (line := _line(event, told)) is not None]
    end = part.spans[-1][2] if part.spans else None
    seconds = (end - first["at"]).total_seconds() if end is not None else 0.0
    return Chapter(
        id=first["id"],
        at=first["at"],
        title=_title(first, told),
        why=_why(first, told),
        took=took(seconds, told) if end is not None else "",
        stages=list(_stages(part, seconds, told)),
        lines=lines,
        is_trouble=any(line.is_trouble for line in lines),
    )


def _stages(part: _Part, seconds: float, told: Telling) -> Iterator[Stage]:
    """Side by side on one bar; what is between them was spent waiting."""
    begin = here = part.events[0]["at"]
    scale = WIDTH / max(seconds, 0.001)

    def stage(key: str, tone: str, start: datetime, end: datetime) -> Stage:
        lasted = max(0.0, (end - start).total_seconds())
        left = (start - begin).total_seconds() * scale
        return Stage(told.language.say(key), tone, took(lasted, told), round(left, 1), round(lasted * scale, 1))

    for operation, start, end in part.spans:
        if (start - here).total_seconds() >= SHORTEST_WAIT_SECONDS:
            yield stage("timeline.waiting", "waiting", here, start)
        here = end
        is_busy = part.is_under_way and end is part.spans[-1][2]
        yield stage(f"operation.{operation}", "busy" if is_busy else operation.lower(), start, end)


def _title(event: Event, told: Telling) -> str:
    say = told.language.say
    match event["kind"]:
        case EventKind.CREATED:
            return say("timeline.created")
        case EventKind.WISH if event["before"] == Desired.DELETED:
            return say("timeline.undeleted")
        case EventKind.WISH:
            return say(f"timeline.wish.{event['after']}")
        case EventKind.REQUEST:
            return say(f"timeline.request.{event['after']}")
        case EventKind.HOLD:
            return say(f"timeline.hold.{event['after']}", reason=event["detail"])
        case EventKind.DEATH:
            return say("timeline.death")
        case EventKind.FAILURE:
            return say("timeline.found")
        case _:
            return say("timeline.by_itself")


def _why(event: Event, told: Telling) -> str:
    say, actor = told.language.say, event["actor"]
    if event["kind"] in {EventKind.REQUEST, EventKind.HOLD}:
        return say("timeline.because.owner", actor=actor) if actor else ""
    key = f"timeline.because.{event['reason']}"
    return say(key, actor=actor or say("timeline.somebody")) if key in told.language else ""


def _line(event: Event, told: Telling) -> Line | None:
    """What happened within a chapter; None for what its title or its bar tells."""
    say, at = told.language.say, second(event["at"], told)
    match event["kind"]:
        case EventKind.PHASE:
            return Line(at, say("timeline.became", phase=say(f"phase.{event['after']}")))
        case EventKind.OPERATION if event["after"] != Operation.NONE:
            return Line(at, say(f"operation.{event['after']}"))
        case EventKind.FAILURE:
            return Line(at, say("timeline.failed", why=_fault(event["reason"], told)), event["detail"], True)
        case EventKind.REQUEST if event["reason"] == "dismissed":
            return Line(at, say("timeline.dismissed"), event["detail"], True)
        case EventKind.CLONE:
            is_trouble = event["after"] == Outcome.FAILED
            return Line(at, say(f"repository.clone.{event['after']}"), event["detail"], is_trouble)
        case EventKind.SURPLUS:
            return Line(at, say("timeline.surplus"), event["detail"])
        case _:
            return None


def _fault(reason: str, told: Telling) -> str:
    """A word of a later release is told as it is."""
    known = {each.value: text for each, text in told.language.wording.fault.items()}
    return known.get(ErrorReason(reason).value, reason) if reason in set(ErrorReason) else reason


def took(seconds: float, told: Telling) -> str:
    """To a tenth of a second where that tells something."""
    if seconds < 10:
        return told.language.say("timeline.seconds", seconds=f"{seconds:.1f}")
    return told.lasting(seconds)


def second(at: datetime, told: Telling) -> str:
    return at.astimezone(told.zone or UTC).strftime("%H:%M:%S")
