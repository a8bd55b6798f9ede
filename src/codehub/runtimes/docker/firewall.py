"""Two chains of codehub's own in the host's packet filter: what a workspace may send to the host, and through it.

Docker's bridge keeps neighbours apart, but leaves open whatever the host itself listens on, the networks it stands in
and a cloud's metadata address. The rules are written as a whole, at once and anew, so that doing it twice changes
nothing and no packet ever finds them half done."""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from codehub.runtimes import host
from codehub.runtimes.docker.commands import run, succeeds

LINK_LOCAL = IPv4Network("169.254.0.0/16")
"""Where every cloud has its metadata service."""
INTERFACES = Path("/sys/class/net")


@dataclass(frozen=True)
class Firewall:
    """The rules for one bridge."""

    bridge: str
    fence: Callable[[], None]
    barred: tuple[IPv4Network, ...] = ()
    """Further ranges that no workspace may reach; those that the host stands in are barred anyway."""

    @property
    def chains(self) -> dict[str, str]:
        """Our chain for each place that it is hooked into. Docker passes everything forwarded through DOCKER-USER."""
        return {"INPUT": f"{self.bridge}-host", "DOCKER-USER": f"{self.bridge}-away"}

    def obstacle(self) -> str | None:
        """Why there can be no rules here; None where there can."""
        if os.geteuid() != 0:
            return "codehub does not run as root"
        if shutil.which("iptables") is None:
            return "iptables is not installed"
        return None

    def bridge_in_sight(self) -> bool:
        """Whether codehub runs in the network namespace of the engine, where alone rules have an effect."""
        return (INTERFACES / self.bridge).exists()

    async def apply(self) -> None:
        self.fence()
        await run("iptables-restore", "--noflush", "--wait", "5", given=self.rules())
        for hook, chain in self.chains.items():
            if not await self._hooked(hook, chain):
                await self._change("-I", hook, "-i", self.bridge, "-j", chain)

    async def in_force(self) -> bool:
        """Whether both chains are hooked in. Whoever reloads the host's firewall throws them out."""
        return all([await self._hooked(hook, chain) for hook, chain in self.chains.items()])

    async def remove(self) -> None:
        for hook, chain in self.chains.items():
            while await self._hooked(hook, chain):
                await self._change("-D", hook, "-i", self.bridge, "-j", chain)
            if await succeeds("iptables", "--wait", "5", "-n", "-L", chain):
                await self._change("-F", chain)
                await self._change("-X", chain)

    def rules(self) -> str:
        """As `iptables-restore` reads them. Answers pass, for the front door calls from the host; so do questions to
        the host's name servers, wherever those are; to the host nothing else passes, and outward all but the barred."""
        to_host, away = self.chains.values()
        lines = ["*filter", f":{to_host} - [0:0]", f":{away} - [0:0]"]
        for chain in (to_host, away):
            lines.append(f"-A {chain} -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN")
            lines += [
                f"-A {chain} -d {server} -p {protocol} --dport 53 -j RETURN"
                for server in host.name_servers()
                for protocol in ("udp", "tcp")
            ]
        lines.append(f"-A {to_host} -j REJECT")
        lines += [f"-A {away} -d {network} -j REJECT" for network in self._barred()]
        return "\n".join([*lines, "COMMIT", ""])

    def _barred(self) -> Iterable[IPv4Network]:
        return dict.fromkeys([LINK_LOCAL, *host.networks(), *self.barred])

    async def _hooked(self, hook: str, chain: str) -> bool:
        return await succeeds("iptables", "--wait", "5", "-C", hook, "-i", self.bridge, "-j", chain)

    async def _change(self, *arguments: str) -> None:
        self.fence()
        await run("iptables", "--wait", "5", *arguments)
