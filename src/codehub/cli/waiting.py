"""Until a workspace is as wished, or it is known that it will not be."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codehub.cli.measures import duration
from codehub.cli.refusals import InError, NotFound, Refused, TimedOut

if TYPE_CHECKING:
    from codehub.cli.asked import Asked
    from codehub.cli.server import Document, Server

INTERRUPTED = 130
LOOK_SECONDS = 0.5
STUCK = frozenset({"error", "crashed"})
"""The explanations of an ERROR that only a person ends; in others something is still being done about it."""

Wait = Annotated[bool, typer.Option("--wait", help="Return when it is as wished; show how far it is.")]
Timeout = Annotated[
    int | None,
    typer.Option("--timeout", help="Wait this long at most: 90, 10m, 2h.", parser=duration, metavar="TIME"),
]


def wished(asked: "Asked", workspace: "Document", *, wait: bool, timeout: int | None) -> None:
    """Say what was wished for, or with `wait` what became of it. The wish stays, whatever happens here."""
    name, wish = workspace["name"], workspace["desired_state"]
    if wait or timeout is not None:
        with _left_alone(name, wish):
            workspace = until(asked.server, workspace, timeout)
    words = _carried_out(workspace, wish) or f"{name}: {wish} is wished. {workspace['explanation']['summary']}"
    asked.tell(workspace, lambda: words)


def until(server: "Server", workspace: "Document", timeout: int | None) -> "Document":
    """The workspace as it was wished. Raises InError, TimedOut, or Refused where somebody wished something else."""
    from codehub.cli import progress
    from codehub.cli.watching import Watch

    name, wish, newest = workspace["name"], workspace["desired_state"], workspace
    try:
        with progress.shown() as show:
            for newest in Watch(server, workspace["id"], _deadline(timeout)).states():
                show(newest)
                if newest["desired_state"] != wish:
                    raise Refused(f"Meanwhile {newest['desired_state']} was wished for {name}.")
                if _carried_out(newest, wish):
                    return newest
                if newest["phase"] == "ERROR" and newest["explanation"]["code"] in STUCK:
                    raise _in_error(newest)
    except TimedOut as error:
        raise TimedOut(f"{name} is not {wish} yet. {newest['explanation']['summary']}") from error
    except NotFound as error:
        raise NotFound(f"{name} was deleted meanwhile.") from error
    raise AssertionError("a watch has no end")


def until_gone(server: "Server", deleted: "Document", timeout: int | None) -> "Document":
    """Until nothing is left of it. Asking again for its deletion tells how far that is."""
    deadline = _deadline(timeout)
    try:
        while deleted["phase"] != "DELETED":
            if deadline is not None and time.monotonic() > deadline:
                raise TimedOut(f"{deleted['name']} is not deleted yet; it is {deleted['phase']}.")
            time.sleep(LOOK_SECONDS)
            deleted = server.delete(f"/workspaces/{deleted['id']}")
    except NotFound:
        return {**deleted, "phase": "DELETED"}
    return deleted


@contextmanager
def _left_alone(name: str, wish: str) -> Iterator[None]:
    """Ctrl-C ends the waiting and nothing else."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nNo longer waiting. {wish} stays wished; see: codehub ws show {name}", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _deadline(timeout: int | None) -> float | None:
    return None if timeout is None else time.monotonic() + timeout


def _carried_out(workspace: "Document", wish: str) -> str:
    done = workspace["phase"] == wish and workspace["operation"] is None and workspace["request"] is None
    return f"{workspace['name']} is {wish}." if done else ""


def _in_error(workspace: "dict[str, Any]") -> InError:
    error = InError(
        f"{workspace['name']} is in ERROR. {workspace['explanation']['summary']}",
        f"See: codehub ws show {workspace['name']}",
    )
    error.problem = workspace
    return error
