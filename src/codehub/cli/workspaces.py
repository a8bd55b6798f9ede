"""`codehub ws`: workspaces from the command line of the machine that codehub runs on."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from codehub.errors import CodehubError, NotRunning

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from codehub.model.shown import ShownWorkspace
    from codehub.model.states import Desired
    from codehub.model.workspace import Workspace

LOOK_SECONDS = 0.1

ws = typer.Typer(name="ws", help="Make, start, stop and delete workspaces.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="Its name, or the beginning of its id.")]
Wait = Annotated[bool, typer.Option("--wait", help="Return when it is as wished; show each step.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]


def register(app: typer.Typer) -> None:
    app.add_typer(ws)


@ws.command()
def create(
    name: Annotated[str, typer.Argument(help="What to call it.")],
    template: Annotated[str, typer.Option(help="What it runs: code-server or jupyterlab.")] = "code-server",
    wait: Wait = False,
) -> None:
    """Make a workspace and start it.

    Example: codehub ws create garden --wait
    """

    async def work(pool: "AsyncEngine") -> None:
        from codehub.model.states import Desired
        from codehub.store.wishes import Because, NewWorkspace, create_workspace
        from codehub.store.workspaces import first_administrator, living, template_ids

        async with pool.begin() as connection:
            known = await template_ids(connection)
            if template not in known:
                raise CodehubError(f"There is no template '{template}'.", f"There is: {', '.join(sorted(known))}.")
            if name in {each.name for each in await living(connection)}:
                raise CodehubError(f"A workspace '{name}' is there already.", "Choose another name.")
            owner = await first_administrator(connection)
            if owner is None:
                raise NotRunning("There is no administrator yet.", "Start codehub first: codehub up")
            new = NewWorkspace(uuid4(), owner, name, known[template])
            made = await create_workspace(connection, new, Desired.RUNNING, Because("owner", "local"))
        await _told(pool, made, Desired.RUNNING, wait=wait)

    _run(work)


@ws.command("list")
def list_all(as_json: Json = False) -> None:
    """List the workspaces."""

    async def work(pool: "AsyncEngine") -> None:
        from codehub.store.workspaces import living

        async with pool.connect() as connection:
            found = await living(connection)
        if as_json:
            typer.echo(json.dumps([asdict(each) for each in found], default=str))
        elif not found:
            typer.echo("There are no workspaces yet. Make one with: codehub ws create NAME")
        for each in () if as_json else found:
            doing = f"  {each.operation}: {each.op_step}" if each.op_step else ""
            trouble = f"  {each.error_reason}" if each.error_reason else ""
            typer.echo(f"{each.id.hex[:8]}  {each.name:<24} {each.phase:<9}{doing}{trouble}")

    _run(work)


@ws.command()
def show(which: Which, as_json: Json = False) -> None:
    """Show one workspace and its history."""

    async def work(pool: "AsyncEngine") -> None:
        from codehub.store.workspaces import history

        found = await _find(pool, which)
        async with pool.connect() as connection:
            events = await history(connection, found.id)
        if as_json:
            typer.echo(json.dumps({**asdict(found), "events": events}, default=str))
            return
        for key, value in asdict(found).items():
            typer.echo(f"{key:<18} {'' if value is None else value}")
        for event in events:
            typer.echo("  " + "  ".join(str(event[key]) for key in _TOLD if event[key]))

    _run(work)


_TOLD = ("at", "kind", "before", "after", "reason", "actor", "detail")


@ws.command()
def start(which: Which, wait: Wait = False) -> None:
    """Start a workspace."""
    _wish(which, "RUNNING", wait=wait)


@ws.command()
def stop(which: Which, wait: Wait = False) -> None:
    """Stop a workspace; its home stays."""
    _wish(which, "STANDBY", wait=wait)


@ws.command()
def delete(
    which: Which,
    wait: Wait = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete a workspace with its home. This cannot be undone."""
    if not yes:
        typer.confirm(f"Delete {which} and everything in its home?", abort=True)
    _wish(which, "DELETED", wait=wait)


@ws.command()
def recover(which: Which, wait: Wait = False) -> None:
    """Try again with a workspace that is in ERROR."""

    async def work(pool: "AsyncEngine") -> None:
        from codehub.model.workspace import Request, RequestKind
        from codehub.store.wishes import place_request

        row = await _row(pool, which)
        async with pool.begin() as connection:
            asked = await place_request(connection, row, Request(RequestKind.RECOVER, uuid4(), "local"))
        if asked is None:
            raise CodehubError(f"{which} cannot be recovered now.", "Another request for it is still to be answered.")
        await _told(pool, asked, asked.desired_state, wait=wait)

    _run(work)


def _wish(which: str, desired: str, *, wait: bool) -> None:
    async def work(pool: "AsyncEngine") -> None:
        from codehub.model.states import Desired
        from codehub.store.wishes import Because, wish

        row = await _row(pool, which)
        async with pool.begin() as connection:
            wished = await wish(connection, row, Desired(desired), Because("owner", "local"))
        if wished is None:
            raise CodehubError(f"{which} was deleted meanwhile.")
        await _told(pool, wished, Desired(desired), wait=wait)

    _run(work)


async def _told(pool: "AsyncEngine", workspace: "Workspace", desired: "Desired", *, wait: bool) -> None:
    """Say what is wished; with `wait`, each step until it is so, or until it cannot become so."""
    from codehub.model.states import Phase
    from codehub.store.workspaces import workspace as read

    typer.echo(f"{workspace.name} ({workspace.id.hex[:8]}): {desired} is wished")
    shown = ""
    while wait:
        async with pool.connect() as connection:
            row = await read(connection, workspace.id)
        if row is None:
            return
        words = f"{row.phase} {row.operation}:{row.op_step}" if row.op_step else str(row.phase)
        if words != shown:
            typer.echo(f"  {words}")
        shown = words
        if row.op_step is None and row.phase == desired.value:
            return
        if row.phase is Phase.ERROR and row.request is None and row.error_reason is not None:
            raise CodehubError(
                f"{row.name} is in ERROR: {row.error_reason}.",
                f"See: codehub ws show {row.name}; then codehub ws recover",
            )
        await asyncio.sleep(LOOK_SECONDS)


async def _find(pool: "AsyncEngine", which: str) -> "ShownWorkspace":
    from codehub.store.workspaces import living

    async with pool.connect() as connection:
        found = await living(connection)
    named = [each for each in found if each.name == which]
    matching = named or [each for each in found if each.id.hex.startswith(which.replace("-", "").lower())]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"{each.name} ({each.id.hex[:8]})" for each in matching)
        raise CodehubError(f"{len(matching)} workspaces match '{which}': {names}.", "Write more of the id.")
    raise CodehubError(f"There is no workspace '{which}'.", "See: codehub ws list")


async def _row(pool: "AsyncEngine", which: str) -> "Workspace":
    from codehub.store.workspaces import workspace as read

    found = await _find(pool, which)
    async with pool.connect() as connection:
        row = await read(connection, found.id)
    if row is None:
        raise CodehubError(f"There is no workspace '{which}'.")
    return row


def _run(work: Callable[["AsyncEngine"], Awaitable[None]]) -> None:
    async def run() -> None:
        async with _pool() as pool:
            await work(pool)

    asyncio.run(run())


@asynccontextmanager
async def _pool() -> AsyncIterator["AsyncEngine"]:
    from codehub.settings import Settings
    from codehub.stack.reach import database_of
    from codehub.store.engine import single

    pool = single(database_of(Settings.load()), "codehub ws")
    try:
        yield pool
    finally:
        await pool.dispose()
