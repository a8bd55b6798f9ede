"""Fills the sentences of explanations: each gap with words for people, and with the fact itself for programs."""

from collections.abc import Callable, Mapping
from string import Formatter
from typing import TypeVar

from codehub.decide import situations
from codehub.decide.opening import opens_in
from codehub.decide.request import HOME_IS_LOST
from codehub.decide.situations import Code
from codehub.decide.wording import Wording
from codehub.decide.wording_english import ENGLISH
from codehub.model.shown import Live, ShownWorkspace
from codehub.model.states import Desired, Operation, Phase

_WITHOUT_HOME = (Phase.PENDING, Phase.ARCHIVED)

Fact = TypeVar("Fact")
Told = tuple[str, object]
"""The words, and the fact behind them."""


def phrased(code: Code, workspace: ShownWorkspace, live: Live | None, say: Wording) -> tuple[str, dict[str, object]]:
    """The sentence for this situation, and what a program needs to say the same in its own words."""
    words: dict[str, str] = {}
    params: dict[str, object] = {}
    for gap in _GAPS[code]:
        words[gap], fact = _FILL[gap](workspace, live, say)
        params[_NAMED.get(gap, gap)] = fact
    return say.sentences[code].format(**words), params


def _since(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    return say.moment(workspace.phase_changed_at), workspace.phase_changed_at


def _because(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    """Who or what asked for it. Where that was idleness, the fact is since when."""
    reason, used = workspace.desired_reason, workspace.last_access_at
    phrase = say.because.get((reason, workspace.desired_state)) if _serves_the_wish(workspace) else None
    if phrase is None:
        return "", None
    if reason not in say.who:
        return phrase.format(after=say.after.format(at=say.moment(used)) if used is not None else ""), used
    by = workspace.desired_by
    return phrase.format(by=say.who[reason].format(by) if by is not None else say.somebody[reason]), None


def _used(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    used = workspace.last_access_at
    return (say.last_used.format(at=say.moment(used)) if used is not None else ""), used


def _activity(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    """Ends the sentence about when it was last used."""
    if workspace.last_access_at is None:
        return "", None
    kind = workspace.last_activity
    return (say.used_for.format(activity=say.activity[kind]) if kind is not None else "."), kind


def _serves_the_wish(workspace: ShownWorkspace) -> bool:
    """Whether what is being done is done for the present wish: otherwise its reason is another's."""
    operation, desired = workspace.operation, workspace.desired_state
    if operation is Operation.NONE or (operation, desired) in situations.ON_THE_WAY:
        return True
    return situations.LEADS_TO.get(situations.UNDER_WAY[operation], Desired.DELETED) is desired


def soon(workspace: ShownWorkspace) -> Code:
    """What begins in a moment, where nothing has begun."""
    if workspace.desired_state is Desired.STANDBY and workspace.phase in _WITHOUT_HOME:
        return Code.PREPARES_SOON
    return situations.SOON[workspace.desired_state]


def _from_then_on(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    at = workspace.next_attempt_at
    return (say.from_then_on.format(at=say.moment(at)) if at is not None else ""), at


def _fault(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    return _from(say.fault, workspace.error_reason)


def _way_out(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    return _from(say.way_out, workspace.error_reason)


def _choice(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    """The archives that lost files can be restored from; nothing where no files are lost."""
    found = workspace.restorable
    if workspace.error_reason not in HOME_IS_LOST:
        return "", None
    if found is None:
        return say.no_choice, None
    phrase = say.choice if found.count > 1 else say.only_choice
    return phrase.format(count=found.count, newest=say.moment(found.newest)), found


def _opens_in(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    if workspace.archive is None:
        return "", None
    seconds = opens_in(workspace.archive)
    return say.opens_in.format(duration=roughly(seconds, say)), seconds


def roughly(seconds: float, say: Wording) -> str:
    """As roughly as it is known."""
    for below, words in say.durations:
        if seconds < below:
            return words
    return say.minutes.format(minutes=f"{seconds / 60:.0f}")


def _files(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    """How many, where there are several: an empty home is one folder."""
    entries = workspace.archive.entries if workspace.archive is not None else 0
    return (say.files.format(entries=entries) if entries > 1 else say.some_files), entries


def _made_at(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    assert workspace.archive is not None  # noqa: S101 (said only where there is one to come back from)
    return say.moment(workspace.archive.made_at), workspace.archive.made_at


def _request(workspace: ShownWorkspace, _: Live | None, say: Wording) -> Told:
    return _from(say.request, workspace.request)


def _from(table: Mapping[Fact, str], fact: Fact | None) -> Told:
    assert fact is not None  # noqa: S101 (what is said of it is said only where there is one)
    return table[fact], fact


def _service(_: ShownWorkspace, live: Live | None, say: Wording) -> Told:
    service = live.service if live is not None else None
    return (say.service[service] if service is not None else say.something), service


_FILL: dict[str, Callable[[ShownWorkspace, Live | None, Wording], Told]] = {
    "since": _since,
    "because": _because,
    "used": _used,
    "activity": _activity,
    "from_then_on": _from_then_on,
    "fault": _fault,
    "way_out": _way_out,
    "choice": _choice,
    "opens_in": _opens_in,
    "files": _files,
    "made_at": _made_at,
    "service": _service,
    "request": _request,
    "intent": lambda workspace, _, say: (say.intent[soon(workspace)], workspace.desired_state),
    "trying": lambda workspace, _, say: (say.trying[workspace.operation], workspace.operation),
    "template": lambda workspace, _, say: (workspace.template_name or say.an_image, workspace.template_name),
    "deaths": lambda workspace, _, __: (str(workspace.deaths), workspace.deaths),
}
_NAMED = {
    "because": "last_used",
    "used": "last_used",
    "activity": "last_activity",
    "from_then_on": "at",
    "fault": "error",
    "way_out": "error",
    "choice": "restorable",
    "opens_in": "opens_in_seconds",
    "files": "entries",
    "intent": "wish",
    "trying": "operation",
}
"""What the fact of a gap is called, where that is not the gap's own name."""

_GAPS = {
    code: tuple(gap for _, gap, _, _ in Formatter().parse(sentence) if gap)
    for code, sentence in ENGLISH.sentences.items()
}
