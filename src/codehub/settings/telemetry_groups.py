"""Settings of what is told to the systems that watch codehub."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from codehub.settings import addresses
from codehub.settings.groups import Group
from codehub.settings.variables import Words


class MetricsConfig(Group):
    """Figures for Prometheus at `/metrics`."""

    prefix = "METRICS_"
    token: Annotated[
        SecretStr | None,
        Field(min_length=16),
        Words(allowed="a secret of at least 16 characters", unset="only administrators may read them"),
    ] = None
    """Lets a scraper read `/metrics` and nothing else. Never logged and never shown."""


class TracesConfig(Group):
    """Traces for an OpenTelemetry collector. Other variables of its exporter count too, if the environment has them."""

    prefix = "OTEL_EXPORTER_OTLP_"
    endpoint: Annotated[
        str | None,
        AfterValidator(addresses.http_endpoint),
        Words(allowed="http://host:port or https://host:port, with or without a path", unset="no traces"),
    ] = None
    """The collector, reached by OTLP over HTTP. Needs the extra `otel` of the package."""
