"""Visits: what lets a browser into one workspace, on that workspace's own origin."""

from codehub.store.migrations.script import run

revision = "0009"
down_revision = "0008"

# A visit is a part of the session that it began with, and ends with it. Of its secret only the hash is stored.
TABLES = """
CREATE TABLE visits (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    secret_hash   bytea NOT NULL UNIQUE,
    session_id    uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    workspace_id  uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX visits_of_session ON visits (session_id, workspace_id, created_at);
CREATE INDEX visits_of_workspace ON visits (workspace_id);
"""


def upgrade() -> None:
    run(TABLES)


def downgrade() -> None:
    run("DROP TABLE visits;")
