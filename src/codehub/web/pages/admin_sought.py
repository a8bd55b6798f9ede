"""Which of everybody's workspaces an administrator looks for, as the address says it. What it says wrongly is left out,
as on the dashboard."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from starlette.datastructures import QueryParams

from codehub.model.states import ErrorReason, Operation, Phase
from codehub.store.listing import Order, Wanted
from codehub.web.pages.administration import text_in
from codehub.web.pages.sought import MOST_PAGES, PER_PAGE

ADDRESS = "/admin/workspaces"
PHASES = (Phase.RUNNING, Phase.STANDBY, Phase.ARCHIVED, Phase.PENDING, Phase.ERROR)
OPERATIONS = tuple(operation for operation in Operation if operation is not Operation.NONE)

Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class SoughtOfAll:
    said: Mapping[str, str] = field(default_factory=dict)
    """What the address says, without what it says wrongly."""
    page: int = 1

    def address(self, page: int = 1) -> str:
        query = urlencode({**self.said, **({"page": page} if page > 1 else {})})
        return f"{ADDRESS}?{query}" if query else ADDRESS

    def wanted(self, owner_user_id: UUID | None) -> Wanted:
        """All of them; a page is cut from that."""
        return Wanted(
            owner_user_id=owner_user_id,
            phases=_one(Phase, self.said.get("phase")),
            operations=_one(Operation, self.said.get("operation")),
            errors=_one(ErrorReason, self.said.get("error")),
            template=self.said.get("template"),
            words=self.said.get("q", ""),
            order=Order(self.said.get("sort", Order.NEWEST)),
            limit=PER_PAGE,
        )


def _one(words: type[Word], said: str | None) -> list[Word]:
    return [words(said)] if said is not None else []


_WORDS: Mapping[str, frozenset[str]] = {
    "phase": frozenset(PHASES),
    "operation": frozenset(OPERATIONS),
    "error": frozenset(ErrorReason),
    "sort": frozenset(Order),
}
_TEXTS = ("q", "owner", "template")


def sought_of_all(query: QueryParams) -> SoughtOfAll:
    texts = {name: text_in(query, name) for name in _TEXTS}
    words = {name: query.get(name, "") for name, known in _WORDS.items() if query.get(name, "") in known}
    page = query.get("page", "")
    return SoughtOfAll(
        {name: value for name, value in (texts | words).items() if value},
        max(1, min(int(page), MOST_PAGES)) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
    )
