"""`codehub hold`: keep a workspace awake while a command runs."""

import shlex
from typing import Annotated

import typer

from codehub.cli import completion
from codehub.cli.asked import Asked, command
from codehub.cli.finding import Which, find, id_of
from codehub.cli.measures import duration

LONGEST_REASON = 100
USUAL_SECONDS = 3600

Workspace = Annotated[
    str,
    typer.Option(
        "--workspace",
        "-w",
        envvar="CODEHUB_WORKSPACE",
        help="Which one: its name or id.",
        show_default=False,
        autocompletion=completion.workspace_names,
    ),
]
Lasts = Annotated[
    int | None,
    typer.Option("--for", metavar="TIME", parser=duration, help="At most so long: 90, 10m, 2h.", show_default=False),
]


def register(app: typer.Typer) -> None:
    command(app)(hold)


def hold(
    asked: Asked,
    program: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND...", help="What to run meanwhile.", show_default=False)
    ] = None,
    workspace: Workspace = "",
    lasts: Lasts = None,
    reason: Annotated[str, typer.Option(help="What for; its owner reads it.", show_default=False)] = "",
) -> None:
    """Keep a workspace awake while a command runs here, and end as that ends. Without a command: for an hour, or as
    long as --for says.

    Example: codehub hold --workspace garden -- make nightly
    """
    from codehub.cli.holding import Command, held
    from codehub.cli.measures import told_time

    if not workspace:
        raise typer.BadParameter("Say which one, by --workspace or CODEHUB_WORKSPACE.")
    path = f"/workspaces/{id_of(asked.server, workspace)}/holds"
    if not program:
        placed = asked.server.post(path, {"reason": reason or "by hand", "seconds": lasts or USUAL_SECONDS})
        asked.tell(placed, lambda: f"{workspace} stays awake until {told_time(placed['ends_at'])}. Id: {placed['id']}")
        return
    with Command(program) as running, held(asked.server, path, reason or _what(program), lasts):
        code = running.run()
    raise typer.Exit(code)


def _what(program: list[str]) -> str:
    """The command itself, as one line that may be shown."""
    line = "".join(each if each.isprintable() else " " for each in shlex.join(program))
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def extend(asked: Asked, which: Which) -> None:
    """Let a running workspace stay awake for all of its idle time from now on."""
    found = find(asked.server, which)
    extended = asked.server.post(f"/workspaces/{found['id']}/extend")
    asked.tell(extended, lambda: f"{found['name']}: {extended['explanation']['summary']}")


def holds(asked: Asked, which: Which) -> None:
    """List the holds that keep a workspace awake."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    found = asked.server.get(f"/workspaces/{id_of(asked.server, which)}/holds")
    rows = [(each["id"], each["reason"], each["made_by"], told_time(each["ends_at"])) for each in found["items"]]
    asked.tell(found, lambda: table(("id", "reason", "by", "until"), rows) if rows else "Nothing holds it.")


def release(
    asked: Asked,
    which: Which,
    hold_id: Annotated[str, typer.Argument(metavar="HOLD", help="As `codehub ws holds` shows it.")],
) -> None:
    """Let a hold go."""
    asked.server.delete_once(f"/workspaces/{id_of(asked.server, which)}/holds/{hold_id}")
    asked.tell({}, lambda: "It holds no longer.")
