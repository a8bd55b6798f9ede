"""Who somebody is, and what they may do."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    USER = "user"
    ADMIN = "admin"


class Scope(StrEnum):
    """What a token was made for, for what belongs to its user. The last three include the ones before them."""

    HOLD = "hold"
    READ = "read"
    WORKSPACES = "workspaces"
    ADMIN = "admin"


class Proof(StrEnum):
    """How a caller has shown who they are."""

    SESSION = "session"
    TOKEN = "token"  # noqa: S105 (a word)


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: UUID
    login: str
    role: Role
    max_running: int | None
    """A limit of their own; None for everybody's."""
    locale: str | None
    proof: Proof
    proof_id: UUID
    scopes: frozenset[Scope]
    expires_at: datetime | None

    @property
    def administers(self) -> bool:
        """Whether what belongs to others is open to this caller: by role, and by what the token was made for."""
        return self.role is Role.ADMIN and Scope.ADMIN in self.scopes


INCLUDED = {
    Scope.HOLD: frozenset({Scope.HOLD}),
    Scope.READ: frozenset({Scope.READ}),
    Scope.WORKSPACES: frozenset({Scope.HOLD, Scope.READ, Scope.WORKSPACES}),
    Scope.ADMIN: frozenset(Scope),
}
