"""Workspaces as people are shown them, in as few words as a test should need."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from codehub.decide.idle import IdlePolicy
from codehub.model.plans import Waiting
from codehub.model.shown import Live, ShownArchive, ShownWorkspace
from codehub.model.states import Desired, ImageState, Operation, Phase, Service
from tests.decide.builders import OP_ID, OWNER_ID, WORKSPACE_ID, after

TEMPLATE_ID = UUID(int=7)
IDLE_POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=3600, undelete_window=timedelta(days=7))
ARCHIVE = ShownArchive(number=3, made_at=after(-7200), size=100_000_000, entries=12_345)

_STOPPED = ShownWorkspace(
    id=WORKSPACE_ID,
    owner_user_id=OWNER_ID,
    owner_login="ann",
    name="garden",
    description="",
    memo="",
    template_id=TEMPLATE_ID,
    template_name="code-server",
    image=ImageState.READY,
    git_url=None,
    resources={},
    desired_state=Desired.STANDBY,
    desired_reason="owner",
    desired_by="ann",
    request=None,
    phase=Phase.STANDBY,
    phase_changed_at=after(0),
    operation=Operation.NONE,
    op_id=None,
    op_step=None,
    op_started_at=None,
    op_attempt=0,
    error_reason=None,
    error_count=0,
    next_attempt_at=None,
    deaths=0,
    standby_after_seconds=None,
    archive_after_seconds=None,
    standby_override_seconds=None,
    archive_override_seconds=None,
    last_access_at=None,
    last_activity=None,
    held_until=None,
    hold_reason=None,
    created_at=after(-3600),
    updated_at=after(0),
    revision=1,
    deleted_at=None,
    archive=None,
    restorable=None,
)


def shown(**columns: Any) -> ShownWorkspace:  # noqa: ANN401 (what is shown of a row)
    """One that rests in STANDBY since midnight of the first of January 2030; every fact can be given."""
    if columns.get("operation", Operation.NONE) is not Operation.NONE:
        columns = {"op_id": OP_ID, "op_started_at": after(60), "op_attempt": 1} | columns
    return replace(_STOPPED, **columns)


def waiting(why: Waiting, service: Service | None = None, op_id: UUID | None = None) -> Live:
    return Live("wait", op_id, waiting=why, service=service)
