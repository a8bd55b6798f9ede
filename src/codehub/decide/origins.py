"""Where browsers find a workspace: never on the origin of the API, so that a page that a workspace serves cannot call
it as its visitor (contract 13)."""

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Origins:
    public_url: str
    """Of the API and its pages, without a path."""
    domain: str
    """Below it each workspace has an origin of its own."""
    shared: str | None = None
    """One origin for all workspaces, by path, in the place of those."""

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach workspaces over https only."""
        return (self.shared or self.public_url).startswith("https:")

    @property
    def scheme(self) -> str:
        return urlsplit(self.shared or self.public_url).scheme

    @property
    def public_host(self) -> str:
        return urlsplit(self.public_url).hostname or ""

    @property
    def shared_host(self) -> str | None:
        return urlsplit(self.shared).hostname if self.shared is not None else None

    @property
    def cookie_prefix(self) -> str:
        """Of what is set on a workspace's origin: with it, no page of another origin can set the same."""
        if not self.is_secure:
            return ""
        return "__Secure-" if self.shared is not None else "__Host-"

    def of(self, workspace_id: UUID) -> str:
        """The origin that its pages have in a browser."""
        if self.shared is not None:
            return self.shared
        port = urlsplit(self.public_url).port
        return f"{self.scheme}://{workspace_id.hex}.{self.domain}{f':{port}' if port else ''}"

    def mount(self, workspace_id: UUID) -> str:
        """The path below which it lies there, without a slash at the end."""
        return f"/w/{workspace_id.hex}" if self.shared is not None else ""

    def address(self, workspace_id: UUID) -> str:
        """Where a person opens it."""
        return f"{self.of(workspace_id)}{self.mount(workspace_id)}/"
