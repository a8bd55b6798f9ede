"""What the collector remembers: its rounds, and a counter that tells a database restored from an old backup."""

from codehub.store.migrations.script import run

revision = "0007"
down_revision = "0006"

TABLES = """
ALTER TABLE orphans DROP CONSTRAINT orphans_kind_check;
ALTER TABLE orphans ADD CONSTRAINT orphans_kind_check
    CHECK (kind IN ('archive', 'upload', 'volume', 'container', 'job'));

-- One that is asked for has not begun yet, one that was cut short has not ended: both are the next to be made.
CREATE TABLE gc_rounds (
    id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    asked_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    asked_by      text,
    began_at      timestamptz,
    ended_at      timestamptz,
    seen          integer NOT NULL DEFAULT 0,
    kept          jsonb NOT NULL DEFAULT '{}',
    waiting       integer NOT NULL DEFAULT 0,
    deleted       jsonb NOT NULL DEFAULT '{}',
    pruned        jsonb NOT NULL DEFAULT '{}',
    due           integer NOT NULL DEFAULT 0,
    halted        text,
    confirmed_at  timestamptz,
    confirmed_by  text,
    failed        text
);
CREATE INDEX gc_rounds_by_age ON gc_rounds (asked_at, id);
CREATE INDEX gc_rounds_to_come ON gc_rounds (asked_at) WHERE ended_at IS NULL;

-- Raised with every fact that protects a home. What the archive store holds is one of the marks; a database that does
-- not know that mark is older than the store.
CREATE TABLE home_counter (
    single_row  boolean PRIMARY KEY DEFAULT true CHECK (single_row),
    value       bigint NOT NULL DEFAULT 0
);
INSERT INTO home_counter DEFAULT VALUES;
CREATE TABLE home_counter_marks (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    value    bigint NOT NULL,
    made_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX home_counter_marks_by_value ON home_counter_marks (value);

CREATE INDEX workspaces_asking_for_archive ON workspaces ((request ->> 'archive_key'))
    WHERE request ->> 'archive_key' IS NOT NULL;
CREATE INDEX workspaces_deleted_long_ago ON workspaces (deleted_at) WHERE deleted_at IS NOT NULL;
"""

# Deferred to the commit: the one row is held for a moment only, and by nobody who still waits for another.
TRIGGERS = """
CREATE FUNCTION home_counter_raise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE home_counter SET value = value + 1;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER archives_made AFTER INSERT ON archives DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    EXECUTE FUNCTION home_counter_raise();
CREATE CONSTRAINT TRIGGER archives_kept AFTER UPDATE ON archives DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.kept AND NOT OLD.kept) EXECUTE FUNCTION home_counter_raise();
CREATE CONSTRAINT TRIGGER workspaces_incarnated AFTER UPDATE ON workspaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (NEW.op_volume IS NOT NULL AND NEW.op_volume IS DISTINCT FROM OLD.op_volume
          AND NEW.op_volume IS DISTINCT FROM OLD.home_volume)
    EXECUTE FUNCTION home_counter_raise();
CREATE CONSTRAINT TRIGGER workspaces_undeleted AFTER UPDATE ON workspaces DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL) EXECUTE FUNCTION home_counter_raise();
"""


def upgrade() -> None:
    run(TABLES)
    run(TRIGGERS)


def downgrade() -> None:
    run("""
    DROP TRIGGER workspaces_undeleted ON workspaces;
    DROP TRIGGER workspaces_incarnated ON workspaces;
    DROP TRIGGER archives_kept ON archives;
    DROP TRIGGER archives_made ON archives;
    DROP FUNCTION home_counter_raise();
    DROP INDEX workspaces_asking_for_archive, workspaces_deleted_long_ago;
    DROP TABLE home_counter_marks, home_counter, gc_rounds;
    DELETE FROM orphans WHERE kind IN ('upload', 'job');
    ALTER TABLE orphans DROP CONSTRAINT orphans_kind_check;
    ALTER TABLE orphans ADD CONSTRAINT orphans_kind_check CHECK (kind IN ('archive', 'volume', 'container'));
    """)
