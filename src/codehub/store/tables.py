"""The tables, as SQLModel sees them. The migrations make them; who may write which column is contract 3."""

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, Boolean, Column, Computed, Identity, Text
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlmodel import Field, SQLModel

Json = dict[str, Any]


def _moment(*, nullable: bool = True) -> Any:  # noqa: ANN401 (what Field returns)
    return Field(default=None, sa_type=TIMESTAMP(timezone=True), nullable=nullable)


def _json(*, nullable: bool = True) -> Any:  # noqa: ANN401
    # None is NULL, not JSON's own null: a request that was taken away must not look like one.
    return Field(default=None, sa_type=JSONB(none_as_null=True), nullable=nullable)


class InstallationRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "installation"

    id: UUID = Field(primary_key=True)
    single_row: bool
    inside_key: bytes


class UserRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "users"

    id: UUID = Field(primary_key=True)
    login: str
    password_hash: str
    role: str
    max_running: int | None = None
    locale: str | None = None
    disabled: bool = False
    last_login_at: datetime | None = _moment()
    created_at: datetime = _moment(nullable=False)
    updated_at: datetime = _moment(nullable=False)


class SessionRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "sessions"

    id: UUID = Field(primary_key=True)
    user_id: UUID = Field(foreign_key="users.id")
    secret_hash: bytes
    address: str
    user_agent: str
    created_at: datetime = _moment(nullable=False)
    last_used_at: datetime = _moment(nullable=False)
    expires_at: datetime = _moment(nullable=False)


class ApiTokenRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "api_tokens"

    id: UUID = Field(primary_key=True)
    user_id: UUID = Field(foreign_key="users.id")
    name: str
    secret_hash: bytes
    hint: str
    scopes: list[str] = Field(sa_type=ARRAY(Text))
    created_at: datetime = _moment(nullable=False)
    last_used_at: datetime | None = _moment()
    expires_at: datetime | None = _moment()


class VisitRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "visits"

    id: UUID = Field(primary_key=True)
    secret_hash: bytes
    session_id: UUID = Field(foreign_key="sessions.id")
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    created_at: datetime = _moment(nullable=False)


class LoginCodeRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "login_codes"

    secret_hash: bytes = Field(primary_key=True)
    user_id: UUID = Field(foreign_key="users.id")
    purpose: str
    detail: Json = _json(nullable=False)
    expires_at: datetime = _moment(nullable=False)


class LoginAttemptRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "login_attempts"

    id: int | None = Field(default=None, sa_column=Column("id", BigInteger, Identity(always=True), primary_key=True))
    login: str
    address: str
    succeeded: bool | None = None
    at: datetime = _moment(nullable=False)


class AuditLogRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "audit_log"

    id: int | None = Field(default=None, sa_column=Column("id", BigInteger, Identity(always=True), primary_key=True))
    at: datetime = _moment(nullable=False)
    actor_user_id: UUID | None = None
    actor: str
    action: str
    subject_id: UUID | None = None
    subject: str
    address: str
    request_id: str
    detail: Json = _json(nullable=False)


class IdempotencyKeyRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "idempotency_keys"

    user_id: UUID = Field(primary_key=True, foreign_key="users.id")
    key: str = Field(primary_key=True)
    fingerprint: bytes
    status: int | None = None
    headers: Json | None = _json()
    body: bytes | None = None
    created_at: datetime = _moment(nullable=False)


class AccessWatermarkRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "access_watermark"

    single_row: bool = Field(primary_key=True)
    value: int = Field(sa_type=BigInteger)


class TemplateRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "templates"

    id: UUID = Field(primary_key=True)
    name: str
    description: str
    image_ref: str | None = None
    status: str
    status_detail: str
    port: int
    health_path: str
    strip_prefix: bool
    environment: Json = _json(nullable=False)
    resources: Json = _json(nullable=False)
    standby_after_seconds: int | None = None
    archive_after_seconds: int | None = None
    built_in: bool
    created_at: datetime = _moment(nullable=False)
    updated_at: datetime = _moment(nullable=False)


class WorkspaceRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "workspaces"

    id: UUID = Field(primary_key=True)
    owner_user_id: UUID = Field(foreign_key="users.id")
    name: str
    description: str
    memo: str
    template_id: UUID | None = Field(default=None, foreign_key="templates.id")
    image_ref: str | None = None
    git_url: str | None = None
    resources: Json = _json(nullable=False)
    desired_state: str
    desired_reason: str
    desired_by: str | None = None
    standby_after_seconds: int | None = None
    archive_after_seconds: int | None = None
    last_access_at: datetime | None = _moment()
    last_activity: str | None = None
    held_until: datetime | None = _moment()
    hold_reason: str | None = None
    deleted_at: datetime | None = _moment()
    request: Json | None = _json()
    revision: int = Field(sa_type=BigInteger)

    conditions: Json = _json(nullable=False)
    observed_at: datetime | None = _moment()

    phase: str
    phase_changed_at: datetime = _moment(nullable=False)
    operation: str
    op_id: UUID | None = None
    op_started_at: datetime | None = _moment()
    op_clock_at: datetime | None = _moment()
    op_step: str | None = None
    op_attempt: int
    op_volume: str | None = None
    acted_at: datetime | None = _moment()
    home_volume: str | None = None
    home_ctx: Json = _json(nullable=False)
    archive_op_id: UUID | None = None
    archive_key: str | None = None
    error_reason: str | None = None
    error_count: int
    next_attempt_at: datetime | None = _moment()
    recent_deaths: list[datetime] = Field(sa_type=ARRAY(TIMESTAMP(timezone=True)))
    judged_at: datetime | None = _moment()

    settled: bool = Field(
        sa_column=Column("settled", Boolean, Computed("(as migrated)", persisted=True), nullable=False)
    )
    created_at: datetime = _moment(nullable=False)
    updated_at: datetime = _moment(nullable=False)


class HoldRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "holds"

    id: UUID = Field(primary_key=True)
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    reason: str
    made_by: str
    made_at: datetime = _moment(nullable=False)
    ends_at: datetime = _moment(nullable=False)


class WorkspaceEventRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "workspace_events"

    id: int | None = Field(default=None, sa_column=Column("id", BigInteger, Identity(always=True), primary_key=True))
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    at: datetime = _moment(nullable=False)
    kind: str
    before: str | None = None
    after: str | None = None
    reason: str | None = None
    actor: str | None = None
    detail: str = Field(sa_type=Text)


class ArchiveRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "archives"

    id: UUID = Field(primary_key=True)
    workspace_id: UUID = Field(foreign_key="workspaces.id")
    generation: int
    key: str
    size: int = Field(sa_type=BigInteger)
    checksum: str
    entries: int = Field(sa_type=BigInteger)
    op_id: UUID
    made_at: datetime = _moment(nullable=False)
    verified_at: datetime = _moment(nullable=False)
    kept: bool


class OrphanRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "orphans"

    kind: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    workspace_id: UUID
    first_seen: datetime = _moment(nullable=False)


class GcRoundRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "gc_rounds"

    id: UUID = Field(primary_key=True)
    asked_at: datetime = _moment(nullable=False)
    asked_by: str | None = None
    began_at: datetime | None = _moment()
    ended_at: datetime | None = _moment()
    seen: int
    kept: Json = _json(nullable=False)
    waiting: int
    deleted: Json = _json(nullable=False)
    pruned: Json = _json(nullable=False)
    due: int
    halted: str | None = None
    confirmed_at: datetime | None = _moment()
    confirmed_by: str | None = None
    failed: str | None = None


class HomeCounterRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "home_counter"

    single_row: bool = Field(primary_key=True)
    value: int = Field(sa_type=BigInteger)


class HomeCounterMarkRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "home_counter_marks"

    id: UUID = Field(primary_key=True)
    value: int = Field(sa_type=BigInteger)
    made_at: datetime = _moment(nullable=False)


class SystemLockRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "system_locks"

    lock_name: str = Field(primary_key=True)
    holder_id: str
    epoch: int = Field(sa_type=BigInteger)
    acquired_at: datetime = _moment(nullable=False)
    released: bool


class ObserverStateRow(SQLModel, table=True):
    __tablename__: ClassVar[str] = "observer_state"

    kind: str = Field(primary_key=True)
    began_at: datetime = _moment(nullable=False)
    engine: str | None = None


installation = SQLModel.metadata.tables["installation"]
users = SQLModel.metadata.tables["users"]
sessions = SQLModel.metadata.tables["sessions"]
api_tokens = SQLModel.metadata.tables["api_tokens"]
login_codes = SQLModel.metadata.tables["login_codes"]
login_attempts = SQLModel.metadata.tables["login_attempts"]
audit_log = SQLModel.metadata.tables["audit_log"]
idempotency_keys = SQLModel.metadata.tables["idempotency_keys"]
access_watermark = SQLModel.metadata.tables["access_watermark"]
templates = SQLModel.metadata.tables["templates"]
workspaces = SQLModel.metadata.tables["workspaces"]
workspace_events = SQLModel.metadata.tables["workspace_events"]
archives = SQLModel.metadata.tables["archives"]
orphans = SQLModel.metadata.tables["orphans"]
gc_rounds = SQLModel.metadata.tables["gc_rounds"]
home_counter = SQLModel.metadata.tables["home_counter"]
home_counter_marks = SQLModel.metadata.tables["home_counter_marks"]
system_locks = SQLModel.metadata.tables["system_locks"]
observer_state = SQLModel.metadata.tables["observer_state"]
