"""The doorkeeper: who may go where, from what is known at once, or after asking whoever knows."""

from dataclasses import dataclass

from codehub.clock import elapsed
from codehub.decide.origins import Origins
from codehub.decide.route import Answer, Visit, route
from codehub.proxy import replies
from codehub.proxy.api_sockets import ApiSockets
from codehub.proxy.cookies import Cookies
from codehub.proxy.desk import Desk
from codehub.proxy.doorkeeper import Asked, Decision, Forward, Reply, Upstream, Watcher
from codehub.proxy.entrance import Entrance
from codehub.proxy.guests import Guest, Guests
from codehub.proxy.intent import is_foreign, visit_of
from codehub.proxy.places import OURS, Api, At, Named, Nowhere, Places
from codehub.proxy.routes import Route, Routes
from codehub.proxy.signs import Signs
from codehub.proxy.watch import Watch
from codehub.store.away import FOREIGN, is_away

INTERNAL = b"/internal/"
"""Paths of the API that are for the front door alone."""


@dataclass(slots=True)
class Keeper:
    """What it knows is kept true by others (`watch.py`). While the database is away, whoever is known goes on for
    `away_seconds`, and everybody else is told to come back."""

    origins: Origins
    places: Places
    cookies: Cookies
    visits: Guests
    tokens: Guests
    routes: Routes
    watch: Watch
    entrance: Entrance
    desk: Desk
    api: ApiSockets
    signs: Signs
    away_seconds: float

    def decide(self, asked: Asked) -> Decision | None:
        place = self.places.find(asked.host, asked.target)
        if not isinstance(place, At):
            return self._elsewhere(asked, place)
        if place.mount and place.inside[:1] != b"/":
            return replies.redirect(asked, f"{place.mount.decode()}/{place.inside.decode('latin-1')}")
        now = elapsed()
        if place.inside.startswith(OURS) or now - self.watch.confirmed_at > self.away_seconds:
            return None
        is_known, guest = self._known(asked, now)
        if not is_known:
            return None
        if guest is None:
            return self._stranger(asked, place)
        found = self.routes.running(place.workspace_id, now)
        return self._judge(asked, place, guest, found) if found is not None else None

    async def find_out(self, asked: Asked) -> Decision:
        try:
            decision = await self._find_out(asked)
            if decision is None and await self.api.wait() is not None:
                decision = await self._find_out(asked)
        except FOREIGN as error:
            if not is_away(error):
                raise
            return replies.away(asked)
        return decision or replies.away(asked)

    def nobody_answers(self, upstream: Upstream) -> None:
        self.api.is_deaf(upstream)
        self.routes.doubt(upstream)

    def watcher(self, asked: Asked, forward: Forward) -> Watcher | None:
        return self.signs.watcher(asked, forward)

    async def _find_out(self, asked: Asked) -> Decision | None:
        """None where it belongs to the API, and that is not there."""
        place = self.places.find(asked.host, asked.target)
        if not isinstance(place, At):
            return self._elsewhere(asked, place)
        if place.inside.startswith(OURS + b"enter?"):
            return await self.entrance.enter(asked, place)
        guest = await self._identified(asked)
        if place.inside.startswith(OURS):
            return await self.desk.serve(asked, place, guest)
        if guest is None:
            return self._stranger(asked, place)
        return self._judge(asked, place, guest, await self.routes.find_out(place.workspace_id))

    def _elsewhere(self, asked: Asked, place: Named | Api | Nowhere) -> Decision | None:
        match place:
            case Api():
                return replies.not_found(asked) if asked.target.startswith(INTERNAL) else self.desk.to_api(asked.target)
            case Named(name):
                if visit_of(asked) is not Visit.NAVIGATION:
                    return replies.not_found(asked)
                address = f"{self.origins.public_url}/w/{name.decode()}{asked.target.decode('latin-1')}"
                return replies.redirect(asked, address)
            case Nowhere():
                return replies.not_found(asked)

    def _known(self, asked: Asked, now: float) -> tuple[bool, Guest | None]:
        """Whether it is known at once who asks, and who; None for a stranger."""
        if asked.token is not None:
            return self.tokens.known(asked.token, now)
        all_known = True
        for secret in self.cookies.visits(asked):
            is_known, guest = self.visits.known(secret, now)
            if guest is not None:
                return True, guest
            all_known = all_known and is_known
        return all_known, None

    async def _identified(self, asked: Asked) -> Guest | None:
        now = elapsed()
        if now - self.watch.confirmed_at <= self.away_seconds:
            is_known, guest = self._known(asked, now)
            if is_known:
                return guest
        if asked.token is not None:
            return await self.tokens.find_out(asked.token)
        for secret in self.cookies.visits(asked):
            guest = await self.visits.find_out(secret)
            if guest is not None:
                return guest
        return None

    def _stranger(self, asked: Asked, at: At) -> Reply:
        """Somebody whom we do not know learns nothing, not even whether there is such a workspace."""
        if asked.token is None and visit_of(asked) is Visit.NAVIGATION:
            return self.entrance.begin(asked, at)
        return replies.not_logged_in(asked)

    def _judge(self, asked: Asked, at: At, guest: Guest, found: Route | None) -> Decision | None:
        refusal = self._refused(asked, at, guest)
        if refusal is not None:
            return refusal
        if found is None or found.routed.workspace.owner_user_id != guest.user_id:
            return self._gone(asked, at, guest)
        if found.upstream is not None and not found.is_doubted:
            return self._forward(asked, at, guest, found.upstream, strips=found.routed.strips_prefix)
        visit = visit_of(asked)
        answer = route(found.routed.workspace, visit, limit_reached=False)
        if visit is Visit.OTHER:
            return replies.not_found(asked) if answer is Answer.NOT_FOUND else replies.asleep(asked)
        return self.desk.page(at, guest, is_doubted=found.is_doubted)

    def _refused(self, asked: Asked, at: At, guest: Guest) -> Reply | None:
        if guest.workspace_id is not None and guest.workspace_id != at.workspace_id:
            return self._stranger(asked, at)  # a cookie that was put here by another workspace's page
        if not guest.may_enter:
            return replies.not_allowed(asked)
        if asked.token is None and is_foreign(asked, self.origins.scheme.encode()):
            return replies.foreign(asked)
        return None

    def _gone(self, asked: Asked, at: At, guest: Guest) -> Decision | None:
        return self.desk.page(at, guest) if visit_of(asked) is Visit.NAVIGATION else replies.not_found(asked)

    def _forward(self, asked: Asked, at: At, guest: Guest, upstream: Upstream, *, strips: bool) -> Forward:
        self.signs.asked(asked, at)
        if not at.mount:
            return Forward(upstream, at.workspace_id, guest.proof_id, at.inside)
        target = at.inside if strips else asked.target
        return Forward(upstream, at.workspace_id, guest.proof_id, target, at.mount + b"/")
