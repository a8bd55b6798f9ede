"""When a workspace that nobody uses goes to sleep."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from codehub.decide.origins import Origins
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired, Operation, Phase
from codehub.model.workspace import Workspace

NEVER = 0
"""As an idle time: does not go to sleep by itself. As a ceiling: there is none."""


@dataclass(frozen=True, slots=True)
class IdlePolicy:
    standby_after_seconds: int
    archive_after_seconds: int
    standby_ceiling_seconds: int = NEVER
    archive_ceiling_seconds: int = NEVER
    flush_interval: timedelta = timedelta(seconds=30)
    """How late activity may arrive. Nobody is expired by an activity that is still on its way."""
    undelete_window: timedelta = timedelta(0)
    """How long a deleted one can be brought back: no idle time, but told in the same sentences."""
    origins: Origins | None = None
    """Where people open workspaces: told beside it. None where no front door is known."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Between these two moments nobody's activity was missed."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class StayAwake:
    until: datetime | None
    """When it would go to sleep if nothing happened before. None: not by itself."""


@dataclass(frozen=True, slots=True)
class Sleep:
    desired: Desired


def idle(
    workspace: Workspace | ShownWorkspace,
    policy: IdlePolicy,
    held_until: datetime | None,
    now: datetime,
    watch: Watch | None = None,
) -> StayAwake | Sleep:
    """Whether to write a wish for sleep, with the reason `idle`. Only a workspace at rest in its wish is considered.

    Idle is who was watched and seen to do nothing: the clock begins anew where something may have been missed, and
    stands still where the last of the front doors has spoken. Without a watch nothing was missed."""
    if workspace.operation is not Operation.NONE or workspace.phase_changed_at is None:
        return StayAwake(None)
    match (workspace.phase, workspace.desired_state):
        case (Phase.RUNNING, Desired.RUNNING):
            # The later of the two: a workspace that was just woken is not put back by an old access.
            since = max(workspace.last_access_at or workspace.phase_changed_at, workspace.phase_changed_at)
            if watch is not None:
                since = max(since, watch.since)
                now = min(now, watch.until + policy.flush_interval)
            after = within_ceiling(
                workspace.standby_after_seconds, policy.standby_after_seconds, policy.standby_ceiling_seconds
            )
            return _sleep(Desired.STANDBY, since, after, policy.flush_interval, held_until, now)
        case (Phase.STANDBY, Desired.STANDBY):
            after = within_ceiling(
                workspace.archive_after_seconds, policy.archive_after_seconds, policy.archive_ceiling_seconds
            )
            return _sleep(Desired.ARCHIVED, workspace.phase_changed_at, after, timedelta(0), None, now)
        case _:
            return StayAwake(None)


def is_current(silent_for: timedelta, policy: IdlePolicy) -> bool:
    """Whether every front door has spoken within two intervals. If not, somebody may have come back through a silent
    one, and nobody is put to sleep until it speaks."""
    return silent_for <= 2 * policy.flush_interval


def within_ceiling(override: int | None, default: int, ceiling: int) -> int:
    """The idle time in force, in seconds: the override if there is one, within the administrator's ceiling. Never is
    the longest of all, and so is cut down to a ceiling where there is one."""
    chosen = default if override is None else override
    if ceiling == NEVER:
        return chosen
    return ceiling if chosen == NEVER else min(chosen, ceiling)


def _sleep(
    desired: Desired, since: datetime, after: int, flush: timedelta, held_until: datetime | None, now: datetime
) -> StayAwake | Sleep:
    if after == NEVER:
        return StayAwake(None)
    due = since + timedelta(seconds=after) + flush
    if held_until is not None:
        due = max(due, held_until)
    return Sleep(desired) if now > due else StayAwake(due)
