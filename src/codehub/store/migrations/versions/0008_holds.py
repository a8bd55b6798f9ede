"""What keeps a workspace awake: the holds that people place on it, and what it was last used for."""

from codehub.store.migrations.script import run

revision = "0008"
down_revision = "0007"

# The end and the reason of the hold that lasts longest stand in the workspace's own row as well: whoever puts idle ones
# to sleep has to see a new hold under that row's lock, and every list shows it.
TABLES = """
CREATE TABLE holds (
    id            uuid PRIMARY KEY,
    workspace_id  uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    reason        text NOT NULL CHECK (reason <> ''),
    made_by       text NOT NULL,
    made_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    ends_at       timestamptz NOT NULL
);
CREATE INDEX holds_of_workspace ON holds (workspace_id, ends_at);

ALTER TABLE workspaces
    ADD COLUMN held_until timestamptz,
    ADD COLUMN hold_reason text,
    ADD COLUMN last_activity text;

ALTER TABLE api_tokens DROP CONSTRAINT api_tokens_scopes_check;
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_scopes_check
    CHECK (scopes <@ '{hold,read,workspaces,admin}' AND cardinality(scopes) > 0);
"""

# By idle time, as far as rows know it, and then by age: whoever looks for the idle finds of each kind only those that
# are due, however many there are that are not.
INDEXES = """
DROP INDEX workspaces_may_stand_by, workspaces_may_be_archived;
CREATE INDEX workspaces_may_stand_by ON workspaces (
        coalesce(standby_after_seconds, -1), coalesce(template_id, '00000000-0000-0000-0000-000000000000'),
        greatest(last_access_at, phase_changed_at))
    WHERE phase = 'RUNNING' AND operation = 'NONE' AND desired_state = 'RUNNING';
CREATE INDEX workspaces_may_be_archived ON workspaces (
        coalesce(archive_after_seconds, -1), coalesce(template_id, '00000000-0000-0000-0000-000000000000'),
        phase_changed_at)
    WHERE phase = 'STANDBY' AND operation = 'NONE' AND desired_state = 'STANDBY';
"""
INDEXES_BEFORE = """
DROP INDEX workspaces_may_stand_by, workspaces_may_be_archived;
CREATE INDEX workspaces_may_stand_by ON workspaces (greatest(last_access_at, phase_changed_at))
    WHERE phase = 'RUNNING' AND operation = 'NONE' AND desired_state = 'RUNNING';
CREATE INDEX workspaces_may_be_archived ON workspaces (phase_changed_at)
    WHERE phase = 'STANDBY' AND operation = 'NONE' AND desired_state = 'STANDBY';
"""

# In place of 0004's: a page also shows what keeps a workspace awake.
BEFORE = """phase operation error_reason desired_state name description memo desired_reason desired_by request op_step
    op_attempt error_count next_attempt_at recent_deaths template_id git_url resources standby_after_seconds
    archive_after_seconds last_access_at"""
SINCE = f"{BEFORE} held_until hold_reason"


def upgrade() -> None:
    run(TABLES)
    run(INDEXES)
    tell_of(SINCE)


def downgrade() -> None:
    tell_of(BEFORE)
    run(INDEXES_BEFORE)
    run("""
    DELETE FROM api_tokens WHERE 'hold' = ANY (scopes);
    ALTER TABLE api_tokens DROP CONSTRAINT api_tokens_scopes_check;
    ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_scopes_check
        CHECK (scopes <@ '{read,workspaces,admin}' AND cardinality(scopes) > 0);
    ALTER TABLE workspaces DROP COLUMN held_until, DROP COLUMN hold_reason, DROP COLUMN last_activity;
    DROP TABLE holds;
    """)


def tell_of(columns: str) -> None:
    now, then = (", ".join(f"{row}.{column}" for column in columns.split()) for row in ("NEW", "OLD"))
    run(f"""
    DROP TRIGGER workspaces_sse_update ON workspaces;
    CREATE TRIGGER workspaces_sse_update AFTER UPDATE ON workspaces FOR EACH ROW
        WHEN (NEW.deleted_at IS NULL AND (OLD.deleted_at IS NOT NULL OR ({now}) IS DISTINCT FROM ({then})))
        EXECUTE FUNCTION workspaces_notify('ws_sse');
    """)
