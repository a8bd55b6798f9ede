"""`codehub ws download`: the files of a workspace as one file, checked before it bears its name."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from codehub.cli import completion
from codehub.cli.asked import Asked
from codehub.cli.finding import Which, find
from codehub.cli.generations import choose

STDOUT = "-"


def download(
    asked: Asked,
    which: Which,
    generation: Annotated[
        str | None,
        typer.Argument(
            help="Another archive than the current one: its number, or the first digits of its id.",
            autocompletion=completion.generation_numbers,
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to; - for stdout.", show_default=False)
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Download an archive of a workspace, and check it. Repeated after a break, it goes on where it was.

    Example: codehub ws download garden -o - | zstd -d | tar -t
    """
    from codehub.cli.fetching import Fetch

    if output == STDOUT and asked.as_json:
        raise typer.BadParameter("--json would stand in the middle of the file; name a file with --output.")
    workspace = find(asked.server, which)
    archive = choose(asked.server, workspace, generation)
    fetch = Fetch(asked.server, f"/workspaces/{workspace['id']}/archives/{archive['id']}/download", archive)
    if output == STDOUT:
        fetch.to_stream(sys.stdout.buffer)
        typer.echo(_checked(archive), err=True)
        return
    file = Path(output or f"{workspace['name']}-{archive['number']}.tar.zst")
    fetch.to_file(file, replace=force)
    told = {"file": str(file), "archive": archive, "verified": True}
    asked.tell(told, lambda: f"{file}: {_checked(archive)}")


def _checked(archive: dict[str, Any]) -> str:
    from codehub.cli.measures import told_size, told_time

    when = told_time(archive["made_at"])
    return f"{told_size(archive['size'])}, the files of {when}. Its SHA-256 is right: {archive['sha256']}"
