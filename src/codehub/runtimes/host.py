"""What this machine's own network looks like: the ranges it stands in and the name servers it asks."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

ROUTES = Path("/proc/net/route")
ADDRESSES = Path("/proc/net/fib_trie")
RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


SHARED = IPv4Network("100.64.0.0/10")
"""Used behind the address translation of providers and by overlay networks, and nowhere on the internet."""
WIDEST_NETWORK = 8


def networks() -> list[IPv4Network]:
    """Every range that the machine stands in or has a private way into, those of Docker's bridges among them. Other
    routes are ways to the internet, however they divide it: a VPN that takes all of it names 0.0.0.0/1 and its other
    half, or a hundred pieces."""
    lines = [line.split() for line in ROUTES.read_text().splitlines()[1:]]
    found = [IPv4Network((_little_endian(fields[1]), str(_little_endian(fields[7])))) for fields in lines]
    own = own_addresses()
    return [network for network in found if _is_private(network) or _stands_in(network, own)]


def own_addresses() -> list[IPv4Address]:
    return [IPv4Address(found) for found in re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", ADDRESSES.read_text())]


def _is_private(network: IPv4Network) -> bool:
    return network.is_private or network.subnet_of(SHARED)


def _stands_in(network: IPv4Network, own: Iterable[IPv4Address]) -> bool:
    return network.prefixlen >= WIDEST_NETWORK and any(address in network for address in own)


def name_servers() -> list[IPv4Address]:
    """Those that a container asks itself. One on loopback is asked by the engine, on the container's behalf."""
    found = []
    for path in RESOLVERS:
        for line in path.read_text().splitlines() if path.exists() else []:
            keyword, _, value = line.partition(" ")
            if keyword == "nameserver" and ":" not in value and not (server := IPv4Address(value.strip())).is_loopback:
                found.append(server)
    return list(dict.fromkeys(found))


def _little_endian(text: str) -> IPv4Address:
    return IPv4Address(bytes.fromhex(text)[::-1])
