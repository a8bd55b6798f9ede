"""Administrators list everybody's workspaces, newest first, page by page."""

from codehub.store.migrations.script import run

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run("CREATE INDEX workspaces_by_age ON workspaces (created_at, id) WHERE deleted_at IS NULL;")


def downgrade() -> None:
    run("DROP INDEX workspaces_by_age;")
