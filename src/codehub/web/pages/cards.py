"""A workspace as a card of the dashboard: what it is, why, what comes next and what can be done, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from codehub.decide.explain import current, explain
from codehub.decide.idle import IdlePolicy
from codehub.decide.undelete import undo_until
from codehub.model.shown import Action, Explanation, Live, Next, ShownWorkspace
from codehub.model.states import Operation, Phase
from codehub.model.usage import Sample
from codehub.settings.idle_times import idle_policy
from codehub.web.pages.gauges import Gauge, gauges
from codehub.web.pages.state import moved
from codehub.web.pages.telling import Telling
from codehub.web.parts import Parts

DIRECT = (Action.RESTORE, Action.RECOVER, Action.START, Action.STOP, Action.UNDELETE)
"""What has a button of its own; the rest is in the menu."""
ASKED_FIRST = frozenset({"fork", "delete", "restore", "start_empty"})
"""What has a page that asks something before it is done."""


@dataclass(frozen=True, slots=True)
class Card:
    shown: ShownWorkspace
    url: str
    label: str
    """The key of the word that says what it is or what is being done."""
    tone: str
    summary: str
    moved: str
    live: Live | None
    clock: str
    """When it goes to sleep by itself, and why; empty where it does not."""
    is_timed: bool
    """Whether what it says changes as time passes."""
    can_extend: bool
    use: Sequence[Gauge]
    direct: Sequence[Action]
    menu: Sequence[str]

    @property
    def is_busy(self) -> bool:
        return self.shown.operation is not Operation.NONE

    @staticmethod
    def asks_first(action: str) -> bool:
        return action in ASKED_FIRST

    @property
    def opens(self) -> bool:
        return self.shown.deleted_at is None and self.shown.phase is not Phase.ERROR


async def cards(parts: Parts, workspaces: Sequence[ShownWorkspace], told: Telling) -> list[Card]:
    live, policy = await parts.notes.about(workspaces), idle_policy(parts.settings)
    used = await parts.usage.latest([each.id for each in workspaces if each.phase is Phase.RUNNING])
    return [card(each, live.get(each.id), used.get(each.id), policy, told) for each in workspaces]


def card(shown: ShownWorkspace, live: Live | None, used: Sample | None, policy: IdlePolicy, told: Telling) -> Card:
    live = current(shown, live)
    explanation = explain(shown, live, policy, told.wording())
    is_busy = shown.operation is not Operation.NONE
    clock = _clock(shown, explanation, policy, told)
    can = explanation.would_change
    return Card(
        shown=shown,
        url=policy.origins.address(shown.id) if policy.origins is not None else "",
        label=f"operation.{shown.operation}" if is_busy else f"phase.{shown.phase}",
        tone="busy" if is_busy else shown.phase.lower(),
        summary=explanation.summary,
        moved=moved(live, told),
        live=live,
        clock=clock,
        is_timed=bool(clock) or shown.phase is Phase.RUNNING,
        can_extend=Action.EXTEND in can and bool(clock),
        use=gauges(used, told),
        direct=[action for action in DIRECT if action in can],
        menu=_menu(shown, can),
    )


def _menu(shown: ShownWorkspace, can: Sequence[Action]) -> list[str]:
    can_fork = shown.archive is not None and shown.deleted_at is None
    offered = {
        "archive": Action.ARCHIVE in can,
        "fork": can_fork,
        "start_empty": Action.START_EMPTY in can,
        "delete": Action.DELETE in can,
    }
    return [action for action, is_possible in offered.items() if is_possible]


def _clock(shown: ShownWorkspace, explanation: Explanation, policy: IdlePolicy, told: Telling) -> str:
    say, coming = told.language.say, explanation.next
    if shown.deleted_at is not None:
        until = undo_until(shown, policy.undelete_window)
        return say("dashboard.brought_back_until", until=told.moment(until)) if until is not None else ""
    if coming is None or coming.at is None:
        return ""
    if coming.what is Next.ARCHIVE:
        return say("dashboard.archives", left=told.until(coming.at))
    if coming.what is not Next.SLEEP:
        return ""
    if coming.at == shown.held_until:
        return say("dashboard.held", until=told.moment(coming.at), reason=shown.hold_reason or "")
    if coming.at <= told.now:
        return say("dashboard.sleeps_now")
    since = max(filter(None, (shown.last_access_at, shown.phase_changed_at)))
    idle = say("dashboard.no_activity_since", when=told.moment(since))
    return f"{say('dashboard.sleeps', left=told.until(coming.at))}: {idle}"
