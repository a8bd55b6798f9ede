"""From the judged row to the one next thing to do about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from codehub.decide.judge import broken_invariant, is_terminal, judge, wish
from codehub.decide.request import answer
from codehub.decide.retry import RetryPolicy, after_death, after_failure
from codehub.decide.steps import AFTER_ACTION, AFTER_SIGHT, FIRST_STEP, LADDER, NEEDS, SIGHT, Sight
from codehub.decide.view import Container, View, view
from codehub.model.conditions import Status
from codehub.model.plans import (
    Begin,
    Continue,
    Fault,
    Finish,
    GiveUp,
    Plan,
    RemoveSurplus,
    Rest,
    Waiting,
    WaitUntil,
    Withdraw,
    Withdrawal,
)
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import Workspace

HOME_IS_LET_GO = (Step.RELEASE, Step.RELEASED)
"""The steps of ARCHIVING after its point of no return."""


@dataclass(frozen=True, slots=True)
class ServiceState:
    available: bool
    since: datetime
    """Since when it is available, or away."""


class Acting(Enum):
    """What this leader is doing about a workspace."""

    NOT = "nothing"
    QUEUED = "its act waits for a turn"
    BUSY = "its act is under way"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision needs to know besides the row."""

    now: datetime
    policy: RetryPolicy
    services: Mapping[Service, ServiceState]
    image: ImageState = ImageState.READY
    acting: Acting = Acting.NOT
    spread: float = 0.5
    """A number from 0 to 1 that moves retries apart."""


def plan(workspace: Workspace, circumstances: Circumstances) -> Plan:
    """The next thing to do. The same row and circumstances always give the same answer, so that any leader at any
    time goes on where another stopped (contract 2)."""
    if workspace.operation is Operation.NONE:
        return _plan_at_rest(workspace, view(workspace), circumstances)
    return _plan_under_way(workspace, view(workspace), circumstances)


def _plan_at_rest(workspace: Workspace, seen: View, circumstances: Circumstances) -> Plan:
    policy = circumstances.policy
    phase = judge(workspace, policy.max_retries)
    if workspace.request is not None and workspace.deleted_at is None:
        answered = answer(workspace, workspace.request, phase, seen)
        if answered is not None:
            return answered
    broken = broken_invariant(workspace, seen)
    if broken is not None and not is_terminal(workspace.error_reason, workspace.error_count, policy.max_retries):
        return GiveUp(Fault(broken, _BROKEN[broken]), workspace.error_count + 1)
    wanted = wish(workspace)
    if _has_died(workspace, phase, wanted):
        return after_death(workspace, circumstances.now, policy)
    operation = _next_operation(phase, wanted, seen)
    thinned = _thin_out(seen, circumstances) if operation is not Operation.STOPPING else None  # that takes them all
    if thinned is not None:
        return thinned
    if operation is None:
        return Rest()
    return _begin(workspace, operation, seen, circumstances)


def _has_died(workspace: Workspace, phase: Phase, wanted: Desired) -> bool:
    return workspace.phase is Phase.RUNNING and phase is Phase.STANDBY and wanted is Desired.RUNNING


def _next_operation(phase: Phase, wanted: Desired, seen: View) -> Operation | None:
    """The rung of the ladder. A container that is there without being wanted is stopped first: nothing rests, is
    archived or deleted beside it (contract 8)."""
    if phase in (Phase.STANDBY, Phase.DELETING) and wanted is not Desired.RUNNING and seen.container.is_there:
        return Operation.STOPPING
    return LADDER.get((phase, wanted))


def _thin_out(seen: View, circumstances: Circumstances) -> RemoveSurplus | WaitUntil | None:
    """At most one container per workspace (contract 6): a start of a deposed leader that arrives late leaves a second
    one. It goes by the word of a look that began after the last act, and only where what stays is alive and stands on
    its home."""
    if seen.surplus is None:
        return WaitUntil(None, Waiting.OBSERVATION)
    if not seen.surplus or seen.container is Container.EXITED or seen.volume is not Status.TRUE:
        return None
    if not circumstances.services[Service.RUNTIME].available:
        return WaitUntil(None, Waiting.SERVICE, Service.RUNTIME)
    return RemoveSurplus(seen.surplus) if circumstances.acting is Acting.NOT else WaitUntil(None, Waiting.ACTION)


_STARTS_FROM_VOLUME = (Operation.STARTING, Operation.ARCHIVING)
_WITHOUT_CONTAINER = (Operation.ARCHIVING, Operation.DELETING)
_REMOVES_VOLUME = (Step.RELEASE, Step.DELETE)


def _begin(workspace: Workspace, operation: Operation, seen: View, circumstances: Circumstances) -> Plan:
    """Begin, unless what the operation stands on was not seen or is away."""
    step = FIRST_STEP[operation]
    away = _away(step, circumstances)
    if away is not None:
        return WaitUntil(None, Waiting.SERVICE, away)
    if (
        (operation in _STARTS_FROM_VOLUME and seen.volume is not Status.TRUE)
        or (operation in _WITHOUT_CONTAINER and seen.container is not Container.NONE)
        or (operation is Operation.RESTORING and seen.archive is not Status.TRUE)
    ):
        return WaitUntil(None, Waiting.OBSERVATION)
    if operation is Operation.STARTING:
        if circumstances.image is ImageState.BUILDING:
            return WaitUntil(None, Waiting.IMAGE_BUILDING)
        if circumstances.image is ImageState.FAILED:
            fault = Fault(ErrorReason.IMAGE_PULL_FAILED, "the template's image could not be built")
            return GiveUp(fault, workspace.error_count + 1)
        if workspace.next_attempt_at is not None and workspace.next_attempt_at > circumstances.now:
            return WaitUntil(workspace.next_attempt_at, Waiting.RETRY)
    return Begin(operation, step)


def _plan_under_way(workspace: Workspace, seen: View, circumstances: Circumstances) -> Plan:
    step = workspace.op_step or FIRST_STEP[workspace.operation]
    withdrawal = _withdrawal(workspace, step, seen, circumstances)
    if withdrawal is not None:
        return Withdraw(withdrawal)
    sight = SIGHT[step](workspace, seen) if step in SIGHT else Sight.NOT_YET
    if sight is Sight.DONE and step not in AFTER_SIGHT:
        return _finish(workspace, circumstances.policy)
    broken = broken_invariant(workspace, seen)
    if broken is not None:
        return GiveUp(Fault(broken, _BROKEN[broken]), workspace.error_count + 1)
    away = _away(step, circumstances)
    if away is not None:
        return WaitUntil(None, Waiting.SERVICE, away)
    if sight is Sight.DONE:
        return Continue(AFTER_SIGHT[step])
    if sight is Sight.CONTRADICTED:
        fault = Fault(ErrorReason.ACTION_FAILED, f"'{step}' was reported, but is not what was seen")
        return after_failure(workspace, step, fault, circumstances.now, circumstances.policy, circumstances.spread)
    return _go_on(workspace, step, seen, circumstances)


def _go_on(workspace: Workspace, step: Step, seen: View, circumstances: Circumstances) -> Plan:
    """Act, or wait for the act in flight or for its sight; but not for ever. Where nobody acts no time is up: the act
    waits for its turn, or its leader is gone and the next one begins it anew."""
    if workspace.next_attempt_at is not None and workspace.next_attempt_at > circumstances.now:
        return WaitUntil(workspace.next_attempt_at, Waiting.RETRY)
    acts = step in AFTER_ACTION
    if acts and circumstances.acting is Acting.QUEUED:
        return WaitUntil(None, Waiting.TURN)
    if acts and circumstances.acting is Acting.NOT and (step not in _REMOVES_VOLUME or _may_remove_volume(step, seen)):
        return Continue(step)
    deadline = _deadline(workspace, step, circumstances)
    if circumstances.now >= deadline:
        fault = Fault(ErrorReason.TIMEOUT, f"'{step}' did not end within its limit")
        return after_failure(workspace, step, fault, circumstances.now, circumstances.policy, circumstances.spread)
    if acts and circumstances.acting is Acting.BUSY:
        return WaitUntil(deadline, Waiting.ACTION)
    thinned = _thin_out(seen, circumstances) if step is Step.STARTED else None
    return thinned if isinstance(thinned, RemoveSurplus) else WaitUntil(deadline, Waiting.OBSERVATION)


def _may_remove_volume(step: Step, seen: View) -> bool:
    """Contract 8, asked as the last thing before the act: the container was seen gone, and the archive whole unless
    the workspace is being deleted."""
    return seen.container is Container.NONE and (step is Step.DELETE or seen.archive is Status.TRUE)


def _deadline(workspace: Workspace, step: Step, circumstances: Circumstances) -> datetime:
    """When the present attempt has taken too long. The clock stands still while a shared service is away: it begins
    anew when the service is back."""
    began = workspace.op_clock_at or circumstances.now
    for service in NEEDS[step]:
        began = max(began, circumstances.services[service].since)
    return began + circumstances.policy.timeout(workspace.operation, step)


def _away(step: Step, circumstances: Circumstances) -> Service | None:
    for service in NEEDS[step]:
        if not circumstances.services[service].available:
            return service
    return None


def _withdrawal(workspace: Workspace, step: Step, seen: View, circumstances: Circumstances) -> Withdrawal | None:
    """Wake wins: an archive under way yields until its volume is let go of, which only the wish for it permits. A
    restore yields to a deletion, and a deletion to an owner who wants the workspace back. Any other operation runs to
    its end, except that one waiting for its next attempt, for a registry or for room follows a changed wish."""
    wanted = wish(workspace)
    if step in HOME_IS_LET_GO and wanted is not Desired.DELETED:
        return None
    if workspace.operation in _WITHOUT_CONTAINER and seen.container.is_there:
        return Withdrawal.CONTAINER_APPEARED
    serves = _SERVES[workspace.operation]
    if wanted in serves:
        return None
    between_attempts = workspace.next_attempt_at is not None and workspace.next_attempt_at > circumstances.now
    if (
        between_attempts
        or _away(step, circumstances) in _MAY_STAY_AWAY
        or (workspace.operation is Operation.ARCHIVING and (wanted is not Desired.DELETED or step is Step.VERIFIED))
        or (workspace.operation is Operation.RESTORING and wanted is Desired.DELETED)
        or workspace.operation is Operation.DELETING
    ):
        return Withdrawal.WISH_CHANGED
    return None


_MAY_STAY_AWAY = (Service.REGISTRY, Service.ARCHIVE_ROOM)
"""What somebody may have to see to first, and what keeps nobody from other wishes until then."""

_SERVES = {
    operation: frozenset(desired for (_, desired), named in LADDER.items() if named is operation)
    for operation in Operation
} | {Operation.STOPPING: frozenset({Desired.STANDBY, Desired.ARCHIVED, Desired.DELETED})}
"""The wishes that an operation works towards. STOPPING also makes way for a deletion."""

_BROKEN = {
    ErrorReason.CONTAINER_WITHOUT_VOLUME: "a container was seen, but not the volume it should stand on",
    ErrorReason.DATA_LOST: "the home was there and is gone",
    ErrorReason.ARCHIVE_CORRUPTED: "the archive has another size than its marker says",
}


def _finish(workspace: Workspace, policy: RetryPolicy) -> Finish:
    """What the row says once the operation is done: a volume that was made becomes the home, one that was let go of
    or deleted is forgotten."""
    home, made, marker = workspace.home_volume, workspace.op_volume, workspace.restore_marker
    if workspace.operation in (Operation.PROVISIONING, Operation.RESTORING):
        home, made, marker = made, None, workspace.archive_key
    elif workspace.operation in (Operation.ARCHIVING, Operation.DELETING):
        home, made = None, None
    finished = replace(
        workspace,
        phase=judge(workspace, policy.max_retries),
        operation=Operation.NONE,
        op_step=None,
        op_volume=made,
        home_volume=home,
        restore_marker=marker,
        error_reason=None,
        error_count=0,
    )
    return Finish(judge(finished, policy.max_retries), home, made, marker)
