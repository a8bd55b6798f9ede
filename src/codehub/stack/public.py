"""The public address: its socket belongs to the supervisor, so that a restart of what answers there never closes it."""

import errno
import socket

from codehub.errors import ConfigurationError, PortTaken
from codehub.proxy.tls import server_context
from codehub.settings import Settings
from codehub.settings.proxy_groups import ProxyConfig


def require_certificate(proxy: ProxyConfig) -> None:
    """One that cannot be used is told before anything is started. Raises ConfigurationError."""
    if proxy.certificate is not None:
        server_context(proxy.certificate, proxy.key)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, before anything is started: a taken port must not cost a start and a stop of everything.

    Not SO_REUSEPORT: with it a second codehub would silently take half of the visitors.
    """
    try:
        family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        where = f"{host}:{port}"
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"The address {where} is taken by another program.",
                "Stop that one, or choose another address with --listen or CODEHUB_LISTEN.",
            ) from error
        raise ConfigurationError(
            f"codehub cannot listen on {where}: {error.strerror}.", "Choose another with --listen or CODEHUB_LISTEN."
        ) from error
    listener.setblocking(False)
    return listener


def listened_on(listener: socket.socket) -> str:
    """The address that it is bound to, as it is written in settings."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def told_url(settings: Settings, listener: socket.socket) -> str:
    """Where people find it. Over TLS that is the name which the certificate is for."""
    is_by_name = settings.proxy.certificate is not None and settings.codehub.public_url is not None
    return (settings.codehub.public_url or "") if is_by_name else url_of(listener)


def url_of(listener: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = reachable_address(listener)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def reachable_address(listener: socket.socket) -> tuple[str, int]:
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104 (recognised, not bound)
