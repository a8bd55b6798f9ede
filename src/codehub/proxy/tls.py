"""TLS of the front door's own: a certificate as visitors are shown it, and what it is good for."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from codehub.errors import ConfigurationError

_EXPIRED, _NOT_YET, _OTHER_NAME = 10, 9, 62
_WHY = {_EXPIRED: "has expired", _NOT_YET: "is not good yet"}


def server_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Raises ConfigurationError where the files are not to be read, are no certificate, or do not fit together."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        # Nobody is there to be asked for a passphrase: an empty one fails, where none at all would wait for ever.
        context.load_cert_chain(certificate, key, password="")
    except OSError as error:  # as those of TLS are, too
        named = f"{certificate} and {key}" if key is not None else str(certificate)
        raise ConfigurationError(
            f"The certificate cannot be used ({named}): {error.strerror or error}.",
            "PROXY_CERTIFICATE and PROXY_KEY are files in PEM that this user may read and that belong together.",
        ) from error
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True)
class Presented:
    """A certificate that a visitor has accepted, who trusts whoever made it."""

    good_until: datetime
    is_trusted_here: bool
    """Whether this machine's own authorities lead to it, as they have to in browsers."""


def present(certificate: Path, key: Path | None, name: str) -> Presented:
    """Show it to a visitor who asks for this name. Raises ConfigurationError where they would not accept it."""
    server = server_context(certificate, key)
    visitor = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    visitor.load_verify_locations(certificate)
    visitor.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        shown = _shake_hands(server, visitor, name).getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        why = _WHY.get(error.verify_code) or f"is not for {name}"
        if error.verify_code not in {*_WHY, _OTHER_NAME}:
            why = f"is not accepted: {error.verify_message}"
        raise ConfigurationError(
            f"The certificate {certificate} {why}.", "Get another one, and set PROXY_CERTIFICATE and PROXY_KEY to it."
        ) from error
    until = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(shown["notAfter"])), UTC)
    return Presented(until, _is_trusted(server, name))


def _is_trusted(server: ssl.SSLContext, name: str) -> bool:
    try:
        _shake_hands(server, ssl.create_default_context(), name)
    except ssl.SSLError:
        return False
    return True


def _shake_hands(server: ssl.SSLContext, visitor: ssl.SSLContext, name: str) -> ssl.SSLObject:
    """The visitor's side, when both have agreed; no connection is needed for that."""
    to_server, to_visitor = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_server, to_visitor, server_side=True)
    theirs = visitor.wrap_bio(to_visitor, to_server, server_hostname=name)
    waits = True
    while waits:
        waits = False
        for side in (theirs, ours):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                waits = True
    return theirs
