"""What a request asks for, by its host and target alone: a workspace, the API, or nothing that is here.

This is the only reading of either. What it does not match exactly is nowhere, and never the API: a name below the
workspaces' domain that led to the API would put both on one origin."""

import re
from dataclasses import dataclass
from uuid import UUID

from codehub.decide.origins import Origins

OURS = b"/.codehub/"
"""On a workspace's origin: what is answered by us, and never passed on to it."""
_PORT = re.compile(rb":[0-9]{1,5}$")
_ID = re.compile(rb"[0-9a-f]{32}")
_NAME = re.compile(rb"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_PATH = re.compile(rb"/w/([0-9a-f]{32})(?![^/?])")
REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Named:
    """A workspace by its name. Whose, is known only after a login, so nothing is ever served there."""

    name: bytes


@dataclass(frozen=True, slots=True)
class Workspaces:
    """The origin that workspaces share, by path."""


@dataclass(frozen=True, slots=True)
class Api:
    pass


@dataclass(frozen=True, slots=True)
class Nowhere:
    pass


Host = UUID | Named | Workspaces | Api | Nowhere


@dataclass(frozen=True, slots=True)
class At:
    """Inside of one workspace."""

    workspace_id: UUID
    mount: bytes
    """Where it lies on its origin, without a slash at the end."""
    inside: bytes
    """The target from there on, as sent."""


class Places:
    def __init__(self, origins: Origins) -> None:
        self._api = origins.public_host.encode()
        self._shared = origins.shared_host.encode() if origins.shared_host is not None else None
        self._suffix = b"." + origins.domain.encode()
        self._hosts: dict[bytes, Host] = {}

    def find(self, host: bytes, target: bytes) -> At | Named | Api | Nowhere:
        at = self._hosts.get(host)
        if at is None:
            if len(self._hosts) >= REMEMBERED:
                self._hosts.clear()
            at = self._hosts[host] = self._host(_PORT.sub(b"", host))
        if isinstance(at, UUID):
            return At(at, b"", target)
        return _by_path(target) if isinstance(at, Workspaces) else at

    def _host(self, name: bytes) -> Host:
        if self._shared is not None:
            return Workspaces() if name == self._shared else Api()
        if name == self._api or not name.endswith(self._suffix):
            return Api()
        label = name[: -len(self._suffix)]
        if _ID.fullmatch(label):
            return UUID(label.decode())
        return Named(label) if _NAME.fullmatch(label) else Nowhere()


def _by_path(target: bytes) -> At | Nowhere:
    found = _PATH.match(target)
    return At(UUID(found[1].decode()), found[0], target[found.end() :]) if found is not None else Nowhere()
