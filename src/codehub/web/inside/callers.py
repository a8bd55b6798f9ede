"""Which workspace speaks: known by the token that its present start was given, and good for itself alone."""

from dataclasses import dataclass, field
from uuid import UUID

from fastapi import Request

from codehub.clock import elapsed
from codehub.model.accounts import Caller, Proof, Role, Scope
from codehub.model.inside import start_proven_by
from codehub.store.reads import Reads
from codehub.web.problems import NotLoggedIn, Refused

MOST_PER_MINUTE = 120
"""Of one workspace. Each hold is told in its story and in the audit log: what runs wild must not fill them."""
MINUTE = 60.0

_KEY = "SELECT inside_key FROM installation"
_STARTED = """
    SELECT op_id, owner_user_id, login, max_running, locale
    FROM workspaces JOIN users ON users.id = owner_user_id
    WHERE workspaces.id = $1 AND deleted_at IS NULL AND NOT disabled
          AND (operation = 'STARTING' OR (operation = 'NONE' AND phase = 'RUNNING'))
"""


class TooOften(Refused):
    status = 429
    code = "too_often"

    def __init__(self) -> None:
        super().__init__("This workspace asks too often.", headers={"Retry-After": "60"})


@dataclass
class Insiders:
    """In the place of `Callers`, for routes that name one workspace."""

    reads: Reads
    _key: bytes | None = None
    _asked: dict[UUID, int] = field(default_factory=dict)
    """How often each has asked within the present minute."""
    _minute: float = 0.0

    async def identify(self, request: Request) -> Caller:
        """Its owner, who may hold, where the token is that of the workspace's present start. Raises NotLoggedIn. A
        token that was never given costs no question to the database."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        workspace_id = _named(request)
        key = self._key = self._key or await self.reads.fetchval(_KEY)
        op_id = start_proven_by(token, key, workspace_id)
        if scheme.lower() != "bearer" or op_id is None:
            raise NotLoggedIn("This is not the token of this workspace.")
        self._count(workspace_id)
        row = await self.reads.fetchrow(_STARTED, workspace_id)
        if row is None or row["op_id"] != op_id:
            raise NotLoggedIn("This token is that of an earlier start.")
        return Caller(
            user_id=row["owner_user_id"],
            login=row["login"],
            role=Role.USER,
            max_running=row["max_running"],
            locale=row["locale"],
            proof=Proof.TOKEN,
            proof_id=op_id,
            scopes=frozenset({Scope.HOLD}),
            expires_at=None,
        )

    def _count(self, workspace_id: UUID) -> None:
        if elapsed() - self._minute > MINUTE:
            self._minute = elapsed()
            self._asked.clear()
        self._asked[workspace_id] = self._asked.get(workspace_id, 0) + 1
        if self._asked[workspace_id] > MOST_PER_MINUTE:
            raise TooOften


def _named(request: Request) -> UUID:
    try:
        return UUID(request.path_params["workspace_id"])
    except ValueError:
        raise NotLoggedIn("This is not the token of this workspace.") from None
