"""A login attempt is there before its password is checked, so that attempts made at the same time see each other."""

from codehub.store.migrations.script import run

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run("ALTER TABLE login_attempts ALTER COLUMN succeeded DROP NOT NULL;")


def downgrade() -> None:
    run("""
    UPDATE login_attempts SET succeeded = false WHERE succeeded IS NULL;
    ALTER TABLE login_attempts ALTER COLUMN succeeded SET NOT NULL;
    """)
