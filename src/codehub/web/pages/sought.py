"""What somebody looks for on the dashboard, as its address says it. What an address says wrongly is left out: a link
that is old or mistyped still leads to workspaces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode
from uuid import UUID

from starlette.datastructures import QueryParams

from codehub.model.states import Phase
from codehub.store.listing import Order, Wanted

PER_PAGE = 50
LONGEST = 100
MOST_PAGES = 10_000

SHOWN: Mapping[str, Sequence[Phase]] = {
    "all": (),
    "RUNNING": (Phase.RUNNING,),
    "STANDBY": (Phase.STANDBY, Phase.PENDING),
    "ARCHIVED": (Phase.ARCHIVED,),
    "ERROR": (Phase.ERROR,),
    "deleted": (),
}
"""The choices, each with the phases that it stands for."""


@dataclass(frozen=True, slots=True)
class Sought:
    words: str = ""
    show: str = "all"
    order: Order = Order.NEWEST
    page: int = 1

    @property
    def narrows(self) -> bool:
        return bool(self.words) or self.show != "all"

    def address(self, **changes: object) -> str:
        """Of the page that shows this, with changes; each but a change of the page begins with the first."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        said = {"q": changed.words, "show": changed.show, "sort": changed.order.value, "page": str(changed.page)}
        query = urlencode({name: value for name, value in said.items() if value != _UNSAID[name]})
        return f"/?{query}" if query else "/"

    def wanted(self, owner_user_id: UUID, ids: Sequence[UUID] = ()) -> Wanted:
        return Wanted(
            ids=ids,
            owner_user_id=owner_user_id,
            phases=SHOWN[self.show],
            words=self.words,
            deleted=self.show == "deleted",
            order=self.order,
            skip=0 if ids else (self.page - 1) * PER_PAGE,
            limit=PER_PAGE,
        )

    def counted(self, owner_user_id: UUID) -> Wanted:
        """The living ones, whatever their phase."""
        return Wanted(owner_user_id=owner_user_id, words=self.words)


_UNSAID = {"q": "", "show": "all", "sort": Order.NEWEST.value, "page": "1"}


def sought(query: QueryParams) -> Sought:
    show, order, page = query.get("show", ""), query.get("sort", ""), query.get("page", "")
    words = "".join(filter(str.isprintable, query.get("q", "")))[:LONGEST].strip()
    return Sought(
        words=words,
        show=show if show in SHOWN else "all",
        order=Order(order) if order in set(Order) else Order.NEWEST,
        page=max(1, min(int(page), MOST_PAGES)) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
    )
