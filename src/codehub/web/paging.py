"""Long lists in pages. Each says whether more follows, and where it goes on: nothing is cut off in silence."""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, TypeVar
from uuid import UUID

from pydantic import Field

from codehub.store.listing import Position
from codehub.web.problems import Refused

T = TypeVar("T")

MOST = 200

Limit = Annotated[int, Field(ge=1, le=MOST, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        pattern="^[A-Za-z0-9_-]+$",
        description="Where to go on: `next` of the page before. Its content is nobody's business and may change.",
    ),
]


class NoSuchPage(Refused):
    status = 422
    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("This cursor was not given by this list.")


def cut(found: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """Of one more than was asked for: the page, and its last item where there is more to come."""
    return (found[:limit], found[limit - 1]) if len(found) > limit else (found, None)


def after(position: Position) -> str:
    return _packed(f"{position.created_at.isoformat()} {position.id.hex}")


def position(cursor: str | None) -> Position | None:
    """Raises NoSuchPage."""
    if cursor is None:
        return None
    try:
        at, _, identity = _unpacked(cursor).partition(" ")
        found = Position(datetime.fromisoformat(at), UUID(identity))
    except ValueError:
        raise NoSuchPage from None
    if found.created_at.tzinfo is None:
        raise NoSuchPage
    return found


def after_name(name: str, identity: UUID) -> str:
    return _packed(f"{name} {identity.hex}")


def name_position(cursor: str | None) -> tuple[str, UUID] | None:
    """Raises NoSuchPage."""
    if cursor is None:
        return None
    name, _, identity = _unpacked(cursor).rpartition(" ")
    try:
        return name, UUID(identity)
    except ValueError:
        raise NoSuchPage from None


def before(number: int) -> str:
    return _packed(str(number))


def number(cursor: str | None) -> int | None:
    """Raises NoSuchPage."""
    if cursor is None:
        return None
    text = _unpacked(cursor)
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise NoSuchPage
    return int(text)


def _packed(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _unpacked(cursor: str) -> str:
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        raise NoSuchPage from None
