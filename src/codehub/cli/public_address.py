"""What the options of `codehub up` say about where people reach it, as settings."""

import os
from dataclasses import dataclass
from pathlib import Path

import typer

from codehub.settings import Settings
from codehub.settings.origins import is_open_without_tls

EVERYWHERE = "0.0.0.0"  # noqa: S104 (asked for by whoever names a domain and a certificate)
PORTS = {"http": 80, "https": 443}
WITHOUT_TLS = (
    "Warning: others reach codehub without TLS. Whoever is on the way reads passwords and files, and VS Code works in "
    "part only: browsers do not take such an address for a secure context."
)


@dataclass(frozen=True)
class PublicAddress:
    listen: str = ""
    domain: str = ""
    certificate: Path | None = None
    key: Path | None = None
    insecure: bool = False

    def settings(self) -> Settings:
        """With what was asked for, which is stronger than whatever is set elsewhere. Raises ConfigurationError."""
        given = {
            "CODEHUB_LISTEN": self.listen,
            "PROXY_DOMAIN": self.domain,
            "PROXY_CERTIFICATE": str(self.certificate or ""),
            "PROXY_KEY": str(self.key or ""),
            "CODEHUB_INSECURE": "true" if self.insecure else "",
        }
        given = {name: value for name, value in given.items() if value}
        if self.domain:
            given |= _found_at(Settings.gather({**os.environ, **given}))
        return Settings.load({**os.environ, **given})


def _found_at(known: Settings) -> dict[str, str]:
    """For a domain without more words: codehub is at `codehub` below it, so that one wildcard record and one wildcard
    certificate are enough, on the usual port. Without a certificate a proxy in front has it, and the usual port."""
    is_in_front = known.proxy.certificate is None and not known.codehub.insecure
    scheme = "https" if is_in_front or known.proxy.certificate is not None else "http"
    found = {}
    port = PORTS[scheme]
    if not is_in_front and "CODEHUB_LISTEN" in known.sources:
        port = known.codehub.listen_address[1]
    elif not is_in_front:
        found["CODEHUB_LISTEN"] = f"{EVERYWHERE}:{port}"
    if known.codehub.public_url is None:
        suffix = "" if port == PORTS[scheme] else f":{port}"
        found["CODEHUB_PUBLIC_URL"] = f"{scheme}://codehub.{known.proxy.domain}{suffix}"
    return found


def warn_without_tls(settings: Settings) -> None:
    if is_open_without_tls(settings.codehub, settings.proxy):
        typer.echo(WITHOUT_TLS, err=True)
