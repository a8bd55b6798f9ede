"""All workspaces that somebody may see, page by page, so that neither a connection nor the loop is held for long."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from uuid import UUID

from codehub.model.shown import ShownWorkspace
from codehub.store.reads import Reads
from codehub.store.shown import SHOWN_SQL, to_shown

PAGE = 100

_PAGE = f"""
    {SHOWN_SQL}
    WHERE workspaces.deleted_at IS NULL AND workspaces.id > $1 AND {{whose}}
    ORDER BY workspaces.id LIMIT $2
"""
_OF_ONE = _PAGE.format(whose="workspaces.owner_user_id = $3")
_OF_ALL = _PAGE.format(whose="$3::uuid IS NULL")
_BEFORE_ALL = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Page:
    workspaces: Sequence[ShownWorkspace]
    is_last: bool


async def pages(reads: Reads, owner_user_id: UUID | None, turn: asyncio.Semaphore) -> AsyncGenerator[Page, None]:
    """The living ones of this owner, or of everybody; one page at least. Each page is read when its turn comes, so that
    when all want them they leave connections for others."""
    statement, after = (_OF_ALL if owner_user_id is None else _OF_ONE), _BEFORE_ALL
    while True:
        async with turn:
            found = await reads.fetch(statement, after, PAGE + 1, owner_user_id)
        page = Page([to_shown(row) for row in found[:PAGE]], len(found) <= PAGE)
        yield page
        if page.is_last:
            return
        after = page.workspaces[-1].id
