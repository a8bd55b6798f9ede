"""`codehub ws start`, `stop`, `archive`, `recover` and `delete`: what a workspace shall be."""

from typing import TYPE_CHECKING, Annotated

import typer

from codehub.cli.asked import Asked
from codehub.cli.finding import Which, called, find
from codehub.cli.waiting import Timeout, Wait, wished

if TYPE_CHECKING:
    from codehub.cli.server import Document

NOT_UNDONE = "This cannot be undone."


def start(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Start a workspace. While something else is under way, it starts after that."""
    _wish(asked, which, "start", wait=wait, timeout=timeout)


def stop(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Stop a workspace; its home stays."""
    _wish(asked, which, "stop", wait=wait, timeout=timeout)


def archive(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Move the files of a workspace to the archive, where they take no room here; starting it brings them back."""
    _wish(asked, which, "archive", wait=wait, timeout=timeout)


def recover(asked: Asked, which: Which, wait: Wait = False, timeout: Timeout = None) -> None:
    """Go on with a workspace that is in ERROR. For lost files see also: restore, start-empty."""
    _wish(asked, which, "recover", wait=wait, timeout=timeout)


def delete(
    asked: Asked,
    which: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Delete a workspace with its home. Says whether it can be undone."""
    from codehub.cli.waiting import until_gone

    workspace = find(asked.server, which)
    whose = workspace["name"] if asked.as_json else f"{workspace['name']} of {workspace['owner']['login']}"
    if not yes:
        typer.confirm(f"Delete {whose} and everything in its home? {_before(workspace)}", abort=True, err=True)
    deleted = asked.server.delete(f"/workspaces/{workspace['id']}")
    if wait or timeout is not None:
        deleted = until_gone(asked.server, deleted, timeout)
    state = "is deleted" if deleted["phase"] == "DELETED" else "is being deleted"
    asked.tell(deleted, lambda: f"{workspace['name']} {state}. {_after(deleted)}")


def _before(workspace: "Document") -> str:
    from codehub.cli.measures import told_duration, told_time

    if not workspace["undelete_seconds"]:
        return NOT_UNDONE
    how_long, when = told_duration(workspace["undelete_seconds"]), told_time(workspace["archive"]["made_at"])
    return f"It can be brought back for {how_long}, as it was at {when}."


def _after(deleted: "Document") -> str:
    from codehub.cli.measures import told_time

    if deleted["undo_until"] is None:
        return NOT_UNDONE
    until, when = told_time(deleted["undo_until"]), told_time(deleted["as_of"])
    return f"It can be brought back until {until}, as it was at {when}: codehub ws undelete {called(deleted)}"


def _wish(asked: Asked, which: str, action: str, *, wait: bool, timeout: int | None) -> None:
    workspace = find(asked.server, which)
    wished(asked, asked.server.post(f"/workspaces/{workspace['id']}/{action}"), wait=wait, timeout=timeout)
