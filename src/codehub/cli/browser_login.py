"""Logging in by the browser: a page of the server asks the person, and brings a code back to this machine.

`web/pages/cli_login.py` describes the exchange (RFC 8252 with PKCE)."""

import base64
import hashlib
import hmac
import os
import queue
import secrets
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

import typer

from codehub.cli.refusals import Refused, TimedOut

if TYPE_CHECKING:
    from codehub.cli.server import Document, Server

PATIENCE_SECONDS = 300.0

_DONE = "You are logged in. This window can be closed; the command line goes on."
_REFUSED = "The login was refused. This window can be closed."
_STRANGE = "This address is only for the answer to a login that the command line asked for."


def log_in_by_browser(server: "Server", token_name: str, scope: str) -> "Document":
    """The new token. Raises Refused or TimedOut."""
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(32)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    with _listening(state) as (port, answers):
        asked = {"challenge": challenge, "state": state, "port": port, "name": token_name, "scope": scope}
        _ask(f"{server.url}/cli-login?{urlencode(asked)}", challenge)
        try:
            answer = answers.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise TimedOut("Nobody answered in the browser.", "Try again, or use: codehub login --password") from None
    if "code" not in answer:
        raise Refused("The login was refused in the browser.")
    return server.post_once("/auth/codes/exchange", {"code": answer["code"], "verifier": verifier})


def _ask(address: str, challenge: str) -> None:
    digits = hashlib.sha256(challenge.encode()).hexdigest()[:8].upper()
    typer.echo(
        f"Log in in your browser, and compare this code there: {digits[:4]}-{digits[4:]}\n\n  {address}\n", err=True
    )
    if not _has_window():
        typer.echo(
            "There is no browser on this machine, and one elsewhere cannot answer to it.\n"
            "Without a browser: Ctrl-C, then codehub login --password",
            err=True,
        )
    else:
        # some of them stay in the foreground until they are closed
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        typer.echo("Waiting for the browser ...", err=True)


def _has_window() -> bool:
    """A browser in the terminal itself would take it over."""
    return sys.platform == "darwin" or any(map(os.environ.get, ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")))


@contextmanager
def _listening(state: str) -> Iterator[tuple[int, "queue.Queue[dict[str, str]]"]]:
    answers: queue.Queue[dict[str, str]] = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            answer = {name: values[0] for name, values in parse_qs(address.query).items()}
            known = hmac.compare_digest(answer.get("state", "").encode(), state.encode())
            if address.path != "/callback" or not known:
                self._say(404, _STRANGE)
                return
            self._say(200, _DONE if "code" in answer else _REFUSED)
            answers.put(answer)

        def _say(self, status: int, words: str) -> None:
            body = f"<!doctype html><meta charset=utf-8><title>codehub</title><p>{words}</p>".encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (as the library calls it)
            """The terminal is the person's."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        listener.daemon_threads = True
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        try:
            yield listener.server_address[1], answers
        finally:
            listener.shutdown()
