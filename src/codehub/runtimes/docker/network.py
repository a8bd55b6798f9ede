"""The network of one installation's workspaces: a bridge of its own, without traffic between those on it."""

import asyncio
import hashlib
import time
from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

import structlog

from codehub import clock
from codehub.runtimes import host
from codehub.runtimes.docker import labels
from codehub.runtimes.docker.addresses import Addresses
from codehub.runtimes.docker.api import LOOK_SECONDS, DockerApi, translated
from codehub.runtimes.docker.commands import CommandFailed
from codehub.runtimes.docker.firewall import Firewall
from codehub.runtimes.errors import RuntimeAway, RuntimeFault

RANGES = [IPv4Network(f"10.{number}.0.0/16") for number in range(64, 255)]
"""Where an installation's network may lie, unless it is told. The upper part of 10/8 is what others use least."""
FIREWALL_SECONDS = 60
"""How long rules are taken to be in force: whoever reloads the host's firewall throws them out."""
OTHER_NAMESPACE = "codehub does not run in the network namespace of the Docker engine"

log = structlog.get_logger()


class Network:
    """Made at its first use, and found again by its label. The bridge's name follows from the installation's: the
    engine refuses a second bridge of a name, so two replicas that make it at once end up with one."""

    def __init__(
        self, api: DockerApi, installation: str, subnet: IPv4Network | None, barred: tuple[IPv4Network, ...]
    ) -> None:
        self._api = api
        self._installation = installation
        self._wanted = subnet
        self.name = f"codehub-{installation}"
        self.bridge = f"ch-{hashlib.sha256(installation.encode()).hexdigest()[:12]}"
        self.firewall = Firewall(self.bridge, api.fence, barred)
        self._addresses: Addresses | None = None
        self._firewall_at: float | None = None
        self._one_at_a_time = asyncio.Lock()
        self._complaint: str | None = None

    async def take_address(self) -> str:
        """An address for a new container, on a network that is there, behind rules that are in force."""
        async with self._one_at_a_time:
            if self._addresses is None:
                self._addresses = await self._open()
            await self._guard()
            address = self._addresses.take(clock.now())
        if address is None:
            raise RuntimeFault("every address of the workspaces' network is held or was within the last hour")
        return address

    def hold(self, address: str) -> None:
        if self._addresses is not None:
            self._addresses.hold(address)

    def release(self, address: str) -> None:
        if self._addresses is not None:
            self._addresses.release(address, clock.now())

    def forget(self) -> None:
        """Something about it is not as remembered: look again at the next use."""
        self._addresses = None
        self._firewall_at = None

    async def complaint(self) -> str | None:
        """Why workspaces can reach what they should not; None where they cannot."""
        obstacle = self.firewall.obstacle()
        if obstacle or not await self._find():
            return obstacle
        if not self.firewall.bridge_in_sight():
            return OTHER_NAMESPACE
        return None if await self.firewall.in_force() else "its rules are not in force; they come with the next start"

    async def remove(self) -> None:
        """For good: the rules and the network. No container may be left on it."""
        if self.firewall.obstacle() is None:
            await self.firewall.remove()
        found = await self._find()
        if found:
            async with translated():
                await (await self._api.client.networks.get(found["Id"])).delete()
        self.forget()

    async def _open(self) -> Addresses:
        found = await self._find() or await self._make()
        addresses = Addresses(IPv4Network(found["IPAM"]["Config"][0]["Subnet"]))
        for container in await self._api.containers(labels.own_instances(self._installation)):
            addresses.hold(container["Labels"][labels.ADDRESS])
        return addresses

    async def _find(self) -> dict[str, Any] | None:
        async with translated(LOOK_SECONDS):
            found = await self._api.client.networks.list(
                filters={"label": [f"{labels.INSTALLATION}={self._installation}"]}
            )
        return found[0] if found else None

    async def _make(self) -> dict[str, Any]:
        refused = ""
        for subnet in self._candidates():
            try:
                async with translated():
                    await self._api.client.networks.create(self._configuration(subnet))
            except RuntimeAway:
                raise
            except RuntimeFault as fault:  # the range is taken, or another replica was quicker
                refused = str(fault)
            found = await self._find()
            if found:
                return found
        raise RuntimeFault(f"no network for workspaces could be made: {refused}")

    def _candidates(self) -> Iterator[IPv4Network]:
        """From a place that follows from the bridge's name, so that installations side by side seldom meet; never over
        a range that the host reaches otherwise."""
        if self._wanted:
            yield self._wanted
            return
        start = int(self.bridge[-4:], 16) % len(RANGES)
        taken = [*host.networks(), *(IPv4Network(server) for server in host.name_servers())]
        for subnet in RANGES[start:] + RANGES[:start]:
            if not any(subnet.overlaps(other) for other in taken):
                yield subnet

    def _configuration(self, subnet: IPv4Network) -> dict[str, Any]:
        return {
            "Name": self.name,
            "CheckDuplicate": True,
            "Driver": "bridge",
            "Labels": {labels.INSTALLATION: self._installation},
            "IPAM": {"Config": [{"Subnet": str(subnet), "Gateway": str(subnet[1])}]},
            "Options": {
                "com.docker.network.bridge.name": self.bridge,
                "com.docker.network.bridge.enable_icc": "false",
            },
        }

    async def _guard(self) -> None:
        """Have the rules in force. Where there can be none a start goes on, and `complaint` says what is open."""
        if self._firewall_at is not None and time.monotonic() - self._firewall_at < FIREWALL_SECONDS:
            return
        complaint = self.firewall.obstacle()
        if complaint is None and not self.firewall.bridge_in_sight():
            complaint = OTHER_NAMESPACE
        if complaint is None:
            try:
                await self.firewall.apply()
            except CommandFailed as error:
                complaint = str(error)
        self._firewall_at = time.monotonic()
        if complaint and complaint != self._complaint:
            log.warning("workspaces are not fenced in by the host's firewall", reason=complaint)
        self._complaint = complaint
