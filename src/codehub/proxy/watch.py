"""Keeps what the front door knows true: twice a second the database is asked whether somebody has lost a right, and
where the workspaces in use are now. Whatever is under way and may not be any more is cut.

Nothing here needs a message to arrive: revoking takes effect within a second, with Redis or without it."""

import asyncio

import structlog

from codehub.clock import elapsed
from codehub.proxy.doorkeeper import Forward, Visits, Why
from codehub.proxy.guests import Guests
from codehub.proxy.routes import Routes
from codehub.store.away import FOREIGN
from codehub.store.callers import watermark
from codehub.store.reads import Reads
from codehub.store.standing import standing

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 2.0
ENDS_SECONDS = 15.0
"""How often those who hold something open are asked about, lost right or not: sessions also end by their time."""


class Watch:
    def __init__(self, reads: Reads, routes: Routes, guests: tuple[Guests, ...], visits: Visits) -> None:
        self._reads = reads
        self._routes = routes
        self._guests = guests
        self._visits = visits
        self._seen: int | None = None
        self._asked_at = 0.0
        self._fails = False
        self.confirmed_at = elapsed()
        """When the database last said that what is known is true."""

    async def run(self) -> None:
        """For ever."""
        while True:
            began = elapsed()
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await self._look()
            except FOREIGN as error:
                self._note(fails=True, error=repr(error))
            else:
                self.confirmed_at = began
                self._note(fails=False)
            await asyncio.sleep(max(0.0, began + LOOK_SECONDS - elapsed()))

    async def _look(self) -> None:
        newest = await watermark(self._reads)
        if newest != self._seen or elapsed() - self._asked_at > ENDS_SECONDS:
            await self._ask_who_may_stay()
            self._seen, self._asked_at = newest, elapsed()
        under_way = {forward.workspace_id for forward in self._visits.under_way()}
        await self._routes.look_again(under_way)
        self._visits.cut(Why.ROUTE_CHANGED, self._leads_elsewhere)

    async def _ask_who_may_stay(self) -> None:
        for guests in self._guests:
            guests.somebody_lost_a_right()
        asked = {forward.session_id for forward in self._visits.under_way()}
        asked.update(proof for guests in self._guests for proof in guests.proofs())
        good = await standing(self._reads, asked)
        for guests in self._guests:
            guests.keep_only(good.keys(), asked)
        cut = self._visits.cut(
            Why.NO_LONGER_ALLOWED, lambda forward: forward.session_id in asked and forward.session_id not in good
        )
        if cut:
            log.info("visits cut", number=cut)

    def _leads_elsewhere(self, forward: Forward) -> bool:
        return not self._routes.leads_to(forward.workspace_id, forward.upstream)

    def _note(self, *, fails: bool, error: str = "") -> None:
        if fails and not self._fails:
            log.warning("database away: whoever was let in before goes on", error=error)
        if self._fails and not fails:
            log.info("database back")
        self._fails = fails
