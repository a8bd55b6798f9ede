"""The role `proxy`: one process of the front door, put together from the settings."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from codehub.bus.activity import Activity
from codehub.bus.activity_keys import Keys
from codehub.bus.connect import connect
from codehub.model.accounts import Scope
from codehub.proxy.activity.recording import Recordings
from codehub.proxy.addresses import TrustedProxies
from codehub.proxy.api_sockets import ApiSockets
from codehub.proxy.cookies import Cookies
from codehub.proxy.desk import Desk
from codehub.proxy.doorkeeper import Doorkeeper, Visits
from codehub.proxy.entrance import Entrance
from codehub.proxy.guests import Guest, Guests
from codehub.proxy.keeper import Keeper
from codehub.proxy.limits import Limits
from codehub.proxy.places import Places
from codehub.proxy.routes import Routes
from codehub.proxy.server import Serving, run
from codehub.proxy.signs import Signs
from codehub.proxy.tls import server_context
from codehub.proxy.watch import Watch
from codehub.settings import Settings
from codehub.settings.groups import AuthConfig
from codehub.settings.origins import origins
from codehub.store import callers, visits
from codehub.store.reads import Reads, opened_reads

FOREVER = float("inf")
LOOK_SECONDS = 0.5
"""How often the processes of the API are looked for."""


@dataclass(frozen=True)
class FrontDoorRole:
    settings: Settings
    database_url: str
    redis_url: str
    api_sockets: Path
    """The folder in which the processes of the API make their sockets."""
    name: str
    """Of this process among those of the installation; a successor has the same."""

    def run(self, listener: socket.socket, own: socket.socket | None) -> None:
        """Until SIGTERM or SIGINT."""
        codehub = self.settings.codehub
        trusted = [each.strip() for each in codehub.trusted_proxies.split(",") if each.strip()]
        serving = Serving(
            listeners=[listener],
            own=own,
            tls=self._tls(),
            limits=Limits(
                answer_seconds=self.settings.proxy.answer_seconds,
                connections_per_address=self.settings.proxy.connections_per_address,
            ),
            trusted=TrustedProxies(trusted),
            scheme=origins(codehub, self.settings.proxy).scheme.encode(),
        )
        run(serving, self.doorkeeping)

    @asynccontextmanager
    async def doorkeeping(self, visits: Visits) -> AsyncIterator[Doorkeeper]:
        """What was seen of people is told to the end: after the last of them has left."""
        redis = connect(self.redis_url)
        keys = Keys(self.settings.redis_channel.activity_prefix)
        activity = Activity(redis, keys, self.name, self.settings.activity.flush_interval)
        try:
            async with opened_reads(self.database_url, "codehub proxy") as reads, activity.running():
                keeper = self._keeper(reads, visits, activity)
                keeper.api.look()
                tasks = [asyncio.create_task(keeper.watch.run(), name="access and routes")]
                tasks.append(asyncio.create_task(_keep_looking(keeper.api), name="the API's processes"))
                try:
                    yield keeper
                finally:
                    for task in tasks:
                        task.cancel()
                    await asyncio.wait(tasks)
        finally:
            await redis.aclose()

    def _keeper(self, reads: Reads, under_way: Visits, activity: Activity) -> Keeper:
        where, auth = origins(self.settings.codehub, self.settings.proxy), self.settings.auth
        cookies, api, routes = Cookies(where), ApiSockets(self.api_sockets), Routes(reads)
        signs = Signs(activity, self._recordings())
        by_visit, by_token = _by_visit(reads, auth), _by_token(reads)
        return Keeper(
            origins=where,
            places=Places(where),
            cookies=cookies,
            visits=by_visit,
            tokens=by_token,
            routes=routes,
            watch=Watch(reads, routes, (by_visit, by_token), under_way),
            entrance=Entrance(where, cookies, reads, auth.session_max_seconds),
            desk=Desk(where, api, routes, signs),
            api=api,
            signs=signs,
            away_seconds=self.settings.proxy.away_seconds,
        )

    def _recordings(self) -> Recordings | None:
        proxy = self.settings.proxy
        return Recordings(proxy.record_folder, proxy.record_workspace) if proxy.record_folder is not None else None

    def _tls(self) -> ssl.SSLContext | None:
        proxy = self.settings.proxy
        if proxy.certificate is None:
            return None
        return server_context(proxy.certificate, proxy.key)


async def _keep_looking(api: ApiSockets) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        api.look()


def _by_visit(reads: Reads, auth: AuthConfig) -> Guests:
    async def look_up(secret: str) -> Guest | None:
        found = await visits.by_secret(reads, secret, auth.session_idle_seconds, auth.session_max_seconds)
        if found is None:
            return None
        until = found.expires_at.timestamp()
        return Guest(found.session_id, found.user_id, found.workspace_id, may_enter=True, until=until)

    return Guests(look_up)


def _by_token(reads: Reads) -> Guests:
    async def look_up(secret: str) -> Guest | None:
        caller = await callers.by_token(reads, secret)
        if caller is None:
            return None
        until = caller.expires_at.timestamp() if caller.expires_at is not None else FOREVER
        return Guest(caller.proof_id, caller.user_id, None, Scope.WORKSPACES in caller.scopes, until)

    return Guests(look_up)
