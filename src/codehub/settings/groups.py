"""Every setting, its default and its reason.

A setting's name outside is its group's prefix and its field in capitals: `TTL_STANDBY_SECONDS` is
`settings.ttl.standby_seconds`. The text under a field is its documentation (docs/configuration.md, checked by a test).
"""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from codehub.settings import addresses
from codehub.settings.variables import Words

Count = Annotated[int, Field(ge=1)]
Limit = Annotated[int, Field(ge=0)]
Seconds = Annotated[int, Field(ge=1), Words(unit="seconds")]
SecondsOrZero = Annotated[int, Field(ge=0), Words(unit="seconds")]
Interval = Annotated[float, Field(gt=0, allow_inf_nan=False), Words(unit="seconds")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!-~]+$")]
Channel = Annotated[Text, Words(allowed="printable characters without spaces")]


class Group(BaseModel):
    """Settings that belong together and share the first part of their names."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    prefix: ClassVar[str]
    names: ClassVar[Mapping[str, str]] = {}
    """Names outside that do not follow the rule, by field."""

    @classmethod
    def outside(cls, field: str) -> str:
        return cls.names.get(field, cls.prefix + field.upper())


class CodehubConfig(Group):
    """This installation as a whole."""

    prefix = "CODEHUB_"
    data_dir: Annotated[
        Path,
        AfterValidator(addresses.absolute_path),
        Words(
            allowed="an absolute path",
            unset="`/var/lib/codehub` for root, otherwise `codehub` in `XDG_DATA_HOME` (`~/.local/share`)",
        ),
    ]
    """Where the embedded services keep their data. Root's is outside its home: services run as their own user there."""
    listen: Annotated[str, AfterValidator(addresses.listen_address), Words(allowed="host:port")] = "127.0.0.1:8080"
    """The address that browsers and commands reach. Loopback only, until an administrator decides otherwise."""
    public_url: Annotated[
        str | None,
        AfterValidator(addresses.http_url),
        Words(allowed="http://host:port or https://host:port", unset="the address that it listens on"),
    ] = None
    """Where people reach codehub, if that is another address than `CODEHUB_LISTEN`: behind a TLS proxy, for example.
    With `https` cookies are `Secure`, and requests that come from pages of any other origin are refused."""
    trusted_proxies: Annotated[
        str,
        AfterValidator(addresses.networks),
        Words(allowed="addresses or networks, separated by commas", unset="none"),
    ] = ""
    """Proxies in front of codehub, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Without it everybody
    who comes through one has its address: in the audit log, and for the limits on failed logins."""
    insecure: bool = False
    """Listen where others reach codehub although there is no TLS: whoever is on the way reads along, and VS Code works
    in part only, because browsers do not take such an address for a secure context."""
    replicas: Annotated[int, Field(ge=1, le=64)] = 1
    """Processes that answer on the address and stand in for each other: one for each processor that answers may use."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important log line that is written. `debug` also shows the traceback of a command that fails."""
    log_format: Literal["auto", "console", "json"] = "auto"
    """`auto` writes for people on a terminal, and one JSON object per line otherwise."""

    @property
    def listen_address(self) -> tuple[str, int]:
        return addresses.split_listen(self.listen)


class DatabaseConfig(Group):
    """PostgreSQL, where everything that must not be lost is kept."""

    prefix = "DATABASE_"
    url: Annotated[
        str | None,
        Field(repr=False),
        AfterValidator(addresses.database_url),
        Words(allowed="postgresql://user:password@host:port/database", unset="the embedded PostgreSQL"),
    ] = None
    """An external PostgreSQL, 15 or newer, that answers directly or through a session pooler."""


class RedisConfig(Group):
    """Redis or Valkey, which carries hints and activity; losing it costs latency, never data."""

    prefix = "REDIS_"
    url: Annotated[
        str | None,
        Field(repr=False),
        AfterValidator(addresses.redis_url),
        Words(allowed="redis://, rediss://user:password@host:port/number or unix:///path", unset="the embedded Valkey"),
    ] = None
    """An external Redis, 6.2 or newer, or Valkey."""


class RedisChannelConfig(Group):
    """Names of Redis channels, to be changed only where several installations share one Redis."""

    prefix = "REDIS_CHANNEL_"
    sse_prefix: Channel = "codehub:sse"
    """Events for the pages of one user: the user's id follows."""
    wake_prefix: Channel = "codehub:wake"
    """Hints that wake a coordinator before its interval has passed: its name follows."""
    activity_prefix: Channel = "codehub:activity"
    """Who was seen by the front doors: a sorted set of this name, and keys that begin with it."""
    usage_prefix: Channel = "codehub:usage"
    """What each workspace used in the last hour: keys of this name, and the workspace's id follows."""


class ArchiveConfig(Group):
    """Where sleeping homes live, and how long."""

    prefix = "ARCHIVE_"
    url: Annotated[
        str | None,
        AfterValidator(addresses.archive_url),
        Words(
            allowed="file:///absolute/path or s3://bucket/prefix", unset="the directory `archives` in the data folder"
        ),
    ] = None
    """The archive store. Only a store that all machines reach can serve more than one machine."""
    s3_endpoint: Annotated[
        str | None,
        AfterValidator(addresses.http_url),
        Words(allowed="http://host:port or https://host:port", unset="that of Amazon S3 in the region"),
    ] = None
    """The server of an S3 compatible store."""
    s3_region: Annotated[Text, Words(allowed="the name of a region")] = "us-east-1"
    """The region that requests are signed for; most compatible stores ignore it."""
    s3_access_key_id: Annotated[Text | None, Words(allowed="an access key", unset="not set")] = None
    """Who codehub is to the store; needed for `s3://`."""
    s3_secret_access_key: Annotated[SecretStr | None, Words(allowed="a secret", unset="not set")] = None
    """Proves it; needed for `s3://`. Never logged and never shown."""
    generations: Count = 3
    """Archives kept per workspace, so that a home can be brought back as it was before."""
    gc_grace_seconds: Seconds = 7200
    """How long an archive that nothing points to is kept, so that one that is just being made is never taken."""
    gc_max_share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """A round that would delete more than this share stops and asks: it is more likely a mistake than garbage."""
    verify: Literal["checksum", "extract"] = "checksum"
    """How an archive is proven whole before its volume is deleted: by its checksum, or by unpacking it as well."""
    zstd_level: Annotated[int, Field(ge=1, le=19)] = 3
    """More takes longer and saves space; beyond 9 rarely worth it for source code."""


class RuntimeConfig(Group):
    """Where workspaces run."""

    prefix = "RUNTIME_"
    names: ClassVar[Mapping[str, str]] = {"kind": "RUNTIME"}
    kind: Literal["auto", "docker", "local"] = "auto"
    """`docker` runs containers, `local` sandboxed processes without an engine; `auto` takes docker if one answers."""
    docker_host: Annotated[Text, Words(allowed="unix:///path or tcp://host:port")] = "unix:///var/run/docker.sock"
    """The engine, on the machine that the front door runs on."""
    prepare: Annotated[bool, Words(allowed="true or false")] = True
    """Make the built-in IDEs and the jobs' image in the background. Off: `codehub image build`, when it suits."""
    job_image: Annotated[
        Text | None, Words(allowed="the name of an image", unset="the one that codehub builds itself")
    ] = None
    """What moves homes to their archives and back, on an engine. A name that begins with `codehub/` is never pulled."""


class CoordinatorConfig(Group):
    """The five coordinators: how often they look, and how leadership is kept."""

    prefix = "COORDINATOR_"
    node_id: Annotated[Text, Words(allowed="printable characters without spaces", unset="host name and process id")] = (
        Field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}")
    )
    """What operators see as the holder of a lock."""
    idle_interval: Interval = 15
    """Pause between passes while nothing happens: the longest a lost hint can delay anything."""
    active_interval: Interval = 1
    """Pause between passes while an operation is under way."""
    active_duration: Interval = 30
    """How long the short pause lasts after the last sign of work."""
    ttl_interval: Interval = 60
    """Pause between looks for idle workspaces."""
    usage_interval: Interval = 15
    """Pause between looks at what running workspaces use, for the charts of the last hour."""
    gc_interval: Interval = 14400
    """Pause between collector rounds, counted from the last recorded one, not from the start of the process."""
    retry_interval: Interval = 5
    """Pause after a failed connection or acquire."""
    acquire_timeout: Interval = 5
    """The longest an attempt to take the lock may last before its connection is given up."""
    verify_interval: Interval = 10
    """How often a leader asks PostgreSQL whether it still holds its lock."""
    verify_timeout: Interval = 2
    """An answer that takes longer counts as no."""
    lease_seconds: Seconds = 5
    """A frozen or cut-off leader loses its lock within this time."""
    initial_delay_max: Annotated[float, Field(ge=0, allow_inf_nan=False), Words(unit="seconds")] = 5
    """Where other candidates are seen, a new one waits a random time up to this, so that not all start at once."""
    batch_size: Count = 500
    """Workspaces decided in one pass; more follow at once in the next."""
    shards: Count = 1
    """Parts that the controller's work is split into, each with a lock of its own. A new number holds when the last
    process with the old one has ended."""
    max_concurrent_operations: Count = 16
    """Containers and volumes worked on at the same time."""
    max_concurrent_jobs: Count = 4
    """Archives and restores at the same time: they are bound by disk and network, and must not delay starts. Where
    there are several, the last place is left to restores, which people wait for."""


class ReconcilerConfig(Group):
    """How long an operation may take, and what follows when it fails."""

    prefix = "RECONCILER_"
    max_retries: Limit = 3
    """Failures of one operation before its workspace rests in ERROR and waits for a person."""
    retry_backoff: Interval = 30
    """Pause before the first retry; it grows from there."""
    starting_timeout: Seconds = 300
    """From the container's creation until the workspace answers."""
    stopping_timeout: Seconds = 300
    """Until the container is gone."""
    archiving_timeout: Seconds = 1800
    """Until the archive is written and proven whole."""
    restoring_timeout: Seconds = 1800
    """Until the home is back in a volume."""
    provisioning_timeout: Seconds = 300
    """Until a new, empty volume is there."""
    create_empty_archive_timeout: Seconds = 300
    """Until the first archive of a workspace that was never opened is written."""
    deleting_timeout: Seconds = 600
    """Until container and volume are gone."""
    image_pull_timeout: Seconds = 1800
    """For pulling an image that is not on the machine; counted apart from starting."""


class TtlConfig(Group):
    """When a workspace that nobody uses goes to sleep."""

    prefix = "TTL_"
    standby_seconds: Seconds = 600
    """Without activity for this long, a running workspace is stopped. 10800 is advised in production."""
    archive_seconds: Seconds = 1800
    """Stopped for this long, a workspace is archived and its volume freed. 86400 is advised in production."""
    standby_ceiling_seconds: SecondsOrZero = 0
    """The longest standby time a workspace or template may ask for; 0 is no ceiling, and allows "never"."""
    archive_ceiling_seconds: SecondsOrZero = 0
    """The longest archive time a workspace or template may ask for; 0 is no ceiling, and allows "never"."""
    hold_ceiling_seconds: SecondsOrZero = 86400
    """The longest that a hold may keep a workspace awake; 0 is no ceiling."""


class ActivityConfig(Group):
    """How signs of life reach the database."""

    prefix = "ACTIVITY_"
    flush_interval: Interval = 30
    """How often each front door reports whom it saw. Expiry waits for it, so it must be well below the standby time."""


class AuthConfig(Group):
    """Who is let in, and for how long."""

    prefix = "AUTH_"
    session_idle_seconds: Seconds = 7 * 86400
    """A browser session ends when it was not used for this long."""
    session_max_seconds: Seconds = 30 * 86400
    """A browser session ends after this long, used or not."""
    token_max_seconds: SecondsOrZero = 0
    """The longest life of an API token; 0 allows tokens without an end."""
    cache_seconds: Interval = 1
    """How long a process may rely on what it knew of a session or token: revoking takes effect within this time."""
    login_attempts_per_account: Count = 10
    """Failed logins from one address on one account before each further one has to wait; the wait grows."""
    login_attempts_per_address: Count = 50
    """Failed logins from one address, on whichever account, before each further one has to wait."""
    login_window_seconds: Seconds = 900
    """Failed logins older than this are forgotten."""


class LimitsConfig(Group):
    """How many workspaces may run at the same time; exact, also for concurrent requests."""

    prefix = "LIMITS_"
    max_running_per_user: Limit = 2
    """For a user without a limit of their own; 0 lets nobody start anything."""
    max_running_global: Limit = 100
    """For the whole installation: what its machines can carry."""


class RetentionConfig(Group):
    """How long what is no longer needed is kept."""

    prefix = "RETENTION_"
    undelete_seconds: SecondsOrZero = 7 * 86400
    """A deleted workspace can be brought back for this long; 0 for not at all."""
    deleted_seconds: Seconds = 30 * 86400
    """Until the row of a deleted workspace is removed as well."""
    events_seconds: Seconds = 90 * 86400
    """The story of each workspace."""
    audit_seconds: Seconds = 365 * 86400
    """Who did what; longer where the law or an auditor asks for it."""


class EventsConfig(Group):
    """Live events for pages."""

    prefix = "SSE_"
    heartbeat_seconds: Seconds = 30
    """A stream says something at least this often, so that proxies in between keep it open."""
