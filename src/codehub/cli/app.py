"""The root of the command line: which commands there are, and how a command that fails ends.

Commands import what they need when they run, so that `codehub --help` answers at once.
"""

import os
import sys
import traceback
from typing import Annotated, NoReturn

import typer

from codehub.cli import config, image, migrate, restart, serve, stack, workspaces
from codehub.errors import CodehubError

app = typer.Typer(
    name="codehub",
    help="Cloud development environments that sleep when you leave and wake when you return.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for commands in (stack, restart, workspaces, serve, image, migrate, config):
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
        print(f"codehub: {error}", file=sys.stderr)  # noqa: T201 - the command's own words
        sys.exit(error.exit_code)
    sys.exit()
