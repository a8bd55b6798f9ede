"""`codehub migrate`: bring the database to the schema that this codehub knows."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer

from codehub.errors import ConfigurationError, ServiceError

if TYPE_CHECKING:
    from codehub.store.migrate import SchemaState


def register(app: typer.Typer) -> None:
    app.command("migrate")(migrate)


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; exit 7 unless the schema is current.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object, for programs.")] = False,
) -> None:
    """Upgrade the database to the schema of this codehub. Safe to repeat, and to run from several places at once.

    Example: DATABASE_URL=postgresql://codehub@db/codehub codehub migrate
    """
    before = asyncio.run(_migrate(check=check))
    if as_json:
        typer.echo(json.dumps({"before": before.current, "after": before.head, "changed": not before.is_current}))
    elif before.is_current:
        typer.echo(f"The database has schema {before.head}: nothing to do.")
    else:
        typer.echo(f"The database had {_found(before)} and was upgraded to {before.head}.")


async def _migrate(*, check: bool) -> "SchemaState":
    """Upgrade where that is needed and allowed, and give the state before."""
    from codehub.settings import Settings
    from codehub.store.migrate import schema_state, upgrade
    from codehub.telemetry.health import check_database

    url = Settings.load().database.url
    if url is None:
        raise ConfigurationError("DATABASE_URL is not set.", "The embedded database is migrated by: codehub up")
    database = await check_database(url, schema=False)
    if not database.ok:
        raise ServiceError(f"The database {database.detail}.", database.remedy)
    before = await schema_state(url)
    if before.is_newer:
        raise ServiceError(
            f"The database has schema {before.current}, which this codehub does not know.", "Upgrade this codehub."
        )
    if not before.is_current and check:
        raise ServiceError(f"The database has {_found(before)}, but needs {before.head}.", "Run: codehub migrate")
    if not before.is_current:
        await upgrade(url)
    return before


def _found(state: "SchemaState") -> str:
    return f"schema {state.current}" if state.current else "no schema"
