"""What counts as a network of this machine's own, asked in a network namespace whose routes are made for it."""

import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from ipaddress import IPv4Network

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make network namespaces")

ASK = "from codehub.runtimes import host; print(*host.networks())"
Networks = Callable[..., set[IPv4Network]]


@pytest.fixture
def networks() -> Iterator[Networks]:
    """The networks of a machine with one interface, which stands in 203.0.113.0/24, and these further routes."""
    name = f"cht{secrets.token_hex(4)}"

    def ip(*arguments: str) -> None:
        subprocess.run(["ip", *arguments], check=True)

    def with_routes(*routes: str) -> set[IPv4Network]:
        for route in routes:
            ip("-n", name, "route", "add", *route.split())
        asked = [sys.executable, "-c", ASK]
        said = subprocess.run(["ip", "netns", "exec", name, *asked], check=True, capture_output=True, text=True).stdout
        return set(map(IPv4Network, said.split()))

    ip("netns", "add", name)
    try:
        ip("-n", name, "link", "add", "one", "type", "bridge")
        ip("-n", name, "addr", "add", "203.0.113.7/24", "dev", "one")
        ip("-n", name, "link", "set", "one", "up")
        yield with_routes
    finally:
        ip("netns", "del", name)


OWN = IPv4Network("203.0.113.0/24")


def test_a_machine_stands_in_the_networks_that_it_has_addresses_in(networks: Networks) -> None:
    assert networks("default via 203.0.113.1") == {OWN}


def test_private_ranges_count_also_behind_a_gateway(networks: Networks) -> None:
    behind = {"10.8.0.0/16", "192.168.4.0/24", "100.64.0.0/10"}
    assert networks(*(f"{each} via 203.0.113.1" for each in behind)) == {OWN, *map(IPv4Network, behind)}


@pytest.mark.parametrize("pieces", [("0.0.0.0/1", "128.0.0.0/1"), ("8.0.0.0/7", "11.0.0.0/8", "64.0.0.0/2")])
def test_a_vpn_that_takes_the_internet_in_pieces_makes_it_no_network_of_the_machine(
    networks: Networks, pieces: tuple[str, ...]
) -> None:
    assert networks(*(f"{piece} dev one" for piece in pieces)) == {OWN}
