"""`codehub login`, `logout` and `whoami`."""

import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from codehub.cli.asked import Asked, command
from codehub.errors import CodehubError, ExitCode

if TYPE_CHECKING:
    from codehub.cli.contexts import Context
    from codehub.cli.server import Document, Server


def register(app: typer.Typer) -> None:
    for run in (login, logout, whoami):
        command(app)(run)


class BothWays(CodehubError):
    exit_code = ExitCode.USAGE


def login(
    asked: Asked,
    server: Annotated[str, typer.Argument(help="Its address (default: the codehub of this machine).")] = "",
    token: Annotated[bool, typer.Option("--token", help="With a token, asked for or read from stdin.")] = False,
    password: Annotated[bool, typer.Option("--password", help="With login and password, without a browser.")] = False,
    user: Annotated[str, typer.Option(help="The login for --password (default: is asked for).")] = "",
    admin: Annotated[bool, typer.Option("--admin", help="Also to administer: users, limits, templates.")] = False,
) -> None:
    """Log in to a server, by the browser unless told otherwise. Commands mean this server from then on.

    Example: codehub login https://codehub.example.org
    """
    from codehub.cli import contexts
    from codehub.cli.server import Server

    if token and password:
        raise BothWays("A token and a password are two ways to log in.", "Choose one.")
    url = _address(asked, server)
    name = asked.context_name or urlsplit(url).netloc
    if url.startswith("http:") and not contexts.is_loopback(url):
        typer.echo("The connection to this server is not encrypted: others can read along.", err=True)
    secret = _secret(Server(url, {}), _Way(token=token, password=password, user=user, admin=admin))
    me = Server(url, {"Authorization": f"Bearer {secret}"}).get("/me")
    before = contexts.read().named(name)
    contexts.remember(contexts.Context(name, url, me["login"], secret))
    if before is not None and before.token != secret:
        _revoke(before)
    asked.tell(_who(name, url, me), lambda: f"You are logged in to {url} as {me['login']}.")


def logout(asked: Asked) -> None:
    """Log out: the token is revoked and forgotten."""
    from codehub.cli import contexts

    context = asked.context
    gone = _revoke(context)
    contexts.forget(context.name)
    note = "" if gone else " The server did not answer: the token is only forgotten here, and ends by itself."
    asked.tell(
        {"context": context.name, "server": context.server, "revoked": gone},
        lambda: f"You are logged out of {context.server}.{note}",
    )


def whoami(asked: Asked) -> None:
    """Tell who is logged in where, and what the login is good for."""
    from codehub.cli.measures import told_time

    me = asked.server.get("/me")
    until = f" until {told_time(me['expires_at'])}" if me["expires_at"] else ""
    asked.tell(
        _who(asked.context.name, asked.server.url, me),
        lambda: f"{me['login']} at {asked.server.url}, {me['role']}; good for {', '.join(me['scopes'])}{until}",
    )


def _who(name: str, url: str, me: "Document") -> "Document":
    return {"context": name, "server": url, "me": me}


class _Way:
    """How somebody wants to log in, and what for."""

    def __init__(self, *, token: bool, password: bool, user: str, admin: bool) -> None:
        self.token = token
        self.password = password
        self.user = user
        self.scope = "admin" if admin else "workspaces"
        self.token_name = f"codehub on {socket.gethostname()}"[:100]


def _secret(server: "Server", way: _Way) -> str:
    from codehub.cli import browser_login, passwords

    if way.token:
        return passwords.ask("Token")
    if way.password:
        user = way.user or str(typer.prompt("Login", err=True))
        session, _ = server.log_in(user, passwords.ask(f"Password of {user} at {server.url}"))
        with passwords.ended(session):
            made = session.post_once("/tokens", {"name": way.token_name, "scopes": [way.scope], **LASTING})
    else:
        server.refuse_strangers()
        made = browser_login.log_in_by_browser(server, way.token_name, way.scope)
    return str(made["token"])


LASTING = {"expires_in_seconds": 90 * 86400}
"""As long as one that a browser gets for a command line."""


def _revoke(context: "Context") -> bool:
    """Whether it is gone on the server."""
    from codehub.cli.contexts import NotLoggedIn
    from codehub.cli.server import Server

    try:
        Server.of(context).post_once("/auth/logout")
    except NotLoggedIn:
        return True
    except CodehubError:
        return False
    return True


def _address(asked: Asked, server: str) -> str:
    """The server that is meant: named here, by environment or context, or the one that runs on this machine."""
    from codehub.cli import contexts

    known = contexts.read()
    context = known.named(asked.context_name or known.current or "")
    named = server or os.environ.get(contexts.SERVER, "")
    if not named and context is not None and not contexts.is_loopback(context.server):
        named = context.server
    known_here = context.server if context is not None else contexts.DEFAULT_SERVER
    return contexts.normal(named or _running_here() or known_here)


def _running_here() -> str | None:
    """Settings that cannot be used are no matter for whoever logs in elsewhere."""
    from codehub.settings import Settings
    from codehub.stack.account import current_account
    from codehub.stack.data_folder import DataFolder
    from codehub.stack.running import find_running

    with suppress(CodehubError):
        running = find_running(DataFolder(Settings.load().codehub.data_dir, current_account()))
        return running.url if running is not None else None
    return None
