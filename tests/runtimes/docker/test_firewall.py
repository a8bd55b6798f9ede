"""The rules on the host: written twice as once, gone without a trace, and missed where they are not in force."""

import asyncio
import uuid
from ipaddress import IPv4Network

from codehub.runtimes import host
from codehub.runtimes.docker.firewall import Firewall
from tests.runtimes.docker.inside import House, root_only


async def rules_of(firewall: Firewall) -> list[str]:
    process = await asyncio.create_subprocess_exec("iptables", "--wait", "5", "-S", stdout=asyncio.subprocess.PIPE)
    listed, _ = await process.communicate()
    return [line for line in listed.decode().splitlines() if firewall.bridge in line]


@root_only
async def test_rules_written_twice_are_there_once_and_gone_at_once() -> None:
    firewall = Firewall(f"ch-{uuid.uuid4().hex[:12]}", lambda: None)
    await firewall.apply()
    once = await rules_of(firewall)
    assert await firewall.in_force()
    await firewall.apply()
    assert await rules_of(firewall) == once
    await firewall.remove()
    await firewall.remove()
    assert await rules_of(firewall) == []
    assert not await firewall.in_force()


async def test_further_ranges_can_be_barred() -> None:
    firewall = Firewall("ch-none", lambda: None, barred=(IPv4Network("172.30.0.0/16"),))
    assert "-d 172.30.0.0/16 -j REJECT" in firewall.rules()


async def test_the_hosts_name_servers_come_before_what_is_barred() -> None:
    rules = Firewall("ch-none", lambda: None).rules().splitlines()
    first_refusal = min(place for place, rule in enumerate(rules) if rule.endswith("-away -d 169.254.0.0/16 -j REJECT"))
    for server in host.name_servers():
        assert rules.index(f"-A ch-none-away -d {server} -p udp --dport 53 -j RETURN") < first_refusal


@root_only
async def test_rules_that_somebody_threw_out_are_missed_and_come_back_with_a_start(house: House) -> None:
    await house.workspace()
    network = house.runtime._network
    assert await network.complaint() is None
    await network.firewall.remove()
    assert "not in force" in str(await network.complaint())
    network.forget()  # as time does
    await house.workspace()
    assert await network.complaint() is None
