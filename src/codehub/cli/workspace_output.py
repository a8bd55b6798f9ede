"""`codehub ws events`, `logs` and `stats`: what happened to a workspace, what it prints and what it uses."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codehub.cli.asked import Asked
from codehub.cli.finding import Which, called, find

if TYPE_CHECKING:
    from codehub.cli.server import Document, Server

RECENT = 50

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Go on with what comes, until Ctrl-C.")]


def events(
    asked: Asked,
    which: Which,
    follow: Follow = False,
    everything: Annotated[bool, typer.Option("--all", help=f"Not only the last {RECENT}.")] = False,
) -> None:
    """Tell what happened to a workspace. With --follow, JSON is one line for each thing."""
    from codehub.cli import workspace_words

    workspace = find(asked.server, which)
    path = f"/workspaces/{workspace['id']}/events"
    found = asked.server.pages(path, None if everything else RECENT)
    if not follow:
        note = f"older ones: codehub ws events {called(workspace)} --all\n" if found["next"] else ""
        asked.tell(found, lambda: note + workspace_words.history(reversed(found["items"])))
        return
    write: Callable[[Any], str] = json.dumps if asked.as_json else workspace_words.event
    with suppress(KeyboardInterrupt):  # how somebody stops to follow
        for happened in reversed(found["items"]):
            typer.echo(write(happened))
        for happened in _later(asked.server, workspace["id"], found["items"][0]["id"] if found["items"] else 0):
            typer.echo(write(happened))


def _later(server: "Server", workspace_id: str, last: int) -> "Iterator[Document]":
    """What happens from now on. Whenever the workspace changes, its history is read on."""
    from codehub.cli.refusals import NotFound
    from codehub.cli.watching import Watch

    try:
        for _ in Watch(server, workspace_id).states():
            news = list(_since(server, workspace_id, last))
            yield from reversed(news)
            last = news[0]["id"] if news else last
    except NotFound:
        yield from reversed(list(_since(server, workspace_id, last)))


def _since(server: "Server", workspace_id: str, last: int) -> "Iterator[Document]":
    """The newest first."""
    cursor = None
    while True:
        page = server.get(f"/workspaces/{workspace_id}/events", cursor=cursor)
        for happened in page["items"]:
            if happened["id"] <= last:
                return
            yield happened
        cursor = page["next"]
        if cursor is None:
            return


def logs(
    asked: Asked,
    which: Which,
    tail: Annotated[int, typer.Option(help="How many of the last lines.", min=1, max=10_000)] = 200,
    follow: Follow = False,
) -> None:
    """Show what the container of a workspace prints."""
    workspace = find(asked.server, which)
    path = f"/workspaces/{workspace['id']}/logs"
    params: dict[str, Any] = {"tail": tail, "follow": str(follow).lower()}
    with suppress(KeyboardInterrupt), asked.server.lines(path, None if follow else 30.0, **params) as response:
        if asked.as_json:
            for line in response.iter_lines():
                typer.echo(json.dumps({"line": line}))
            return
        for piece in response.iter_bytes():
            sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()


def stats(asked: Asked, which: Which) -> None:
    """Show what a running workspace uses at this moment."""
    from codehub.cli.measures import told_size
    from codehub.cli.tables import facts

    used = asked.server.get(f"/workspaces/{find(asked.server, which)['id']}/stats")
    limit = f" of {told_size(used['memory_limit_bytes'])}" if used["memory_limit_bytes"] else ""
    rows = (
        ("memory", told_size(used["memory_bytes"]) + limit),
        ("processor", f"{used['cpu_seconds']:.1f} s since its start"),
        ("processes", used["pids"]),
    )
    asked.tell(used, lambda: facts(rows))
