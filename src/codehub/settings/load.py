"""The settings as one frozen object, built once when a command starts and passed in from there on."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

from codehub.errors import ConfigurationError
from codehub.settings import groups, proxy_groups, telemetry_groups
from codehub.settings.origins import refuse_open_without_tls, refuse_shared_host, refuse_tls_without_address
from codehub.settings.variables import Layer, Variable, from_dotenv, from_environment, from_toml

DATA_DIR = "CODEHUB_DATA_DIR"


@dataclass(frozen=True)
class AtMost:
    """A rule between two settings: the first is at most `share` of the second, where a second of 0 means no bound."""

    name: str
    bound: str
    why: str
    share: float = 1


RULES = (
    AtMost("ACTIVITY_FLUSH_INTERVAL", "TTL_STANDBY_SECONDS", "or people at work would look idle", share=0.5),
    AtMost("COORDINATOR_ACTIVE_INTERVAL", "COORDINATOR_IDLE_INTERVAL", "or work would slow the coordinators down"),
    AtMost("COORDINATOR_VERIFY_TIMEOUT", "COORDINATOR_VERIFY_INTERVAL", "or looks at the lock would overlap"),
    AtMost(
        "COORDINATOR_VERIFY_TIMEOUT", "COORDINATOR_LEASE_SECONDS", "or the lease would end before the answer counts"
    ),
    AtMost(
        "TTL_STANDBY_SECONDS", "TTL_STANDBY_CEILING_SECONDS", "because a default beyond its ceiling cannot be chosen"
    ),
    AtMost(
        "TTL_ARCHIVE_SECONDS", "TTL_ARCHIVE_CEILING_SECONDS", "because a default beyond its ceiling cannot be chosen"
    ),
    AtMost(
        "AUTH_SESSION_IDLE_SECONDS", "AUTH_SESSION_MAX_SECONDS", "because a session cannot rest longer than it lives"
    ),
    AtMost("RETENTION_UNDELETE_SECONDS", "RETENTION_DELETED_SECONDS", "or there would be no row left to bring back"),
)


class Settings(BaseSettings):
    """Every setting by group, and in `sources` where each value that is no default came from."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    codehub: groups.CodehubConfig
    proxy: proxy_groups.ProxyConfig = proxy_groups.ProxyConfig()
    database: groups.DatabaseConfig = groups.DatabaseConfig()
    redis: groups.RedisConfig = groups.RedisConfig()
    redis_channel: groups.RedisChannelConfig = groups.RedisChannelConfig()
    archive: groups.ArchiveConfig = groups.ArchiveConfig()
    runtime: groups.RuntimeConfig = groups.RuntimeConfig()
    coordinator: groups.CoordinatorConfig = Field(default_factory=groups.CoordinatorConfig)
    reconciler: groups.ReconcilerConfig = groups.ReconcilerConfig()
    ttl: groups.TtlConfig = groups.TtlConfig()
    activity: groups.ActivityConfig = groups.ActivityConfig()
    auth: groups.AuthConfig = groups.AuthConfig()
    limits: groups.LimitsConfig = groups.LimitsConfig()
    retention: groups.RetentionConfig = groups.RetentionConfig()
    events: groups.EventsConfig = groups.EventsConfig()
    metrics: telemetry_groups.MetricsConfig = telemetry_groups.MetricsConfig()
    traces: telemetry_groups.TracesConfig = telemetry_groups.TracesConfig()
    sources: Mapping[str, str] = Field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Self:
        """Gather every value from where it is set, check all of it, and remember where it came from.

        Raises `ConfigurationError` with one sentence about the first value that cannot be used: a start with half of
        what was asked for would be worse than none.
        """
        settings = cls.gather(environ, folder)
        settings.check()
        return settings

    @classmethod
    def gather(cls, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Self:
        """Each value checked by itself, not yet whether they go together: for those who add to them."""
        layers = _layers(os.environ if environ is None else environ, folder or Path.cwd())
        sources = {name: layer.source for layer in reversed(layers) for name in layer.values}
        places = [InitSettingsSource(cls, _nested(layer)) for layer in layers]
        try:
            return cls(_build_sources=((*places, InitSettingsSource(cls, {"sources": sources})), {}))
        except ValidationError as error:
            raise _refusal(error, layers) from None  # the original would show the value, which may be a secret

    @property
    def archive_url(self) -> str:
        """Where archives are kept, the default spelled out."""
        return self.archive.url or (self.codehub.data_dir / "archives").as_uri()

    def environment(self) -> dict[str, str]:
        """Everything that was set, secrets included, as variables for a child process: it must not read other files."""
        values = {
            variable.name: self.value(variable)
            for variable in variables()
            if self.source(variable) != "default" or variable.name == DATA_DIR
        }
        return {
            name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in values.items()
        }

    @property
    def homes_folder(self) -> Path:
        """Where homes with a size of their own are kept, as files, on a machine whose engine can use them."""
        return self.codehub.data_dir / "homes"

    @property
    def relay_folder(self) -> Path:
        """Where jobs find the way to an archive store on the network."""
        return self.codehub.data_dir / "relay"

    @property
    def inside_folder(self) -> Path:
        """What every workspace is shown: the way to keep itself awake, and the programs that know it."""
        return self.codehub.data_dir / "inside"

    @property
    def ide_folder(self) -> Path:
        """Where IDEs are installed for the runtime without an engine."""
        return self.codehub.data_dir / "ide"

    def value(self, variable: Variable) -> object:
        return getattr(getattr(self, variable.group), variable.field)

    def source(self, variable: Variable) -> str:
        return self.sources.get(variable.name, "default")

    def said(self, variable: Variable) -> str:
        """The variable, its value and its source in a few words for a message."""
        return f"{variable.name} is {variable.shown(self.value(variable))} ({self.source(variable)})"

    def check(self) -> None:
        """Refuse values that are fine alone but not together."""
        by_name = {variable.name: variable for variable in variables()}
        for rule in RULES:
            first, second = by_name[rule.name], by_name[rule.bound]
            value, bound = self.value(first), self.value(second)
            if (
                isinstance(value, int | float)
                and isinstance(bound, int | float)
                and bound
                and value > bound * rule.share
            ):
                most = "half of " if rule.share == 0.5 else ""
                raise ConfigurationError(
                    f"{self.said(first)}, but {self.said(second)}.",
                    f"{first.name} may be at most {most}{second.name}, {rule.why}.",
                )
        refuse_shared_host(self.codehub, self.proxy)
        refuse_tls_without_address(self.codehub, self.proxy)
        refuse_open_without_tls(self.codehub, self.proxy)
        if self.archive.s3_endpoint and not self.archive_url.startswith("s3://"):
            raise ConfigurationError(
                "ARCHIVE_S3_ENDPOINT is set, but ARCHIVE_URL is not of the form s3://bucket/prefix.",
                "Set ARCHIVE_URL too.",
            )


def variables() -> Iterator[Variable]:
    """All settings, group by group in the order of their declaration."""
    for group, info in Settings.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, groups.Group):
            for field, details in info.annotation.model_fields.items():
                yield Variable(info.annotation.outside(field), group, field, details)


def default_data_dir(environ: Mapping[str, str], *, is_root: bool) -> Path:
    """The user's data folder; root's services run as their own user and could not reach one inside a private home."""
    if is_root:
        return Path("/var/lib/codehub")
    named = Path(environ.get("XDG_DATA_HOME", ""))
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    return (named if named.is_absolute() else home / ".local" / "share") / "codehub"


def _layers(environ: Mapping[str, str], folder: Path) -> list[Layer]:
    """Every place that may hold a value, strongest first.

    The data folder's file is read last, because the others say where that folder is; for the same reason it cannot
    name another.
    """
    known = [variable.name for variable in variables()]
    prefixes = {info.prefix for info in groups.Group.__subclasses__()}
    layers = [
        from_environment(environ, known),
        from_dotenv(folder / ".env", known, prefixes),
        from_toml(folder / "codehub.toml", known),
    ]
    fallback = {DATA_DIR: str(default_data_dir(environ, is_root=os.geteuid() == 0))}
    named = next((layer.values[DATA_DIR] for layer in layers if DATA_DIR in layer.values), fallback[DATA_DIR])
    data_dir = Path(named).expanduser()
    if data_dir.is_absolute() and data_dir != folder:
        stored = from_toml(data_dir / "codehub.toml", known)
        if DATA_DIR in stored.values:
            raise ConfigurationError(
                f"{DATA_DIR} cannot be set in {stored.source}, which is found through it.", "Remove it there."
            )
        layers.append(stored)
    return [*layers, Layer("default", fallback)]


def _nested(layer: Layer) -> dict[str, dict[str, str]]:
    nested: dict[str, dict[str, str]] = {}
    for variable in variables():
        if variable.name in layer.values:
            nested.setdefault(variable.group, {})[variable.field] = layer.values[variable.name]
    return nested


def _refusal(error: ValidationError, layers: list[Layer]) -> ConfigurationError:
    """One sentence about the first bad value: which, what it is, where it stands, what is allowed."""
    group, field = error.errors()[0]["loc"][:2]
    variable = next(known for known in variables() if (known.group, known.field) == (group, field))
    layer = next(layer for layer in layers if variable.name in layer.values)
    shown = variable.shown(layer.values[variable.name])
    return ConfigurationError(
        f'{variable.name} is "{shown}" (from {layer.source}), which cannot be used.', f"Allowed is {variable.allowed}."
    )
