"""Bringing a database to the schema that this version of codehub knows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from codehub.store.engine import single

HEAD = "head"
LOCK_KEY = 0x636F64656875626D
"""Of the advisory lock under which migrations run; two replicas that start together must not both migrate."""


@dataclass(frozen=True, slots=True)
class SchemaState:
    current: str | None
    """The revision that the database is at; None for an empty one."""
    head: str
    known: tuple[str, ...]

    @property
    def is_current(self) -> bool:
        return self.current == self.head

    @property
    def is_newer(self) -> bool:
        """Whether a newer codehub has migrated this database; this one must leave it alone."""
        return self.current is not None and self.current not in self.known


async def upgrade(database_url: str, revision: str = HEAD) -> None:
    """Migrate up to the revision. Safe to call from several processes at once, and when there is nothing to do."""
    await _migrate(database_url, revision, command.upgrade)


async def downgrade(database_url: str, revision: str) -> None:
    """Migrate down to the revision, `base` for none at all. Data that only newer revisions know is lost."""
    await _migrate(database_url, revision, command.downgrade)


async def schema_state(database_url: str) -> SchemaState:
    engine = single(database_url, "codehub-migrate")
    try:
        async with engine.connect() as connection:
            current = await connection.run_sync(_current_revision)
    finally:
        await engine.dispose()
    script = ScriptDirectory.from_config(_config())
    known = tuple(reversed([each.revision for each in script.walk_revisions()]))
    return SchemaState(current, head=known[-1], known=known)


def _current_revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


async def _migrate(database_url: str, revision: str, run: Callable[[Config, str], None]) -> None:
    engine = single(database_url, "codehub-migrate")
    try:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK_KEY})
            await connection.commit()
            await connection.run_sync(lambda synchronous: run(_config(synchronous), revision))
            await connection.commit()
    finally:
        await engine.dispose()


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config
