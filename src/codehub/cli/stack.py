"""`codehub up`, `down`, `status`, `doctor` and `reset`: the stack as one thing that a person starts and stops."""

import asyncio
import dataclasses
import json
import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codehub import clock
from codehub.errors import CodehubError, ExitCode, NotRunning

if TYPE_CHECKING:
    from codehub.settings import Settings
    from codehub.stack.data_folder import DataFolder
    from codehub.stack.parts import PartStatus
    from codehub.stack.running import Running

_FILE: dict[str, Any] = {"exists": True, "dir_okay": False, "readable": True, "resolve_path": True}
JSON = Annotated[bool, typer.Option("--json", help="Write one JSON object, for programs.")]


def register(app: typer.Typer) -> None:
    for command in (up, down, status, doctor, reset):
        app.command(command.__name__)(command)


def up(
    detach: Annotated[bool, typer.Option("--detach", "-d", help="Run in the background once it is ready.")] = False,
    s3: Annotated[bool, typer.Option("--s3", help="Keep archives in an embedded S3 server (SeaweedFS).")] = False,
    listen: Annotated[str, typer.Option(help="The public address, host:port (default: CODEHUB_LISTEN).")] = "",
    domain: Annotated[
        str, typer.Option(help="Workspaces are below this domain, and codehub is at `codehub` there (PROXY_DOMAIN).")
    ] = "",
    cert: Annotated[Path | None, typer.Option(help="A certificate in PEM (PROXY_CERTIFICATE).", **_FILE)] = None,
    key: Annotated[Path | None, typer.Option(help="Its private key, in PEM (PROXY_KEY).", **_FILE)] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let others reach codehub without TLS (CODEHUB_INSECURE).")
    ] = False,
) -> None:
    """Start codehub with everything that it needs, and keep it running until Ctrl-C or `codehub down`.

    Example: codehub up --domain dev.example.org --cert fullchain.pem --key privkey.pem
    """
    from codehub.cli.public_address import PublicAddress, warn_without_tls
    from codehub.stack.account import service_account
    from codehub.stack.data_folder import DataFolder
    from codehub.stack.public import require_certificate
    from codehub.stack.running import AlreadyRunning

    settings = PublicAddress(listen, domain, cert, key, insecure).settings()
    require_certificate(settings.proxy)
    warn_without_tls(settings)
    folder = DataFolder(settings.codehub.data_dir, service_account())
    while (running := _running_and_ready(folder)) is None:
        folder.prepare()
        with suppress(AlreadyRunning):  # another command was faster: look again
            return _start(settings, folder, detach=detach, s3=s3)
    return typer.echo(f"codehub is already running: {running.url}")


def _start(settings: "Settings", folder: "DataFolder", *, detach: bool, s3: bool) -> None:
    from codehub.stack.detach import detached
    from codehub.stack.up import supervise

    if detach:
        detached(lambda audience: supervise(settings, folder, audience, s3=s3), folder.supervisor_log, _Terminal())
    else:
        supervise(settings, folder, _Terminal(), s3=s3)
        _say("codehub has stopped.")


class _Terminal:
    """Tells a person how the start goes, and later what dies and comes back."""

    def changed(self, part: "PartStatus") -> None:
        words = {"ready": f"ready in {part.took_ms} ms", "not answering": f"not answering: {part.detail}"}
        told = words.get(part.state, f"{part.state}: {part.detail}" if part.detail else part.state)
        _say(f"  {part.name:<10} {told}")

    def ready(self, url: str, password: str | None) -> None:
        _say(f"codehub is ready: {url}")
        if password is None:
            _say("  first administrator: admin (the password was shown at the first start)")
        else:
            _say(f"  first administrator: admin\n  password:            {password}\n  It is shown only now.")
            _say("  Log in with: codehub login")


def _say(words: str) -> None:
    """Tell the terminal, if there still is one: a closed window must not break off a clean stop."""
    with suppress(OSError):
        typer.echo(words)


def down() -> None:
    """Stop codehub cleanly and wait until it has stopped."""
    from codehub.stack.running import find_running, is_locked

    folder = _data_folder()
    running = find_running(folder)
    if running is None:
        raise NotRunning(f"codehub is not running on {folder.path}.")
    os.kill(running.pid, signal.SIGTERM)
    waited_for = ""
    while is_locked(folder):
        if (words := _still_there(folder)) != waited_for and words:
            typer.echo(f"  waiting for {words}")
        waited_for = words
        time.sleep(0.05)
    typer.echo("codehub has stopped.")


def status(as_json: JSON = False) -> None:
    """Show each part of the running codehub. Exit code 8 when it is not running."""
    from codehub.stack.running import find_running

    folder = _data_folder()
    running = find_running(folder)
    if as_json:
        shown = {"running": running is not None, "data_dir": str(folder.path)}
        typer.echo(json.dumps(shown | (dataclasses.asdict(running) if running else {})))
        if running is None:
            raise typer.Exit(ExitCode.NOT_RUNNING)
    elif running is None:
        raise NotRunning(f"codehub is not running on {folder.path}.", "Start it with: codehub up")
    else:
        _show_parts(running)


def doctor(as_json: JSON = False) -> None:
    """Check everything that codehub stands on, and say what to do about what is wrong."""
    from codehub.stack.doctor import examine_all

    findings = examine_all(_settings())
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            mark = "ok  " if finding.ok else "FAIL"
            typer.echo(f"{mark}  {finding.name:<14} {finding.detail}")
            if finding.remedy and not finding.ok:
                typer.echo(f"      {'':<14} -> {finding.remedy}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(ExitCode.FAILED)


def reset(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete everything that codehub keeps in its data folder, after saying what that is."""
    from codehub.stack import removal
    from codehub.stack.homes import count_homes, remove_homes
    from codehub.stack.running import find_running

    settings, folder = _settings(), _data_folder()
    if find_running(folder) is not None:
        raise CodehubError("codehub is running.", "Stop it first with: codehub down")
    losses = removal.losses(folder)
    if not losses:
        typer.echo(f"There is nothing of codehub in {folder.path}.")
        return
    typer.echo(f"This will be deleted from {folder.path}, and cannot be brought back:")
    for loss in losses:
        typer.echo(f"  {loss}")
    if count := asyncio.run(count_homes(settings, folder)):
        typer.echo(f"  and the homes of {count} workspaces that are not archived, where they run")
    if not yes:
        typer.confirm("Delete all of it?", abort=True)
    asyncio.run(remove_homes(settings, folder))
    removal.remove(folder)
    typer.echo("Deleted.")


def _settings() -> "Settings":
    from codehub.settings import Settings

    return Settings.load()


def _data_folder() -> "DataFolder":
    """The folder that a command looks at; it changes nothing there, so it needs no account of the services."""
    from codehub.stack.account import current_account
    from codehub.stack.data_folder import DataFolder

    return DataFolder(_settings().codehub.data_dir, current_account())


def _running_and_ready(folder: "DataFolder") -> "Running | None":
    """The codehub that runs already. One that another command is just starting is waited for."""
    from codehub.stack.running import find_running

    while (running := find_running(folder)) is not None and not running.ready:
        time.sleep(0.1)
    return running


def _still_there(folder: "DataFolder") -> str:
    from codehub.stack.running import read_state

    state = read_state(folder)
    alive = [part["name"] for part in state.parts if part["pid"] is not None] if state else []
    return ", ".join(alive)


def _show_parts(running: "Running") -> None:
    typer.echo(f"codehub is {'ready' if running.ready else 'starting'}: {running.url} (process {running.pid})")
    typer.echo(f"  {'part':<10} {'state':<14} {'pid':>7} {'for':>9} {'restarts':>8} {'answers in':>10}  detail")
    for part in running.parts:
        typer.echo(_row(part))


def _row(part: dict[str, Any]) -> str:
    lasted = clock.now() - datetime.fromisoformat(part["since"])
    latency = "-" if part["latency_ms"] is None else f"{part['latency_ms']:.0f} ms"
    cells: Iterable[str] = (
        f"{part['name']:<10}",
        f"{part['state']:<14}",
        f"{part['pid'] or '-':>7}",
        f"{str(lasted).partition('.')[0]:>9}",
        f"{part['restarts']:>8}",
        f"{latency:>10}",
        f" {part['detail']}",
    )
    return "  " + " ".join(cells)
