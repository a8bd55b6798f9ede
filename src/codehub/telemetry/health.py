"""Whether a service can be used, found out by using it. A fault is an answer here, never an exception.

`/readyz`, `codehub doctor` and the start of `codehub serve` ask the same questions, so that they never disagree.
"""

import asyncio
import secrets
import time
from collections.abc import Coroutine
from dataclasses import dataclass

import asyncpg
from redis import exceptions as redis_errors
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from codehub.archives.errors import StoreError
from codehub.archives.object_store import ObjectStore
from codehub.archives.probe import try_to_write
from codehub.errors import CodehubError
from codehub.settings.variables import hide_passwords

POSTGRES_NEEDED = 15
REDIS_NEEDED = (6, 2)
DEADLINE_SECONDS = 3.0

WRITE_EVERY_SECONDS = 60.0
WRITE_SHARE = 0.8
"""Of the time that a look may take."""

_SERVER = """
    SELECT current_setting('server_version') AS version,
           current_setting('server_version_num')::int AS number,
           pg_is_in_recovery() OR current_setting('transaction_read_only')::bool AS read_only
"""


@dataclass(frozen=True)
class Check:
    """What using one service showed. `lasting`: waiting will not help, a person has to act on the remedy."""

    name: str
    ok: bool
    latency_ms: float
    detail: str
    remedy: str = ""
    lasting: bool = False


class Unfit(Exception):
    """The service answers, but cannot be used as it is, or does not answer; `lasting` as in `Check`."""

    def __init__(self, detail: str, remedy: str = "", *, lasting: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.remedy = remedy
        self.lasting = lasting


async def check_database(url: str, *, schema: bool = True, seconds: float = DEADLINE_SECONDS) -> Check:
    """Connect, ask, and see that the server is new enough and writable and (`schema`) holds the tables we know."""

    async def use() -> str:
        found = await _use_database(url)
        if schema:
            await _require_current_schema(url)
        return found

    return await examine("database", use(), seconds)


async def check_database_disk(url: str, *, seconds: float = DEADLINE_SECONDS) -> Check:
    """See that the server has room to write: what is there can be read and changed for a while without."""
    return await examine("database disk", _fill_a_file(url), seconds)


async def check_redis(url: str, *, seconds: float = DEADLINE_SECONDS) -> Check:
    """Write a value, read it back, and see that the server is new enough."""
    return await examine("redis", _use_redis(url), seconds)


class ArchiveStoreCheck:
    """See at every look that the store answers and lets us in, and once a minute, as that may cost money, that it takes
    what is written: while it does not, at every look."""

    def __init__(self, store: ObjectStore, *, seconds: float = DEADLINE_SECONDS) -> None:
        self._store = store
        self._seconds = seconds
        self._write_at = 0.0

    async def __call__(self) -> Check:
        return await examine("archive store", self._use(), self._seconds)

    async def _use(self) -> str:
        await self._store.ping()
        if time.monotonic() >= self._write_at:
            await self._write()
            self._write_at = time.monotonic() + WRITE_EVERY_SECONDS
        return "answers, and takes what is written"

    async def _write(self) -> None:
        try:
            async with asyncio.timeout(WRITE_SHARE * self._seconds):
                await try_to_write(self._store)
        except TimeoutError as error:
            detail = f"answers, but took nothing that was written within {WRITE_SHARE * self._seconds:g} s"
            raise Unfit(detail, "See whether its disk is full.") from error
        except StoreError as error:
            detail = f"answers, but takes nothing that is written: {error.what.rstrip('.')}"
            raise Unfit(detail, error.remedy or "See whether its disk is full, and whether we may write.") from error


async def examine(name: str, use: Coroutine[None, None, str], seconds: float = DEADLINE_SECONDS) -> Check:
    """Run one use of a service against a deadline. It returns what was found, or raises `Unfit`."""
    began = time.perf_counter()

    def check(detail: str, remedy: str = "", *, ok: bool = False, lasting: bool = False) -> Check:
        latency = round((time.perf_counter() - began) * 1000, 1)
        return Check(name, ok, latency, hide_passwords(detail), remedy, lasting)

    try:
        async with asyncio.timeout(seconds):
            return check(await use, ok=True)
    except Unfit as fault:
        return check(fault.detail, fault.remedy, lasting=fault.lasting)
    except TimeoutError:
        return check(f"no answer within {seconds:g} s")
    except CodehubError as error:
        return check(error.what.rstrip("."), error.remedy)
    except Exception as error:  # noqa: BLE001 - a bulkhead: whatever a driver raises, health must still be told
        return check(_sentence(error))


async def _use_database(url: str) -> str:
    try:
        connection = await asyncpg.connect(url, server_settings={"application_name": "codehub health"})
        try:
            row = await connection.fetchrow(_SERVER)
        finally:
            await connection.close(timeout=1)
    except asyncpg.InvalidAuthorizationSpecificationError as error:
        raise Unfit(
            f"refused the login: {_sentence(error)}", "Correct user and password in DATABASE_URL.", lasting=True
        ) from error
    except asyncpg.InvalidCatalogNameError as error:
        raise Unfit(
            f"does not know its database: {_sentence(error)}", "Create it, or correct DATABASE_URL.", lasting=True
        ) from error
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise Unfit(f"does not answer: {_sentence(error)}", "Start it, or correct DATABASE_URL.") from error
    if row["number"] < POSTGRES_NEEDED * 10_000:
        raise Unfit(
            f"is PostgreSQL {row['version']}, but codehub needs {POSTGRES_NEEDED} or newer", "Upgrade it.", lasting=True
        )
    if row["read_only"]:
        raise Unfit("is read-only (a standby?)", "Point DATABASE_URL at the primary.")
    return f"PostgreSQL {row['version']}"


async def _fill_a_file(url: str) -> str:
    """What does not fit into memory goes into a file of the server's, for as long as the question lasts."""
    try:
        connection = await asyncpg.connect(url, server_settings={"application_name": "codehub health"})
        try:
            async with connection.transaction():
                await connection.execute("SET LOCAL work_mem = '64kB'")
                await connection.execute("SELECT count(*) FROM generate_series(1, 20000)")
        finally:
            await connection.close(timeout=1)
    except asyncpg.DiskFullError as error:
        raise Unfit(f"is full: {_sentence(error)}", "Make room on it; until then nothing new can be kept.") from error
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return "is not known while the database does not answer"  # which is told by its own check
    return "has room"


async def _require_current_schema(url: str) -> None:
    from codehub.store import migrate  # brings Alembic, which is slow to import and not needed by the other checks

    state = await migrate.schema_state(url)
    if state.is_newer:
        detail = f"was written by a newer codehub (schema {state.current}, this one knows {state.head})"
        raise Unfit(detail, "Upgrade this codehub.", lasting=True)
    if not state.is_current:
        found = f"has schema {state.current}" if state.current else "has no schema yet"
        raise Unfit(f"{found}, but this codehub needs {state.head}", "Run: codehub migrate", lasting=True)


async def _use_redis(url: str) -> str:
    key, value = f"codehub:health:{secrets.token_hex(8)}", secrets.token_hex(8)
    try:
        # The older protocol: a server that is too old to know the newer one is to say how old it is.
        async with Redis.from_url(url, protocol=2, retry=Retry(NoBackoff(), 0), decode_responses=True) as client:
            await client.ping()
            server = await client.info("server")
            version = str(server.get("redis_version", "0"))
            if tuple(int(part) for part in version.split(".")[:2]) < REDIS_NEEDED:
                needed = ".".join(map(str, REDIS_NEEDED))
                raise Unfit(f"is Redis {version}, but codehub needs {needed} or newer", "Upgrade it.", lasting=True)
            await client.set(key, value, px=10_000)
            if await client.getdel(key) != value:
                raise Unfit("did not return what was written", "Point REDIS_URL at the primary.")
    except (OSError, redis_errors.RedisError) as error:
        raise _redis_fault(error) from error
    return f"Valkey {server['valkey_version']}" if "valkey_version" in server else f"Redis {version}"


def _redis_fault(error: Exception) -> Unfit:
    match error.__cause__ or error:  # a connection that could not be made wraps the reason
        case redis_errors.AuthenticationError() | redis_errors.NoPermissionError() as refusal:
            return Unfit(f"refused us: {_sentence(refusal)}", "Correct user and password in REDIS_URL.", lasting=True)
        case redis_errors.ReadOnlyError():
            return Unfit("is a read-only replica", "Point REDIS_URL at the primary.")
        case _:
            said, _, _arguments = _sentence(error).partition(", with args")  # which may hold the password
            return Unfit(f"does not answer: {said}", "Start it, or correct REDIS_URL.")


def _sentence(error: Exception) -> str:
    """The first line of what a foreign error says, or its name when it says nothing. The caller adds the full stop."""
    return next(iter(str(error).splitlines()), "").rstrip(". ") or type(error).__name__
