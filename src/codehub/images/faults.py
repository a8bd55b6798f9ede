"""Why a build or an installation failed, in a sentence.

The words of apt, pip, npm and the engine are all there is to go by; they are read here and nowhere else.
"""

import re
from collections.abc import Iterable

from codehub.errors import CodehubError, DiskFull

SHOWN_LINES = 8


class BuildFailed(CodehubError):
    """An image could not be built, or an IDE not installed."""


class NoNetwork(BuildFailed):
    """The places that packages come from cannot be reached. Another attempt may succeed."""


DISK = r"no space left on device|ENOSPC|not enough free space"
CERTIFICATE = (
    r"certificate verify failed|CERTIFICATE_VERIFY_FAILED|self.signed certificate|unable to get (local )?issuer|x509:"
    r"|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|certificate is NOT trusted"
)
NETWORK = (
    r"temporary failure (in name )?resol|could not resolve|name or service not known|no such host|ENOTFOUND"
    r"|network is unreachable|ENETUNREACH|connection timed out|ETIMEDOUT|i/o timeout|EAI_AGAIN|could not connect"
    r"|NewConnectionError|failed to establish a new connection|connection (refused|failed)|ECONNREFUSED|ECONNRESET"
)
HASH = r"THESE PACKAGES DO NOT MATCH THE HASHES|computed checksum did NOT match|EINTEGRITY"
MEMORY = r"\bKilled\b|out of memory|cannot allocate memory|returned a non-zero code: 137"

# The first that matches wins.
CAUSES: tuple[tuple[str, type[CodehubError], str, str], ...] = (
    (
        DISK,
        DiskFull,
        "The disk is full.",
        "Make room (docker system prune frees what no container uses) and try again; it goes on where it stopped.",
    ),
    (
        CERTIFICATE,
        BuildFailed,
        "A certificate on the way to the packages is not trusted.",
        "Behind an intercepting proxy, add its certificate (update-ca-certificates) or name a bundle in SSL_CERT_FILE.",
    ),
    (
        NETWORK,
        NoNetwork,
        "The place that packages come from cannot be reached.",
        "Check the network, and the mirrors and proxies of apt, pip and npm. Another attempt goes on from here.",
    ),
    (
        HASH,
        BuildFailed,
        "A package is not the one that codehub was made with: its hash differs.",
        "Look at the mirror that it came from.",
    ),
    (MEMORY, BuildFailed, "The machine ran out of memory.", "Compiling needs about 2 GB."),
)


def explain(what: str, lines: Iterable[str]) -> CodehubError:
    """The error for a failure that left these words, the last lines of them included."""
    said = [line for line in lines if line.strip()]
    last = "\n".join(f"  {line}" for line in said[-SHOWN_LINES:])
    everything = "\n".join(said)
    for pattern, kind, cause, remedy in CAUSES:
        if re.search(pattern, everything, re.IGNORECASE):
            return kind(f"{what} {cause}", f"{remedy}\n{last}")
    return BuildFailed(f"{what} It said:\n{last}")
