"""Users, templates, workspaces with their history and archives, and what the coordinators remember."""

from codehub.store.migrations.script import run

revision = "0001"
down_revision = None

# Text with CHECK, not enum types: a partial index can compare two text columns, and a new word needs no ALTER TYPE.
TABLES = """
-- One row: what tells this installation's containers, volumes and archives from another's on the same services.
CREATE TABLE installation (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    single_row  boolean NOT NULL DEFAULT true UNIQUE CHECK (single_row)
);
INSERT INTO installation DEFAULT VALUES;

CREATE TABLE users (
    id             uuid PRIMARY KEY,
    login          text NOT NULL CHECK (login <> ''),
    password_hash  text NOT NULL,
    role           text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'admin')),
    max_running    integer CHECK (max_running >= 0),
    locale         text,
    disabled       boolean NOT NULL DEFAULT false,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX users_login ON users (lower(login));

CREATE TABLE templates (
    id                     uuid PRIMARY KEY,
    name                   text NOT NULL UNIQUE,
    description            text NOT NULL DEFAULT '',
    image_ref              text,
    status                 text NOT NULL DEFAULT 'building' CHECK (status IN ('building', 'ready', 'failed')),
    status_detail          text NOT NULL DEFAULT '',
    port                   integer NOT NULL CHECK (port BETWEEN 1 AND 65535),
    health_path            text NOT NULL DEFAULT '/healthz',
    strip_prefix           boolean NOT NULL DEFAULT true,
    environment            jsonb NOT NULL DEFAULT '{}',
    resources              jsonb NOT NULL DEFAULT '{}',
    standby_after_seconds  integer CHECK (standby_after_seconds >= 0),
    archive_after_seconds  integer CHECK (archive_after_seconds >= 0),
    built_in               boolean NOT NULL DEFAULT false,
    created_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at             timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE workspaces (
    id                     uuid PRIMARY KEY,
    owner_user_id          uuid NOT NULL REFERENCES users (id),
    name                   text NOT NULL CHECK (name <> ''),
    description            text NOT NULL DEFAULT '',
    memo                   text NOT NULL DEFAULT '',
    template_id            uuid REFERENCES templates (id),
    image_ref              text,
    git_url                text,
    resources              jsonb NOT NULL DEFAULT '{}',
    desired_state          text NOT NULL CHECK (desired_state IN ('RUNNING', 'STANDBY', 'ARCHIVED', 'DELETED')),
    desired_reason         text NOT NULL DEFAULT 'owner'
                           CHECK (desired_reason IN ('owner', 'idle', 'wake', 'admin', 'limit')),
    desired_by             text,
    standby_after_seconds  integer CHECK (standby_after_seconds >= 0),
    archive_after_seconds  integer CHECK (archive_after_seconds >= 0),
    last_access_at         timestamptz,
    deleted_at             timestamptz,
    request                jsonb,
    revision               bigint NOT NULL DEFAULT 1,

    conditions             jsonb NOT NULL DEFAULT '{}',
    observed_at            timestamptz,

    phase                  text NOT NULL DEFAULT 'PENDING' CHECK (phase IN
                           ('PENDING', 'ARCHIVED', 'STANDBY', 'RUNNING', 'ERROR', 'DELETING', 'DELETED')),
    phase_changed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    operation              text NOT NULL DEFAULT 'NONE' CHECK (operation IN
                           ('NONE', 'PROVISIONING', 'RESTORING', 'STARTING', 'STOPPING', 'ARCHIVING',
                            'CREATE_EMPTY_ARCHIVE', 'DELETING')),
    op_id                  uuid,
    op_started_at          timestamptz,
    op_clock_at            timestamptz,
    op_step                text,
    op_attempt             integer NOT NULL DEFAULT 0,
    op_volume              text,
    acted_at               timestamptz,
    home_volume            text,
    home_ctx               jsonb NOT NULL DEFAULT '{}',
    archive_op_id          uuid,
    archive_key            text,
    error_reason           text,
    error_count            integer NOT NULL DEFAULT 0 CHECK (error_count >= 0),
    next_attempt_at        timestamptz,
    recent_deaths          timestamptz[] NOT NULL DEFAULT '{}',
    judged_at              timestamptz,

    -- Whether the controller has nothing to decide about this row. A deleted row is not settled until it is DELETED,
    -- and one in ERROR becomes unsettled when its error is cleared, by whomever.
    settled                boolean NOT NULL GENERATED ALWAYS AS (
                               operation = 'NONE'
                               AND request IS NULL
                               AND (phase = desired_state
                                    OR (phase = 'ERROR' AND error_reason IS NOT NULL AND deleted_at IS NULL))
                               AND (observed_at IS NULL OR (judged_at IS NOT NULL AND judged_at >= observed_at))
                           ) STORED,
    created_at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at             timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT deleted_is_wished CHECK ((desired_state = 'DELETED') = (deleted_at IS NOT NULL)),
    CONSTRAINT one_volume_at_a_time CHECK (home_volume IS NULL OR op_volume IS NULL),
    CONSTRAINT operation_is_whole CHECK (CASE operation
        WHEN 'NONE' THEN op_step IS NULL
        ELSE op_step IS NOT NULL AND op_id IS NOT NULL AND op_clock_at IS NOT NULL END),
    CONSTRAINT operation_has_its_ground CHECK (CASE operation
        WHEN 'PROVISIONING' THEN op_volume IS NOT NULL AND archive_key IS NULL
        WHEN 'RESTORING' THEN op_volume IS NOT NULL AND archive_key IS NOT NULL
        WHEN 'STARTING' THEN home_volume IS NOT NULL
        WHEN 'ARCHIVING' THEN coalesce(home_volume, op_volume) IS NOT NULL
        WHEN 'CREATE_EMPTY_ARCHIVE' THEN home_volume IS NULL
        ELSE true END),
    CONSTRAINT home_is_let_go CHECK (op_step NOT IN ('release', 'released') OR home_volume IS NULL),
    CONSTRAINT stored_archive_is_named CHECK (op_step NOT IN ('verified', 'release', 'released', 'uploaded')
        OR coalesce(archive_key = id || '/' || archive_op_id || '/home.tar.zst', false)),
    CONSTRAINT error_has_no_operation CHECK (phase <> 'ERROR' OR operation = 'NONE')
);

CREATE TABLE workspace_events (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    workspace_id  uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind          text NOT NULL,
    before        text,
    after         text,
    reason        text,
    actor         text,
    detail        text NOT NULL DEFAULT ''
);
CREATE INDEX workspace_events_of_workspace ON workspace_events (workspace_id, id);
CREATE INDEX workspace_events_by_age ON workspace_events (at);

CREATE TABLE archives (
    id            uuid PRIMARY KEY,
    workspace_id  uuid NOT NULL REFERENCES workspaces (id),
    generation    integer NOT NULL,
    key           text NOT NULL UNIQUE,
    size          bigint NOT NULL,
    checksum      text NOT NULL,
    entries       bigint NOT NULL,
    op_id         uuid NOT NULL,
    made_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    verified_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    kept          boolean NOT NULL DEFAULT false,
    UNIQUE (workspace_id, generation)
);

CREATE TABLE orphans (
    kind          text NOT NULL CHECK (kind IN ('archive', 'volume', 'container')),
    key           text NOT NULL,
    workspace_id  uuid NOT NULL,
    first_seen    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (kind, key)
);

CREATE TABLE system_locks (
    lock_name    text PRIMARY KEY,
    holder_id    text NOT NULL,
    epoch        bigint NOT NULL,
    acquired_at  timestamptz NOT NULL,
    released     boolean NOT NULL
);

CREATE TABLE observer_state (
    kind      text PRIMARY KEY,
    began_at  timestamptz NOT NULL,
    engine    text
);
"""

# Each serves one question that is asked again and again; a test holds their use at 100,000 rows.
INDEXES = """
CREATE UNIQUE INDEX workspaces_name ON workspaces (owner_user_id, name) WHERE deleted_at IS NULL;
CREATE INDEX workspaces_living ON workspaces (owner_user_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX workspaces_unsettled ON workspaces ((desired_state <> 'RUNNING'), id) WHERE NOT settled;
CREATE INDEX workspaces_running ON workspaces (owner_user_id)
    WHERE desired_state = 'RUNNING' AND deleted_at IS NULL AND phase <> 'ERROR';
CREATE INDEX workspaces_may_stand_by ON workspaces (greatest(last_access_at, phase_changed_at))
    WHERE phase = 'RUNNING' AND operation = 'NONE' AND desired_state = 'RUNNING';
CREATE INDEX workspaces_may_be_archived ON workspaces (phase_changed_at)
    WHERE phase = 'STANDBY' AND operation = 'NONE' AND desired_state = 'STANDBY';
CREATE INDEX workspaces_under_way ON workspaces (op_started_at) WHERE operation <> 'NONE';
CREATE INDEX workspaces_in_error ON workspaces (phase_changed_at) WHERE phase = 'ERROR' AND deleted_at IS NULL;
CREATE INDEX workspaces_with_volume ON workspaces (id)
    WHERE home_volume IS NOT NULL OR op_volume IS NOT NULL OR observed_at IS NULL OR operation <> 'NONE';
CREATE INDEX workspaces_with_archive ON workspaces (id) WHERE archive_key IS NOT NULL;
CREATE INDEX workspaces_archive_unseen ON workspaces (id)
    WHERE archive_key IS NOT NULL AND (conditions #>> '{storage.archive_ready,subject}') IS DISTINCT FROM archive_key;
"""

# Notifications are hints: ids only, never state, and everything works without them (contract 2).
TRIGGERS = """
CREATE FUNCTION workspaces_touch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := clock_timestamp();
    IF (NEW.name, NEW.description, NEW.memo, NEW.desired_state, NEW.standby_after_seconds, NEW.archive_after_seconds,
        NEW.deleted_at, NEW.template_id, NEW.image_ref, NEW.git_url, NEW.resources)
       IS DISTINCT FROM
       (OLD.name, OLD.description, OLD.memo, OLD.desired_state, OLD.standby_after_seconds, OLD.archive_after_seconds,
        OLD.deleted_at, OLD.template_id, OLD.image_ref, OLD.git_url, OLD.resources)
    THEN
        NEW.revision := OLD.revision + 1;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER workspaces_touch BEFORE UPDATE ON workspaces FOR EACH ROW EXECUTE FUNCTION workspaces_touch();

CREATE FUNCTION workspaces_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify(TG_ARGV[0], NEW.id || ' ' || NEW.owner_user_id);
    RETURN NULL;
END $$;

CREATE TRIGGER workspaces_sse_insert AFTER INSERT ON workspaces FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL) EXECUTE FUNCTION workspaces_notify('ws_sse');
CREATE TRIGGER workspaces_sse_update AFTER UPDATE ON workspaces FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL AND (
        (OLD.deleted_at IS NOT NULL)
        OR (NEW.phase, NEW.operation, NEW.error_reason, NEW.desired_state, NEW.name, NEW.description, NEW.memo)
           IS DISTINCT FROM
           (OLD.phase, OLD.operation, OLD.error_reason, OLD.desired_state, OLD.name, OLD.description, OLD.memo)))
    EXECUTE FUNCTION workspaces_notify('ws_sse');

CREATE TRIGGER workspaces_wake_insert AFTER INSERT ON workspaces FOR EACH ROW
    EXECUTE FUNCTION workspaces_notify('ws_wake');
CREATE TRIGGER workspaces_wake_update AFTER UPDATE ON workspaces FOR EACH ROW
    WHEN ((NEW.desired_state, NEW.deleted_at) IS DISTINCT FROM (OLD.desired_state, OLD.deleted_at)
          OR (NEW.request IS NOT NULL AND NEW.request IS DISTINCT FROM OLD.request)
          OR (NEW.phase = 'ERROR' AND NEW.error_reason IS NULL AND OLD.error_reason IS NOT NULL))
    EXECUTE FUNCTION workspaces_notify('ws_wake');

CREATE TRIGGER workspaces_deleted AFTER UPDATE ON workspaces FOR EACH ROW
    WHEN (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL)
    EXECUTE FUNCTION workspaces_notify('ws_deleted');
"""


def upgrade() -> None:
    run(TABLES)
    run(INDEXES)
    run(TRIGGERS)


def downgrade() -> None:
    run("""
    DROP TABLE installation, observer_state, system_locks, orphans, archives, workspace_events, workspaces, templates,
        users;
    DROP FUNCTION workspaces_notify(), workspaces_touch();
    """)
