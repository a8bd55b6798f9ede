"""What needs a password: it is asked for on the terminal, or read from stdin line by line, and never kept."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from codehub.errors import CodehubError, ExitCode

if TYPE_CHECKING:
    from codehub.cli.asked import Asked
    from codehub.cli.server import Server


class NothingGiven(CodehubError):
    exit_code = ExitCode.USAGE


def ask(what: str) -> str:
    """A secret. On a terminal it is not shown while it is typed."""
    if sys.stdin.isatty():
        return str(typer.prompt(what, hide_input=True, err=True))
    given = sys.stdin.readline().rstrip("\r\n")
    if not given:
        raise NothingGiven(f"{what} is read from the standard input, and nothing came.")
    return given


@contextmanager
def proven(asked: "Asked") -> Iterator["Server"]:
    """The server, for as long as somebody is logged in with the password; a token may not do this."""
    login = asked.server.get("/me")["login"]
    server, _ = asked.server.log_in(login, ask(f"Password of {login} at {asked.server.url}"))
    with ended(server):
        yield server


@contextmanager
def ended(server: "Server") -> Iterator[None]:
    """The session ends with the block, whatever happens in it."""
    try:
        yield
    finally:
        with suppress(CodehubError):
            server.post_once("/auth/logout")
