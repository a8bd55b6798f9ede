"""What a workspace is given to speak for itself: it may keep itself awake and tell what became of its repository, and
nothing else (contract 13)."""

import hashlib
import hmac
from uuid import UUID

FOLDER = "/codehub"
"""Where a workspace finds what codehub shows it, read-only."""
SOCKET = "socket"
PROGRAMS = f"{FOLDER}/bin"
PROGRAM = f"{PROGRAMS}/codehub"
BEGIN = f"{PROGRAMS}/begin"
"""Starts the command that follows it, and beside that the cloning of the workspace's repository."""
REPOSITORY = "CODEHUB_GIT_URL"
PREFIX = "codehub_inside_"
_ID_DIGITS = 32


def inside_token(key: bytes, workspace_id: UUID, op_id: UUID) -> str:
    """The secret of one start of one workspace. Computed, not drawn: a start that is done twice gives the same one, and
    there is nothing to store and to forget. It is worth nothing once another operation has begun."""
    proof = hmac.digest(key, workspace_id.bytes + op_id.bytes, hashlib.sha256).hex()
    return f"{PREFIX}{op_id.hex}{proof}"


def start_proven_by(token: str, key: bytes, workspace_id: UUID) -> UUID | None:
    """The operation that started this workspace with this token; None where the token is not this workspace's."""
    try:
        op_id = UUID(token.removeprefix(PREFIX)[:_ID_DIGITS])
    except ValueError:
        return None
    return op_id if hmac.compare_digest(token.encode(), inside_token(key, workspace_id, op_id).encode()) else None


def told_inside(key: bytes, workspace_id: UUID, op_id: UUID) -> dict[str, str]:
    """The variables by which its programs find the way out; `codehub hold` reads the same ones anywhere."""
    return {
        "CODEHUB_SERVER": f"unix:{FOLDER}/{SOCKET}",
        "CODEHUB_WORKSPACE": str(workspace_id),
        "CODEHUB_TOKEN": inside_token(key, workspace_id, op_id),
    }
