"""Where a visitor comes from: the other end of the connection, unless that is a proxy which is trusted to say."""

import ipaddress
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TrustedProxies:
    def __init__(self, networks: Iterable[str]) -> None:
        self._networks: tuple[Network, ...] = tuple(ipaddress.ip_network(each, strict=False) for each in networks)

    def trusts(self, address: str) -> bool:
        """Whether what it says of others is believed."""
        if not self._networks:
            return False
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed.version == network.version and parsed in network for network in self._networks)

    def visitor(self, peer: str, forwarded_for: bytes) -> str:
        """The last address in the chain that is no trusted proxy itself; whatever stands before it anybody may have
        written. The peer's own where the chain says nothing that can be read."""
        for part in reversed(forwarded_for.decode("latin-1").split(",")):
            address = part.strip()
            if not _is_address(address):
                return peer
            if not self.trusts(address):
                return address
            peer = address
        return peer


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
