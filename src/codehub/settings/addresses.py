"""URLs and addresses, checked by their form, so that a wrong one stops the start instead of failing somewhere later.

Each function gives the address back in the one form that the rest of the code relies on, or raises `ValueError`; the
caller knows the variable and says what is allowed.
"""

import ipaddress
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit


def database_url(text: str) -> str:
    """A PostgreSQL URL as `postgresql://...`, whichever of the usual schemes it was written with.

    The database must be named: without a name PostgreSQL would fall back to one called like the user, and the schema
    would land where nobody expects it.
    """
    scheme, separator, rest = text.partition("://")
    if scheme not in {"postgresql", "postgres", "postgresql+asyncpg"} or not separator:
        raise ValueError("not a PostgreSQL URL")
    parts = urlsplit(f"postgresql://{rest}")
    if not (parts.hostname or "host" in parse_qs(parts.query)) or not parts.path.strip("/") or parts.port == 0:
        raise ValueError("host or database missing")
    return f"postgresql://{rest}"


def redis_url(text: str) -> str:
    """A Redis URL: `redis://` and `rediss://` (TLS) name a host, `unix://` the path of a socket."""
    parts = urlsplit(text)
    match parts.scheme:
        case "redis" | "rediss" if parts.hostname and parts.port != 0 and parts.path.strip("/").isdecimal():
            return text
        case "redis" | "rediss" if parts.hostname and parts.port != 0 and not parts.path.strip("/"):
            return text
        case "unix" if parts.path.startswith("/") and len(parts.path) > 1:
            return text
        case _:
            raise ValueError("not a Redis URL")


def archive_url(text: str) -> str:
    """Where archives are kept: a directory by its absolute path, or a bucket and a prefix in it."""
    parts = urlsplit(text)
    match parts.scheme:
        case "file" if not parts.netloc and Path(unquote(parts.path)).is_absolute() and not parts.query:
            return text
        case "s3" if parts.netloc and "@" not in parts.netloc and ":" not in parts.netloc and not parts.query:
            return text.rstrip("/")
        case _:
            raise ValueError("not an archive URL")


def http_url(text: str) -> str:
    """An `http://` or `https://` address of a server, without a path."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0 or parts.path.strip("/"):
        raise ValueError("not an HTTP address")
    return text.rstrip("/")


def domain_name(text: str) -> str:
    """A domain name in lower case, as `localhost` or `dev.example.org`."""
    name = text.lower().rstrip(".")
    label = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    if not re.fullmatch(rf"{label}(?:\.{label})*", name) or len(name) > 220 or is_address(name):
        raise ValueError("not a domain name")
    return name


def is_address(host: str) -> bool:
    """Whether this names a machine by its number, which nobody can point elsewhere."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def networks(text: str) -> str:
    """Addresses and networks, separated by commas: `10.0.0.7, 192.0.2.0/24`."""
    for each in filter(None, text.split(",")):
        ipaddress.ip_network(each.strip())
    return text


def http_endpoint(text: str) -> str:
    """An `http://` or `https://` address below which something is found."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0 or parts.query:
        raise ValueError("not an HTTP address")
    return text.rstrip("/")


def split_listen(text: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:8080` or `[::1]:8080`. Port 0 lets the system choose a free one."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.port is None or parts.username is not None or parts.path or parts.query:
        raise ValueError("host or port missing")
    return parts.hostname, parts.port


def listen_address(text: str) -> str:
    """An address to listen on, as it was written."""
    split_listen(text)
    return text


def absolute_path(path: Path) -> Path:
    """The path with `~` replaced. A relative one would mean another folder for every place a command is run from."""
    expanded = path.expanduser()
    if not expanded.is_absolute():
        raise ValueError("relative")
    return expanded
