"""What was last seen of a workspace, in words: why it is so, since when, and what can be done about it."""

from dataclasses import dataclass
from datetime import datetime

from codehub.model.conditions import Condition, Conditions, Status
from codehub.web.pages.languages import Language

_TONES = {Status.TRUE: "running", Status.FALSE: "", Status.UNKNOWN: "busy"}
ASKED = ("volume", "container", "archive", "healthy")


@dataclass(frozen=True, slots=True)
class ShownCondition:
    name: str
    status: str
    tone: str
    what: str
    remedy: str
    detail: str
    since: datetime | None
    seen: datetime | None


def conditions(seen: Conditions, language: Language) -> list[ShownCondition]:
    return [_shown(name, getattr(seen, name), language) for name in ASKED]


def _shown(name: str, seen: Condition | None, language: Language) -> ShownCondition:
    say = language.say
    if seen is None:
        unseen = say("condition.status.Unknown"), "", say("condition.unseen"), "", ""
        return ShownCondition(say(f"condition.{name}"), *unseen, None, None)
    remedy = f"remedy.{seen.reason}"
    return ShownCondition(
        name=say(f"condition.{name}"),
        status=say(f"condition.status.{seen.status}"),
        tone="error" if remedy in language else _TONES[seen.status],
        what=say(f"condition.why.{seen.reason}"),
        remedy=say(remedy) if remedy in language else "",
        detail=seen.message,
        since=seen.last_transition_time,
        seen=seen.observed_from,
    )
