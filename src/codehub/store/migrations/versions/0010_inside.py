"""The key by which workspaces prove themselves when they ask to be kept awake."""

from codehub.store.migrations.script import run

revision = "0010"
down_revision = "0009"

# Two random UUIDs: 244 random bits, without an extension.
COLUMN = """
ALTER TABLE installation ADD COLUMN inside_key bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
"""


def upgrade() -> None:
    run(COLUMN)


def downgrade() -> None:
    run("ALTER TABLE installation DROP COLUMN inside_key;")
