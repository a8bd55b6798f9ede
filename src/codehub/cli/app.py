"""The root of the command line: which commands there are, and how a command that fails ends.

Commands import what they need when they run, so that `codehub --help` answers at once.
"""

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, NoReturn, cast

import typer
from typer.core import TyperCommand, TyperGroup

from codehub.cli import (
    account,
    admin,
    config,
    context,
    gc,
    hold,
    image,
    job,
    login,
    migrate,
    restart,
    serve,
    stack,
    templates,
    users,
    workspaces,
)
from codehub.errors import CodehubError

PANELS = {
    "Workspaces": ("ws", "hold"),
    "Who you are": ("login", "logout", "whoami", "password", "token", "session", "context"),
    "codehub on this machine": ("up", "down", "restart", "status", "doctor", "reset"),
    "Administration": ("user", "template", "admin", "gc"),
    "codehub on services of your own": ("serve", "migrate", "image", "job", "config"),
}
"""The commands as `codehub --help` groups them."""


class _InPanels(TyperGroup):
    """Lists the commands in this order, whether they are single ones or groups."""

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 (as the library calls it)
        for panel, names in PANELS.items():
            for name in names:
                cast("TyperCommand", self.commands[name]).rich_help_panel = panel
        return [name for names in PANELS.values() for name in names]


app = typer.Typer(
    name="codehub",
    cls=_InPanels,
    help="Cloud development environments that sleep when you leave and wake when you return.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (
    *(workspaces, hold, login, context, account),
    *(stack, restart, users, templates, admin, gc),
    *(serve, migrate, image, job, config),
):
    commands.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"codehub {version('codehub-server')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Cloud development environments that sleep when you leave and wake when you return."""


def run() -> NoReturn:
    """Run the command that was asked for and exit with its code (docs/commands.md).

    What a person can act on becomes one sentence; the traceback is for a developer, who asks for it by the log level.
    """
    try:
        app(prog_name="codehub")
    except CodehubError as error:
        if os.environ.get("CODEHUB_LOG_LEVEL") == "debug":
            traceback.print_exc()
        print(_told(error, sys.argv), file=sys.stderr)  # noqa: T201 - the command's own words
        sys.exit(error.exit_code)
    sys.exit()


def _told(error: CodehubError, arguments: Sequence[str]) -> str:
    """A program that asked for JSON gets its errors in that, too."""
    if "--json" not in arguments:
        return f"codehub: {error}"
    document = {"error": error.what, "remedy": error.remedy, "exit_code": error.exit_code, "problem": error.problem}
    return json.dumps(document)
