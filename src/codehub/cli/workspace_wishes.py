"""`codehub ws start`, `stop`, `archive`, `recover` and `delete`: what a workspace shall be."""

from typing import Annotated

import typer

from codehub.cli.asked import Asked
from codehub.cli.finding import Which, find
from codehub.cli.waiting import Timeout, Wait, wished


def start(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Start a workspace. While something else is under way, it starts after that."""
    _wish(asked, which, "start", wait=wait, timeout=timeout)


def stop(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Stop a workspace; its home stays."""
    _wish(asked, which, "stop", wait=wait, timeout=timeout)


def archive(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Move the home of a workspace to the archive."""
    _wish(asked, which, "archive", wait=wait, timeout=timeout)


def recover(
    asked: Asked,
    which: Which,
    start_empty: Annotated[
        bool, typer.Option("--start-empty", help="Give a lost home up, and begin with an empty one.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Go on with a workspace that is in ERROR."""
    workspace = find(asked.server, which)
    if start_empty and not yes:
        typer.confirm(f"Give up the lost files of {workspace['name']}?", abort=True, err=True)
    asked_for = asked.server.post(f"/workspaces/{workspace['id']}/recover", {"start_empty": start_empty})
    wished(asked, asked_for, wait=wait, timeout=timeout)


def delete(
    asked: Asked,
    which: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Delete a workspace with its home. Says whether it can be undone."""
    from codehub.cli.measures import told_time
    from codehub.cli.waiting import until_gone

    workspace = find(asked.server, which)
    whose = workspace["name"] if asked.as_json else f"{workspace['name']} of {workspace['owner']['login']}"
    if not yes:
        typer.confirm(f"Delete {whose} and everything in its home? This cannot be undone.", abort=True, err=True)
    deleted = asked.server.delete(f"/workspaces/{workspace['id']}")
    if wait or timeout is not None:
        deleted = until_gone(asked.server, deleted, timeout)
    state = "is deleted" if deleted["phase"] == "DELETED" else "is being deleted"
    undo = f"It can be brought back until {told_time(deleted['undo_until'])}." if deleted["undo_until"] else ""
    asked.tell(deleted, lambda: f"{workspace['name']} {state}. {undo or 'This cannot be undone.'}")


def _wish(asked: Asked, which: str, action: str, *, wait: bool, timeout: int | None) -> None:
    workspace = find(asked.server, which)
    wished(asked, asked.server.post(f"/workspaces/{workspace['id']}/{action}"), wait=wait, timeout=timeout)
