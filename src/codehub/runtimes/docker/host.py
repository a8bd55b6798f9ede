"""What this machine's own network looks like: the ranges it stands in and the name servers it asks."""

from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

ROUTES = Path("/proc/net/route")
RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


def networks() -> list[IPv4Network]:
    """Every range that the machine has a route of its own into, those of Docker's bridges among them."""
    lines = [line.split() for line in ROUTES.read_text().splitlines()[1:]]
    found = [IPv4Network((_little_endian(fields[1]), str(_little_endian(fields[7])))) for fields in lines]
    return [network for network in found if network.prefixlen > 0]  # 0 is the default route


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
