"""Settings of the front door."""

import os
from pathlib import Path
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field

from codehub.settings import addresses
from codehub.settings.groups import Count, Group, Seconds
from codehub.settings.variables import Words


class ProxyConfig(Group):
    """The front door, through which browsers reach workspaces and everything else (docs/front-door.md)."""

    prefix = "PROXY_"
    domain: Annotated[str, AfterValidator(addresses.domain_name), Words(allowed="a domain name")] = "localhost"
    """Each workspace has an origin of its own below this domain: `{workspace}.PROXY_DOMAIN`. Browsers find everything
    below `localhost` on their own machine; any other domain needs a wildcard record."""
    origin: Annotated[
        str | None,
        AfterValidator(addresses.http_url),
        Words(allowed="http://host:port or https://host:port", unset="workspaces have origins of their own"),
    ] = None
    """For sites without wildcard DNS: all workspaces share this second origin, as `/w/{workspace_id}/`. Its host must
    be another one than codehub's own. Pages of one's own workspaces are then not kept apart from each other."""
    processes: Annotated[
        int | None, Field(ge=1, le=64), Words(allowed="a whole number from 1 to 64", unset="one for each processor")
    ] = None
    """Processes that share the public address."""
    certificate: Annotated[
        Annotated[Path, AfterValidator(addresses.absolute_path)] | None,
        Words(allowed="an absolute path", unset="no TLS of its own"),
    ] = None
    """A file with the certificate and those that lead to it, in PEM: visitors then come over TLS, with HTTP/1.1. Where
    a proxy in front terminates TLS, leave it out."""
    key: Annotated[
        Annotated[Path, AfterValidator(addresses.absolute_path)] | None,
        Words(allowed="an absolute path", unset="in the file of the certificate"),
    ] = None
    """The certificate's private key."""
    connections_per_address: Count = 1024
    """More connections than this from one address to one process are refused (429). A whole office may have the same
    address, with ten or so for each person; those whom a trusted proxy brings are not counted."""
    answer_seconds: Seconds = 600
    """When a workspace has taken a request and said nothing for so long, its visitor is told so (504). An upload, and
    an answer that has begun, may take as long as they like."""
    away_seconds: Seconds = 900
    """While PostgreSQL does not answer, whoever was let in before can go on in workspaces that run, for this long."""

    record_folder: Annotated[
        Annotated[Path, AfterValidator(addresses.absolute_path)] | None,
        Words(allowed="an absolute path", unset="nothing is recorded"),
    ] = None
    """Where everything that passes through WebSockets of workspaces is written, to find out why one stays awake or does
    not. It holds what people type and see, so never longer than needed (docs/activity.md)."""
    record_workspace: Annotated[UUID | None, Words(allowed="the id of a workspace", unset="all of them")] = None
    """The one workspace that is recorded."""

    @property
    def count(self) -> int:
        return self.processes or len(os.sched_getaffinity(0))
