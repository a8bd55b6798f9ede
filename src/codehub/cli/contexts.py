"""Where a person is logged in: servers with their tokens, in one file that nobody else can read."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from codehub.errors import CodehubError, ConfigurationError, ExitCode

SERVER = "CODEHUB_SERVER"
TOKEN = "CODEHUB_TOKEN"  # noqa: S105 (the name of the variable)
DEFAULT_SERVER = "http://127.0.0.1:8080"
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
UNIX = "unix:"
"""How the address of a socket begins, which a workspace is given to speak for itself."""


class NotLoggedIn(CodehubError):
    exit_code = ExitCode.NOT_LOGGED_IN


@dataclass(frozen=True, slots=True)
class Context:
    """One server, and who one is there."""

    name: str
    server: str
    login: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Known:
    """All of them. `current` is the one that commands mean when none is named."""

    current: str | None = None
    contexts: tuple[Context, ...] = ()

    def named(self, name: str) -> Context | None:
        return next((each for each in self.contexts if each.name == name), None)


def choose(name: str) -> Context:
    """The one of this name; without a name that of the environment, or the current one. Raises NotLoggedIn."""
    if name:
        return named(name)
    known = read()
    server, token = os.environ.get(SERVER, ""), os.environ.get(TOKEN, "")
    if token:
        return Context(SERVER, normal(server or DEFAULT_SERVER), "", token)
    if server:
        found = next((each for each in known.contexts if each.server == normal(server)), None)
        if found is None:
            raise NotLoggedIn(f"You are not logged in to {server}.", f"Set {TOKEN}, or: codehub login {server}")
        return found
    found = known.named(known.current or "")
    if found is None:
        raise NotLoggedIn("You are not logged in to any codehub.", "Log in with: codehub login")
    return found


def named(name: str) -> Context:
    known = read()
    found = known.named(name)
    if found is None:
        names = ", ".join(each.name for each in known.contexts)
        raise NotLoggedIn(
            f"There is no context '{name}'.", f"There is: {names}." if names else "Log in with: codehub login"
        )
    return found


def normal(server: str) -> str:
    """An address as people write it, as a URL: https, unless it is this machine. That of a socket stays as it is."""
    if server.startswith(f"{UNIX}/"):
        return server
    written = server if "://" in server else f"//{server}"
    try:
        parts = urlsplit(written)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in {"", "http", "https"} or parts.username is not None:
        raise ConfigurationError(
            f"'{server}' is not the address of a server.", "Write it as https://codehub.example.org"
        )
    scheme = parts.scheme or ("http" if host in LOOPBACK else "https")
    return f"{scheme}://{parts.netloc}{parts.path}".rstrip("/")


def is_loopback(server: str) -> bool:
    return urlsplit(server).hostname in LOOPBACK


def remember(context: Context) -> None:
    """Add it, or put it in the place of the one of its name; it is the current one from now on."""
    with _changing() as known:
        others = tuple(each for each in known.contexts if each.name != context.name)
        _write(Known(context.name, (*others, context)))


def use(name: str) -> None:
    named(name)
    with _changing() as known:
        _write(Known(name, known.contexts))


def forget(name: str) -> None:
    with _changing() as known:
        left = tuple(each for each in known.contexts if each.name != name)
        _write(Known(None if known.current == name else known.current, left))


def read() -> Known:
    try:
        document = json.loads(_file().read_text())
        contexts = tuple(Context(name, **each) for name, each in document["contexts"].items())
        return Known(document["current"], contexts)
    except FileNotFoundError:
        return Known()
    except OSError as error:
        raise ConfigurationError(f"{_file()} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ConfigurationError(f"{_file()} is damaged.", "Remove it, and log in again: codehub login") from error


@contextmanager
def _changing() -> Iterator[Known]:
    """What is known, while nobody else changes it: two commands may log in at once."""
    folder = _file().parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield read()
    finally:
        os.close(lock)


def _write(known: Known) -> None:
    """The old file or the new one, never half of either, and never readable by others."""
    contexts = {each.name: {"server": each.server, "login": each.login, "token": each.token} for each in known.contexts}
    draft = _file().with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 (with its mode)
        json.dump({"current": known.current, "contexts": contexts}, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(_file())


def _file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "codehub" / "contexts.json"
