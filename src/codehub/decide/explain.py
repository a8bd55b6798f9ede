"""Why a workspace is as it is, what is being done, what comes next and when, and what its owner can do about it."""

from datetime import UTC, datetime

from codehub.decide import situations
from codehub.decide.idle import IdlePolicy, StayAwake, idle
from codehub.decide.phrases import phrased, soon
from codehub.decide.request import HOME_IS_LOST
from codehub.decide.situations import Code
from codehub.decide.undelete import undo_until
from codehub.decide.wording import Wording
from codehub.decide.wording_english import ENGLISH
from codehub.model.shown import Action, Because, Doing, Explanation, Live, Next, ShownWorkspace, WhatNext
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase
from codehub.model.workspace import RequestKind

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_GONE = (Phase.DELETING, Phase.DELETED)


def explain(workspace: ShownWorkspace, live: Live | None, policy: IdlePolicy, say: Wording = ENGLISH) -> Explanation:
    """All times are absolute: what was explained once stays true until the row changes, and nobody has to ask again.

    `live` is the newest word of whoever works on it, as far as it is about the operation under way (`current`)."""
    code = _situation(workspace, live, policy)
    coming = _next(workspace, code, policy)
    summary, params = phrased(code, workspace, live, say)
    if _is_held(workspace, coming):
        params["hold"] = workspace.hold_reason
    since = workspace.op_started_at if workspace.operation is not Operation.NONE else None
    in_error = workspace.phase is Phase.ERROR
    return Explanation(
        code=code,
        params=params,
        summary=summary + _then(workspace, code, coming, say),
        since=since or workspace.phase_changed_at,
        because=Because("error", None) if in_error else Because(workspace.desired_reason, workspace.desired_by),
        doing=_doing(workspace, live),
        next=coming,
        would_change=_actions(workspace, code),
    )


def current(workspace: ShownWorkspace, live: Live | None) -> Live | None:
    """What is said of the present operation and step; what was said of another one is over."""
    if live is None or live.op_id != (workspace.op_id if workspace.operation is not Operation.NONE else None):
        return None
    return live if live.waiting is not None or live.stage == workspace.op_step else None


def _situation(workspace: ShownWorkspace, live: Live | None, policy: IdlePolicy) -> Code:
    """First match wins."""
    if workspace.desired_state is Desired.DELETED:
        if workspace.phase is not Phase.DELETED:
            return _held_up(workspace, live) or Code.DELETING
        return Code.GONE if undo_until(workspace, policy.undelete_window) is None else Code.DELETED
    if workspace.phase is Phase.ERROR:
        return _in_error(workspace)
    if workspace.phase in _GONE or workspace.operation is Operation.DELETING:
        return Code.RETURNING
    if workspace.operation is not Operation.NONE:
        told = situations.AT_STEP.get(workspace.op_step) if workspace.op_step is not None else None
        return _held_up(workspace, live) or told or situations.UNDER_WAY[workspace.operation]
    if workspace.request is not None:
        return Code.REQUESTED
    at_rest = situations.AT_REST.get((workspace.phase, workspace.desired_state))
    return at_rest or _held_up(workspace, live) or _before_it_begins(workspace)


def _in_error(workspace: ShownWorkspace) -> Code:
    if workspace.request is not None:
        return Code.REQUESTED
    if workspace.error_reason is None:
        return Code.EXAMINED
    return Code.CRASHED if workspace.error_reason is ErrorReason.ACTION_FAILED and workspace.deaths else Code.ERROR


def _held_up(workspace: ShownWorkspace, live: Live | None) -> Code | None:
    """What keeps it from going on at once."""
    waits = situations.WAITING.get(live.waiting) if live is not None and live.waiting is not None else None
    return waits or (Code.RETRYING if workspace.error_reason is not None else None)


def _before_it_begins(workspace: ShownWorkspace) -> Code:
    if workspace.phase is Phase.STANDBY and workspace.desired_state is Desired.RUNNING:
        if workspace.image is ImageState.BUILDING:
            return Code.WAITING_FOR_IMAGE
        if workspace.deaths and workspace.next_attempt_at is not None:
            return Code.RESTARTING
    return soon(workspace)


def _next(workspace: ShownWorkspace, code: Code, policy: IdlePolicy) -> WhatNext | None:
    match code:
        case Code.RUNNING | Code.STOPPED:
            # As of long ago, so that the answer is when, not whether.
            staying = idle(workspace, policy, workspace.held_until, _LONG_AGO)
            until = staying.until if isinstance(staying, StayAwake) else None
            what = Next.SLEEP if code is Code.RUNNING else Next.ARCHIVE
            return WhatNext(what, until) if until is not None else None
        case Code.DELETED:
            return WhatNext(Next.FORGET, undo_until(workspace, policy.undelete_window))
        case Code.ARCHIVED | Code.GONE | Code.ERROR | Code.CRASHED:
            return None
        case Code.RETRYING | Code.RESTARTING:
            return WhatNext(Next.RETRY, workspace.next_attempt_at)
        case Code.WAITING_FOR_SERVICE:
            return WhatNext(Next.RESUME, None)
        case Code.REQUESTED:
            return WhatNext(Next.ANSWER_REQUEST, None)
        case Code.EXAMINED:
            return WhatNext(Next.EXAMINE, None)
        case _:
            return WhatNext(situations.TOWARDS[workspace.desired_state], None)


def _then(workspace: ShownWorkspace, code: Code, coming: WhatNext | None, say: Wording) -> str:
    """The sentence about what follows, where the first one leaves that open."""
    if coming is not None and coming.at is not None and _is_held(workspace, coming):
        return say.held.format(hold=workspace.hold_reason, at=say.moment(coming.at))
    if coming is not None and coming.at is not None:
        return say.at_time[coming.what].format(at=say.moment(coming.at)) if coming.what in say.at_time else ""
    if workspace.request is RequestKind.RESTORE and workspace.operation in situations.MAKES_ROOM:
        return say.then_restored
    if code not in situations.LEADS_TO or situations.LEADS_TO[code] is workspace.desired_state:
        return ""
    return say.then[workspace.desired_state]


def _is_held(workspace: ShownWorkspace, coming: WhatNext | None) -> bool:
    """Whether a hold is what keeps it awake: without it, it would go to sleep before."""
    return coming is not None and coming.what is Next.SLEEP and coming.at == workspace.held_until


def _doing(workspace: ShownWorkspace, live: Live | None) -> Doing | None:
    if workspace.operation is Operation.NONE:
        return None
    return Doing(workspace.operation, workspace.op_step, workspace.op_started_at, workspace.op_attempt, live)


def _actions(workspace: ShownWorkspace, code: Code) -> tuple[Action, ...]:
    """What its owner can do. A wish leads nowhere while it is in ERROR, and a deletion is not taken back by one."""
    if workspace.desired_state is Desired.DELETED:
        return (Action.UNDELETE,) if code is Code.DELETED else ()
    if workspace.phase is Phase.ERROR:
        return (Action.DELETE,) if workspace.request is not None else _ways_out(workspace)
    if code is Code.RUNNING:
        return _WHILE_IT_RUNS
    return _WISHES[workspace.desired_state]


_WISHES = {
    Desired.RUNNING: (Action.STOP, Action.ARCHIVE, Action.DELETE),
    Desired.STANDBY: (Action.START, Action.ARCHIVE, Action.DELETE),
    Desired.ARCHIVED: (Action.START, Action.DELETE),
}
"""What else can be wished of one that is wished so."""


_WHILE_IT_RUNS = (
    Action.STOP,
    Action.ARCHIVE,
    Action.EXTEND,
    Action.HOLD,
    Action.CHANGE_IDLE_TIME,
    Action.DELETE,
)


def _ways_out(workspace: ShownWorkspace) -> tuple[Action, ...]:
    if workspace.error_reason not in HOME_IS_LOST:
        return (Action.RECOVER, Action.DELETE)
    restore = (Action.RESTORE,) if workspace.restorable is not None else ()
    return (*restore, Action.RECOVER, Action.START_EMPTY, Action.DELETE)
