"""Sessions, API tokens, login limits, the audit log, and answers kept for repeated requests."""

from codehub.store.migrations.script import run

revision = "0002"
down_revision = "0001"

# Of every secret only its SHA-256 is stored: nothing in a dump of the database logs anybody in.
TABLES = """
ALTER TABLE users ADD COLUMN last_login_at timestamptz;

CREATE TABLE sessions (
    id            uuid PRIMARY KEY,
    user_id       uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    secret_hash   bytea NOT NULL UNIQUE,
    address       text NOT NULL,
    user_agent    text NOT NULL DEFAULT '',
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at    timestamptz NOT NULL
);
CREATE INDEX sessions_of_user ON sessions (user_id, created_at);
CREATE INDEX sessions_by_end ON sessions (expires_at);

CREATE TABLE api_tokens (
    id            uuid PRIMARY KEY,
    user_id       uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name          text NOT NULL CHECK (name <> ''),
    secret_hash   bytea NOT NULL UNIQUE,
    hint          text NOT NULL,
    scopes        text[] NOT NULL CHECK (scopes <@ '{read,workspaces,admin}' AND cardinality(scopes) > 0),
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_used_at  timestamptz,
    expires_at    timestamptz
);
CREATE INDEX api_tokens_of_user ON api_tokens (user_id, created_at);
CREATE INDEX api_tokens_by_end ON api_tokens (expires_at);

-- A browser has proven who sits before it, and hands that on to where it cannot carry a cookie: once, and soon.
CREATE TABLE login_codes (
    secret_hash  bytea PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose      text NOT NULL,
    detail       jsonb NOT NULL DEFAULT '{}',
    expires_at   timestamptz NOT NULL
);
CREATE INDEX login_codes_by_end ON login_codes (expires_at);

CREATE TABLE login_attempts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login      text NOT NULL,
    address    text NOT NULL,
    succeeded  boolean NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX login_attempts_on_account ON login_attempts (lower(login), at);
CREATE INDEX login_attempts_from_address ON login_attempts (address, at);
CREATE INDEX login_attempts_by_age ON login_attempts (at);

-- Names stand beside ids: an entry must still be readable when its actor or its subject is gone.
CREATE TABLE audit_log (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_user_id  uuid,
    actor          text NOT NULL,
    action         text NOT NULL,
    subject_id     uuid,
    subject        text NOT NULL DEFAULT '',
    address        text NOT NULL DEFAULT '',
    request_id     text NOT NULL DEFAULT '',
    detail         jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_by_age ON audit_log (at, id);
CREATE INDEX audit_log_of_actor ON audit_log (actor_user_id, id);
CREATE INDEX audit_log_of_subject ON audit_log (subject_id, id);

CREATE TABLE idempotency_keys (
    user_id       uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key           text NOT NULL,
    fingerprint   bytea NOT NULL,
    status        integer,
    headers       jsonb,
    body          bytea,
    created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Raised whenever somebody may do less than before: whoever remembers an answer reads it every second.
CREATE TABLE access_watermark (
    single_row  boolean PRIMARY KEY DEFAULT true CHECK (single_row),
    value       bigint NOT NULL DEFAULT 0
);
INSERT INTO access_watermark DEFAULT VALUES;
"""

TRIGGERS = """
CREATE FUNCTION access_narrowed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE access_watermark SET value = value + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_narrowed AFTER DELETE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION access_narrowed();
CREATE TRIGGER api_tokens_narrowed AFTER DELETE ON api_tokens FOR EACH STATEMENT EXECUTE FUNCTION access_narrowed();
CREATE TRIGGER users_narrowed AFTER UPDATE OF disabled, role, login, max_running ON users FOR EACH STATEMENT
    EXECUTE FUNCTION access_narrowed();

-- What was done stays told: entries leave only by age, through the function that prunes them.
CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('codehub.prunes_audit_log', true) = 'yes' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
END $$;
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW
    EXECUTE FUNCTION audit_log_is_append_only();
"""


def upgrade() -> None:
    run(TABLES)
    run(TRIGGERS)


def downgrade() -> None:
    run("""
    DROP TRIGGER users_narrowed ON users;
    DROP TABLE access_watermark, idempotency_keys, audit_log, login_attempts, login_codes, api_tokens, sessions;
    DROP FUNCTION access_narrowed(), audit_log_is_append_only();
    ALTER TABLE users DROP COLUMN last_login_at;
    """)
