"""`codehub restart`: new processes in the place of those that answer, without a request lost."""

import os
import time
from typing import TYPE_CHECKING

import typer

from codehub.errors import CodehubError, NotRunning

if TYPE_CHECKING:
    from codehub.stack.data_folder import DataFolder
    from codehub.stack.running import Running


def register(app: typer.Typer) -> None:
    app.command("restart")(restart)


def restart() -> None:
    """Replace what answers, one replica after the other, without a request lost: after an upgrade, for example.

    The database and the other services go on, and so do the settings that codehub was started with.

    Example: pip install --upgrade codehub-server && codehub restart
    """
    from codehub.settings import Settings
    from codehub.stack.account import current_account
    from codehub.stack.data_folder import DataFolder
    from codehub.stack.restarts import ASKS
    from codehub.stack.running import find_running

    folder = DataFolder(Settings.load().codehub.data_dir, current_account())
    running = find_running(folder)
    if running is None or not running.ready:
        raise NotRunning(f"codehub is not running on {folder.path}.", "Start it with: codehub up")
    if running.restarts is None:
        raise CodehubError("The codehub that runs was started by an older version.", "Use: codehub down, codehub up")
    os.kill(running.pid, ASKS)
    _watch(folder, running)
    typer.echo(f"codehub has restarted: {running.url}")


def _watch(folder: "DataFolder", asked: "Running") -> None:
    """Show what happens until this restart is over. Raises what made it fail."""
    from codehub.stack.running import find_running

    before = (asked.restarts or {})["asked"]
    shown = _states(asked)
    while (now := find_running(folder)) is not None and now.pid == asked.pid and now.restarts is not None:
        for (name, pid), state in _states(now).items():
            if shown.get((name, pid)) != state:
                typer.echo(f"  {name:<10} {state} (process {pid})")
        shown = _states(now)
        if now.restarts["done"] > before:
            if now.restarts["failure"]:
                raise CodehubError(f"The restart failed, and what ran before goes on: {now.restarts['failure']}")
            return
        time.sleep(0.05)
    raise NotRunning("codehub was stopped meanwhile.")


def _states(running: "Running") -> dict[tuple[str, int], str]:
    return {(part["name"], part["pid"]): part["state"] for part in running.parts if part["pid"] is not None}
