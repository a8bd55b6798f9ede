"""Login attempts, counted where they come from, so that guessing gets slow and nobody can lock out somebody else."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide.login_wait import next_try_at
from codehub.settings.groups import AuthConfig

PRUNED_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Source:
    """What attempts are counted by: an address, or a device that has logged in to this account before. A device is
    counted alone: whoever guesses from beside it, from the same address, takes no tries away from it."""

    name: str
    is_device: bool


@dataclass(frozen=True, slots=True)
class Attempt:
    id: int


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


# Two tries on one account from one source are counted one after the other; the first number keeps these locks apart.
_LOCK = text("SELECT pg_advisory_xact_lock(4, hashtext(lower(:login) || ' ' || :source))")

# On the account, what succeeded forgives what failed before, and what is still being looked at counts as failed. From
# the address, only what has failed: many may log in at once from behind one, and one who does forgives nobody else.
_COUNT = text("""
    WITH recent AS (
        SELECT id, succeeded, at FROM login_attempts
        WHERE lower(login) = lower(:login) AND address = :source AND at > clock_timestamp() - CAST(:window AS interval)
    )
    SELECT clock_timestamp() AS now, on_account.*, from_address.*
    FROM (
        SELECT count(*) AS on_account, max(at) AS newest_on_account FROM recent
        WHERE id > coalesce((SELECT max(id) FROM recent WHERE succeeded), 0)
    ) AS on_account, (
        SELECT count(*) AS from_address, max(at) AS newest_from_address FROM login_attempts
        WHERE address = :source AND NOT succeeded AND at > clock_timestamp() - CAST(:window AS interval)
    ) AS from_address
""")
_BEGIN = text("INSERT INTO login_attempts (login, address) VALUES (:login, :source) RETURNING id")
_END = text("UPDATE login_attempts SET succeeded = :succeeded WHERE id = :id")
_PRUNE = text("""
    DELETE FROM login_attempts WHERE id IN (
        SELECT id FROM login_attempts WHERE at < clock_timestamp() - CAST(:window AS interval)
        ORDER BY at LIMIT :limit FOR UPDATE SKIP LOCKED
    )
""")


async def begin(connection: AsyncConnection, login: str, source: Source, auth: AuthConfig) -> Attempt | Wait:
    """May this be tried now? If so it counts from here on, also while its password is being checked."""
    window = timedelta(seconds=auth.login_window_seconds)
    names = {"login": login, "source": source.name}
    await connection.execute(_LOCK, names)
    counted = (await connection.execute(_COUNT, {**names, "window": window})).one()
    waits = [
        next_try_at(counted.on_account, auth.login_attempts_per_account, counted.newest_on_account),
        None
        if source.is_device
        else next_try_at(counted.from_address, auth.login_attempts_per_address, counted.newest_from_address),
    ]
    latest = max((at for at in waits if at is not None), default=counted.now)
    if latest > counted.now:
        return Wait((latest - counted.now).total_seconds())
    await connection.execute(_PRUNE, {"window": window, "limit": PRUNED_AT_ONCE})
    return Attempt((await connection.execute(_BEGIN, names)).scalar_one())


async def end(connection: AsyncConnection, attempt: Attempt, *, succeeded: bool) -> None:
    await connection.execute(_END, {"id": attempt.id, "succeeded": succeeded})
