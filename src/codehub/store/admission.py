"""Places to run in: given in the transaction of the wish, one wish after the other, so that no place is given twice."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.admit import Admitted, Limits, Refused, admit
from codehub.store.seat import lock_key

_TURN = text("SELECT pg_advisory_xact_lock(:key)")
_KEY = lock_key("admission")

# What `takes_a_place` says, in two parts because each has an index. In ERROR no place is taken, unless somebody has
# asked for a recovery: otherwise several of those could slip in before the controller answers the first.
_TAKING = """
    SELECT id, name, owner_user_id FROM workspaces
    WHERE desired_state = 'RUNNING' AND deleted_at IS NULL AND phase <> 'ERROR'
    UNION ALL
    SELECT id, name, owner_user_id FROM workspaces
    WHERE phase = 'ERROR' AND deleted_at IS NULL AND desired_state = 'RUNNING'
      AND (request IS NOT NULL OR error_reason IS NULL)
"""
_PLACES = text(f"""
    WITH taking AS ({_TAKING}),
         own AS (SELECT id, name FROM taking WHERE owner_user_id = :owner)
    SELECT (SELECT max_running FROM users WHERE id = :owner) AS own_limit,
           (SELECT count(*) FROM taking) AS in_all,
           (SELECT array_agg(id ORDER BY name, id) FROM own) AS ids,
           (SELECT array_agg(name ORDER BY name, id) FROM own) AS names
""")  # noqa: S608 (our own words)
TAKEN = f"SELECT count(*) FROM ({_TAKING}) AS taking"  # noqa: S608
"""How many places are taken in all, for whoever only wants to know."""


@dataclass(frozen=True, slots=True)
class Running:
    id: UUID
    name: str


class LimitReached(Exception):
    """There is no place left. Raised, so that the transaction of the wish ends with nothing written."""

    def __init__(self, refused: Refused, running: tuple[Running, ...]) -> None:
        super().__init__(refused.limit)
        self.limit = refused.limit
        self.everybody = refused.everybody
        self.running = running
        """The owner's own, for them to choose which to stop."""


async def take_place(connection: AsyncConnection, workspace_id: UUID, owner_user_id: UUID, limits: Limits) -> None:
    """Take a place for a workspace, until the end of its wish; one that has its place already keeps it. Raises
    LimitReached. Others who ask wait until this transaction ends, so it has to be short.

    The workspace's own row is locked before, if at all: in the other order two wishes could wait for each other."""
    await connection.execute(_TURN, {"key": _KEY})
    # A statement of its own: it sees what was committed while the turn was waited for.
    refused = await would_be_refused(connection, workspace_id, owner_user_id, limits)
    if refused is not None:
        raise refused


async def would_be_refused(
    connection: AsyncConnection, workspace_id: UUID, owner_user_id: UUID, limits: Limits
) -> LimitReached | None:
    """Why there is no place for it at the moment; None where there is one, which somebody else may take."""
    found = (await connection.execute(_PLACES, {"owner": owner_user_id})).one()
    own = tuple(map(Running, found.ids or (), found.names or ()))
    per_user = limits.per_user if found.own_limit is None else found.own_limit
    outcome = admit(workspace_id, [each.id for each in own], found.in_all, Limits(per_user, limits.in_all))
    match outcome:
        case Admitted():
            return None
        case Refused():
            return LimitReached(outcome, own)
