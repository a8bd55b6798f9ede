"""Runs the stack: starts its parts in order, keeps them running, and stops them in the reverse order."""

import asyncio
import importlib
import secrets
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import asyncpg
import structlog

from codehub import clock
from codehub.archives.open import ensure_bucket, open_store
from codehub.errors import CodehubError, ServiceError
from codehub.settings.variables import hide_passwords
from codehub.stack import logs
from codehub.stack.answering import Answering
from codehub.stack.assemble import Stack
from codehub.stack.parts import External, Kept, PartStatus
from codehub.stack.restarts import Restarts
from codehub.stack.running import write_state
from codehub.telemetry.health import ArchiveStoreCheck, check_database, check_redis

ADMINISTRATOR = "admin"
TRIM_SECONDS = 30.0

log = structlog.get_logger()


class Audience(Protocol):
    """Whoever watches: a terminal, or the command that waits for a detached supervisor."""

    def changed(self, part: PartStatus) -> None: ...

    def ready(self, url: str, password: str | None) -> None:
        """Everything answers. The first administrator's password is given once, when it was made just now."""


class Supervisor:
    def __init__(self, stack: Stack, audience: Audience) -> None:
        self._stack = stack
        self._audience = audience
        self._since = clock.now()
        self._ready = False
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._services: list[Kept | External] = []
        self._answering = Answering(stack.answerers, self._changed, hurry=self._hurry)
        self._restarts = Restarts(self._roll, self._write_state)
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Until a signal asks for the end; a second one hastens it. Raises what made the start impossible."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
                asyncio.get_running_loop().add_signal_handler(number, self._asked_to_stop)
        self._restarts.listen()
        failure = None
        async with self._tasks as tasks:
            trimming = tasks.create_task(self._trim_logs())
            try:
                await _unless(self._stop, self._start())
                await _unless(self._stop, self._restarts.run())
            except CodehubError as error:
                failure = error
                log.error("start failed", reason=str(error))  # noqa: TRY400 (the sentence is all there is to say)
            finally:
                await self._end()
                trimming.cancel()
        if failure is not None:
            raise failure

    async def _start(self) -> None:
        """The services together, then the schema, then what answers. SeaweedFS is slow, so nothing waits for it."""
        stack = self._stack
        database, redis, archives = self._database(), self._redis(), await self._archives()
        for part in (database, redis, archives):
            self._services.append(part)
            self._begin(part)
        await asyncio.to_thread(importlib.import_module, "codehub.store.migrate")  # slow, and just now there is time
        await asyncio.gather(database.started, redis.started)
        with _told_as_service_error("The database could not be given its schema"):
            await self._bring_schema()
        await self._answering.start(self._begin)
        with _told_as_service_error("The first administrator could not be created"):
            password = await self._first_administrator()
        self._ready = True
        self._write_state()
        log.info("ready", url=stack.answerers.url)
        self._audience.ready(stack.answerers.url, password)

    async def _end(self) -> None:
        """What answers goes first, then the services that it stood on."""
        await self._answering.stop()
        for part in reversed(self._services):
            await part.stop()

    def _begin(self, part: Kept | External) -> None:
        self._tasks.create_task(part.run())

    async def _roll(self) -> None:
        await self._answering.roll(self._begin)

    def _database(self) -> Kept | External:
        if self._stack.postgres is not None:
            return Kept(self._stack.postgres, self._changed, hurry=self._hurry)
        check = partial(check_database, self._stack.database_url, schema=False)
        called = f"The database {hide_passwords(self._stack.database_url)}"
        return External("database", check, self._changed, called=called, needed=True)

    def _redis(self) -> Kept | External:
        if self._stack.valkey is not None:
            return Kept(self._stack.valkey, self._changed, hurry=self._hurry)
        check = partial(check_redis, self._stack.redis_url)
        called = f"The Redis {hide_passwords(self._stack.redis_url)}"
        return External("redis", check, self._changed, called=called, needed=True)

    async def _archives(self) -> Kept | External:
        if self._stack.seaweedfs is not None:
            store = self._stack.seaweedfs
            return Kept(store, self._changed, hurry=self._hurry, needed=False, is_stuck=store.is_stuck)
        if self._stack.makes_archive_folder:
            await ensure_bucket(self._stack.archive_url)
        check = ArchiveStoreCheck(open_store(self._stack.archive_url, **self._stack.archive_access))
        called = f"The archive store {self._stack.archive_url}"
        return External("archives", check, self._changed, called=called, needed=False)

    async def _bring_schema(self) -> None:
        from codehub.store.migrate import schema_state, upgrade

        if self._stack.postgres is not None:
            await self._stack.postgres.create_database()
        state = await schema_state(self._stack.database_url)
        if state.is_newer:
            raise ServiceError(
                f"The database has schema {state.current}, which this codehub does not know.", "Upgrade this codehub."
            )
        if not state.is_current:
            await upgrade(self._stack.database_url)
            log.info("schema upgraded", before=state.current, after=state.head)

    async def _first_administrator(self) -> str | None:
        """The password of the administrator that was made just now. It is nowhere kept in clear: it is said once."""
        from codehub.store.accounts import create_first_administrator

        password = secrets.token_urlsafe(18)
        made = await create_first_administrator(self._stack.database_url, ADMINISTRATOR, password)
        return password if made else None

    def _asked_to_stop(self) -> None:
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def _changed(self, before: PartStatus, after: PartStatus) -> None:
        self._write_state()
        if before.state is not after.state:
            log.info("part changed", part=after.name, before=before.state, after=after.state, detail=after.detail)
            self._audience.changed(after)

    def _write_state(self) -> None:
        """Tell `codehub status`. Where that fails, as on a full disk, what runs must go on running."""
        statuses = [part.status for part in (*self._services, *self._answering.parts)]
        url, restarts = self._stack.answerers.url, self._restarts.told
        try:
            write_state(self._stack.folder, self._since, url, statuses, restarts, ready=self._ready)
        except OSError as error:
            log.warning("state not written", reason=str(error))

    async def _trim_logs(self) -> None:
        while True:
            try:
                await asyncio.to_thread(logs.trim, self._stack.folder.logs)
            except OSError as error:
                log.warning("logs not trimmed", reason=str(error))
            await asyncio.sleep(TRIM_SECONDS)


@contextmanager
def _told_as_service_error(what: str) -> Iterator[None]:
    """A database that dies just now, or that does not let us make tables, is for a person to see to."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        reason = str(getattr(error, "orig", error)).splitlines()[0].rpartition(">: ")[2]
        raise ServiceError(f"{what}: {reason}.", "See to the database, then start codehub again.") from error


async def _unless(event: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    """Do the work, but give it up when the event comes first."""
    working, waiting = asyncio.ensure_future(work), asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({working, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            await working
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)
