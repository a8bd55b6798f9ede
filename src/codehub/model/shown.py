"""A workspace as people see it: in the API, in events and on pages."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ShownWorkspace:
    id: UUID
    owner_user_id: UUID
    name: str
    description: str
    memo: str
    desired_state: str
    desired_reason: str
    phase: str
    phase_changed_at: datetime
    operation: str
    op_step: str | None
    op_started_at: datetime | None
    error_reason: str | None
    error_count: int
    last_access_at: datetime | None
    created_at: datetime
    updated_at: datetime
    revision: int
