"""Events show the whole workspace, so everything that is shown of it is told of: its step, its attempts, what was asked
for, its idle times and when it was last used."""

from codehub.store.migrations.script import run

revision = "0004"
down_revision = "0003"

BEFORE = "phase operation error_reason desired_state name description memo"
SINCE = f"""{BEFORE} desired_reason desired_by request op_step op_attempt error_count next_attempt_at recent_deaths
    template_id git_url resources standby_after_seconds archive_after_seconds last_access_at"""


def upgrade() -> None:
    tell_of(SINCE)


def downgrade() -> None:
    tell_of(BEFORE)


def tell_of(columns: str) -> None:
    now, then = (", ".join(f"{row}.{column}" for column in columns.split()) for row in ("NEW", "OLD"))
    run(f"""
    DROP TRIGGER workspaces_sse_update ON workspaces;
    CREATE TRIGGER workspaces_sse_update AFTER UPDATE ON workspaces FOR EACH ROW
        WHEN (NEW.deleted_at IS NULL AND (OLD.deleted_at IS NOT NULL OR ({now}) IS DISTINCT FROM ({then})))
        EXECUTE FUNCTION workspaces_notify('ws_sse');
    """)
