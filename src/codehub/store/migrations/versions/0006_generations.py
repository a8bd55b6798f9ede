"""People look for what they have deleted and may want back, and for what stands on an archive."""

from codehub.store.migrations.script import run

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run("""
    CREATE INDEX workspaces_gone ON workspaces (owner_user_id, created_at, id) WHERE deleted_at IS NOT NULL;
    CREATE INDEX workspaces_by_archive ON workspaces (archive_key) WHERE archive_key IS NOT NULL;
    """)


def downgrade() -> None:
    run("DROP INDEX workspaces_gone, workspaces_by_archive;")
