"""The whole workspace as the API, its events, the pages and the command line show it: one shape for all of them."""

from typing import Any

from codehub.decide.explain import current, explain
from codehub.decide.idle import IdlePolicy, within_ceiling
from codehub.decide.undelete import undelete_seconds, undo_until
from codehub.decide.wording_english import FAULT_SENTENCE
from codehub.model.shown import Live, ShownWorkspace
from codehub.model.states import Operation


def show(workspace: ShownWorkspace, live: Live | None, policy: IdlePolicy) -> dict[str, Any]:
    """A document of plain values, written as JSON many hundred times a second: nothing in here checks or converts. The
    schema of the API says the same for those who read it, and a test holds the two together."""
    live = current(workspace, live)
    explanation = explain(workspace, live, policy)
    return {
        "id": workspace.id,
        "owner": {"id": workspace.owner_user_id, "login": workspace.owner_login},
        "name": workspace.name,
        "description": workspace.description,
        "memo": workspace.memo,
        "template": {"id": workspace.template_id, "name": workspace.template_name}
        if workspace.template_id is not None
        else None,
        "git_url": workspace.git_url,
        "resources": workspace.resources,
        "desired_state": workspace.desired_state,
        "desired_reason": workspace.desired_reason,
        "desired_by": workspace.desired_by,
        "phase": workspace.phase,
        "phase_changed_at": workspace.phase_changed_at,
        "operation": _operation(workspace, live),
        "request": workspace.request,
        "error": _error(workspace),
        "standby_after_seconds": workspace.standby_override_seconds,
        "archive_after_seconds": workspace.archive_override_seconds,
        "idle": _idle(workspace, policy),
        "archive": workspace.archive,
        "last_access_at": workspace.last_access_at,
        "last_activity": workspace.last_activity,
        "hold": {"reason": workspace.hold_reason, "until": workspace.held_until}
        if workspace.held_until is not None
        else None,
        "created_at": workspace.created_at,
        "updated_at": workspace.updated_at,
        "deleted_at": workspace.deleted_at,
        "undo_until": undo_until(workspace, policy.undelete_window),
        "undelete_seconds": undelete_seconds(workspace, policy.undelete_window),
        "revision": workspace.revision,
        "url": policy.origins.address(workspace.id) if policy.origins is not None else None,
        "explanation": explanation,
    }


def _operation(workspace: ShownWorkspace, live: Live | None) -> dict[str, Any] | None:
    if workspace.operation is Operation.NONE:
        return None
    return {
        "name": workspace.operation,
        "step": workspace.op_step,
        "started_at": workspace.op_started_at,
        "attempt": workspace.op_attempt,
        "progress": live,
    }


def _error(workspace: ShownWorkspace) -> dict[str, Any] | None:
    if workspace.error_reason is None:
        return None
    return {
        "reason": workspace.error_reason,
        "count": workspace.error_count,
        "next_attempt_at": workspace.next_attempt_at,
        "sentence": FAULT_SENTENCE[workspace.error_reason],
    }


def _idle(workspace: ShownWorkspace, policy: IdlePolicy) -> dict[str, int]:
    """The idle times in force, whoever chose them; 0 for never."""
    return {
        "standby_after_seconds": within_ceiling(
            workspace.standby_after_seconds, policy.standby_after_seconds, policy.standby_ceiling_seconds
        ),
        "archive_after_seconds": within_ceiling(
            workspace.archive_after_seconds, policy.archive_after_seconds, policy.archive_ceiling_seconds
        ),
    }
