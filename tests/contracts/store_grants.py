"""Contract 3 as grants: who may write which column, for PostgreSQL itself to enforce while the suite runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import make_url

PASSWORD = "only for tests"

WRITERS = {
    "api": [
        "id",
        "owner_user_id",
        "name",
        "description",
        "memo",
        "template_id",
        "image_ref",
        "git_url",
        "resources",
        "desired_state",
        "desired_reason",
        "desired_by",
        "standby_after_seconds",
        "archive_after_seconds",
        "last_access_at",
        "last_activity",
        "held_until",
        "hold_reason",
        "deleted_at",
        "request",
    ],
    "observer": ["conditions", "observed_at"],
    "controller": [
        "phase",
        "phase_changed_at",
        "operation",
        "op_id",
        "op_started_at",
        "op_clock_at",
        "op_step",
        "op_attempt",
        "op_volume",
        "acted_at",
        "home_volume",
        "home_ctx",
        "archive_op_id",
        "archive_key",
        "error_reason",
        "error_count",
        "next_attempt_at",
        "recent_deaths",
        "judged_at",
    ],
}
"""The columns of `workspaces`, by their one writer."""

CONSUMERS = {
    "controller": ["request"],
    "ttl": ["desired_state", "desired_reason", "desired_by", "last_access_at", "last_activity"],
}
"""What is the API's and others write too: the controller takes a request away, the TTL runner wishes in its name."""

BY_THE_DATABASE = ["revision", "settled", "created_at", "updated_at"]
"""Columns that triggers, defaults and the table itself keep."""


@dataclass(frozen=True, slots=True)
class TableGrant:
    table: str
    what: str
    roles: tuple[str, ...]


COORDINATORS = ("observer", "controller", "collector", "listener", "ttl")
ROLES = ("api", *COORDINATORS)
TABLES = (
    TableGrant("users", "INSERT, UPDATE", ("api",)),
    TableGrant("templates", "INSERT, UPDATE", ("api",)),
    TableGrant("holds", "INSERT, UPDATE, DELETE", ("api",)),
    TableGrant("workspace_events", "INSERT", ("api", "controller", "ttl")),
    TableGrant("archives", "INSERT, UPDATE", ("controller",)),
    TableGrant("archives", "DELETE", ("collector",)),
    TableGrant("orphans", "INSERT, DELETE", ("collector",)),
    TableGrant("gc_rounds", "INSERT, UPDATE, DELETE", ("collector",)),
    TableGrant("home_counter", "UPDATE", ("api", "controller")),
    TableGrant("observer_state", "INSERT, UPDATE", ("observer",)),
    TableGrant("system_locks", "INSERT, UPDATE", COORDINATORS),
)


def as_role(url: str, role: str) -> str:
    return make_url(url).set(username=role, password=PASSWORD).render_as_string(hide_password=False)


def grants() -> Iterator[str]:
    """Statements that make the roles and give each what it may write, and no more."""
    for role in ROLES:
        yield f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'"
        yield f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
    yield f"GRANT INSERT ({', '.join(WRITERS['api'])}) ON workspaces TO api"
    for columns_of in (WRITERS, CONSUMERS):
        for role, columns in columns_of.items():
            yield f"GRANT UPDATE ({', '.join(columns)}) ON workspaces TO {role}"
    for grant in TABLES:
        yield f"GRANT {grant.what} ON {grant.table} TO {', '.join(grant.roles)}"


def clock_ahead(interval: str) -> Iterator[str]:
    """Statements after which the roles find a clock in the database that is not the clock of this process: a time that
    came from here would show."""
    yield "CREATE SCHEMA ahead"
    for clock, kind in (("clock_timestamp", "VOLATILE"), ("statement_timestamp", "STABLE")):
        yield (
            f"CREATE FUNCTION ahead.{clock}() RETURNS timestamptz LANGUAGE sql {kind} "
            f"RETURN pg_catalog.{clock}() + interval '{interval}'"
        )
    yield f"GRANT USAGE ON SCHEMA ahead TO {', '.join(ROLES)}"
    for role in ROLES:
        yield f"ALTER ROLE {role} SET search_path = ahead, pg_catalog, public"
