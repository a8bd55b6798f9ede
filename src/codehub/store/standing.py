"""Whether those who hold streams open still may: one question for all of them."""

from collections.abc import Collection
from uuid import UUID

from codehub.store.reads import Reads

_STANDING = """
    SELECT sessions.id, role = 'admin' AS administers
    FROM sessions JOIN users ON users.id = user_id
    WHERE sessions.id = ANY ($1::uuid[]) AND expires_at > clock_timestamp() AND NOT disabled
    UNION ALL
    SELECT api_tokens.id, role = 'admin' AND 'admin' = ANY (scopes)
    FROM api_tokens JOIN users ON users.id = user_id
    WHERE api_tokens.id = ANY ($1::uuid[]) AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND NOT disabled
"""


async def standing(reads: Reads, proof_ids: Collection[UUID]) -> dict[UUID, bool]:
    """Of these sessions and tokens, those that are still good, and whether what belongs to others is open to them."""
    return {row["id"]: row["administers"] for row in await reads.fetch(_STANDING, list(proof_ids))}
