"""A workspace is a hostile neighbour (contract 13): what it cannot do, tried from inside."""

from ipaddress import IPv4Interface

from codehub.runtimes.docker import container
from codehub.runtimes.protocols import InstanceState
from tests.runtimes.docker.inside import LIMITS, House, root_only
from tests.runtimes.docker.outside import address_of, host_addresses, outside_world, service_of_the_host
from tests.runtimes.docker.tidy import fetch

METADATA = "169.254.169.254"


async def test_its_processes_have_no_rights(house: House) -> None:
    workspace = await house.workspace()
    assert await house.says(workspace, "id -u; id -g; id -G") == "1000\n1000\n1000"
    for process in ("1", "self"):  # what the engine started, and what came later
        status = dict(
            line.split(":\t", 1)
            for line in (await house.says(workspace, f"cat /proc/{process}/status")).splitlines()
            if ":\t" in line
        )
        assert {status[each] for each in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (status["NoNewPrivs"], status["Seccomp"], status["Uid"].split()) == ("1", "2", ["1000"] * 4)


async def test_it_writes_only_to_its_home_and_to_a_limited_tmp(house: House) -> None:
    workspace = await house.workspace()
    for place in ("/bin", "/etc", "/home", "/", "/proc/sys/kernel", "/sys"):
        code, _ = await house.run(workspace, f"touch {place}/x")
        assert code != 0, place
    assert "Read-only" in (await house.run(workspace, "touch /bin/x"))[1]
    await house.says(workspace, "touch ~/x /home/coder/y /tmp/x")
    await house.says(workspace, "cat /bin/busybox > /tmp/busybox && chmod +x /tmp/busybox && /tmp/busybox id")
    code, said = await house.run(workspace, "dd if=/dev/zero of=/tmp/big bs=1M count=32")
    assert (code, "No space left" in said) == (1, True)


async def test_it_sees_nothing_of_the_host(house: House) -> None:
    workspace = await house.workspace()
    seen = await house.inspect(workspace)
    assert [(mount["Type"], mount["Destination"]) for mount in seen["Mounts"]] == [("volume", container.HOME)]
    for path in ("/var/run/docker.sock", "/run/docker.sock", "/dev/mem", "/dev/sda", "/dev/vda"):
        code, _ = await house.run(workspace, f"ls {path}")
        assert code != 0, path
    settings = seen["HostConfig"]
    assert not settings["Privileged"]
    assert not settings["Devices"]
    assert (settings["PidMode"], settings["UTSMode"], settings["IpcMode"]) == ("", "", "private")
    assert not settings["PortBindings"]
    assert not settings["PublishAllPorts"]


async def test_its_limits_are_set(house: House) -> None:
    workspace = await house.workspace()
    settings = (await house.inspect(workspace))["HostConfig"]
    assert settings["Memory"] == settings["MemorySwap"] == LIMITS.memory_bytes
    assert settings["NanoCpus"] == LIMITS.cpus * 1e9
    assert settings["PidsLimit"] == LIMITS.pids
    assert settings["LogConfig"] == {"Type": "json-file", "Config": {"max-size": "1048576", "max-file": "3"}}
    assert settings["RestartPolicy"]["Name"] == "no"
    assert await house.says(workspace, "ulimit -Hn; ulimit -Hc") == f"{container.OPEN_FILES}\n0"
    stats = await house.runtime.instances.stats(workspace.id)
    assert (stats.memory_limit_bytes, stats.cpus_limit) == (LIMITS.memory_bytes, LIMITS.cpus)


async def test_too_much_memory_kills_who_takes_it_and_nobody_else(house: House) -> None:
    workspace, neighbour = await house.workspace(), await house.workspace()
    code, _ = await house.run(workspace, "dd if=/dev/zero of=/dev/null bs=200M count=1")
    assert code == 137
    assert await house.runtime.instances.probe(neighbour)
    assert {each.state for each in await house.runtime.instances.list()} == {InstanceState.RUNNING}


async def test_too_many_processes_are_refused_and_nobody_else_suffers(house: House) -> None:
    workspace, neighbour = await house.workspace(), await house.workspace()
    code, said = await house.run(workspace, "i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done")
    assert (code, "can't fork" in said) == (2, True)
    assert (await house.runtime.instances.stats(workspace.id)).pids <= LIMITS.pids
    assert await house.says(neighbour, "id -u") == "1000"
    assert await house.runtime.instances.probe(neighbour)


async def test_neighbours_cannot_talk(house: House) -> None:
    workspace, neighbour = await house.workspace(), await house.workspace()
    assert await house.reaches(workspace, "127.0.0.1", 8080)
    assert await fetch(neighbour, "/starts") == b"started\n"
    assert not await house.reaches(workspace, address_of(neighbour), 8080)
    assert not await house.reaches(neighbour, address_of(workspace), 8080)


@root_only
async def test_the_host_is_closed_to_it_by_our_rules(house: House) -> None:
    workspace = await house.workspace()
    gateway = str(IPv4Interface(f"{address_of(workspace)}/16").network[1])
    async with service_of_the_host() as port:
        for address in {gateway, *await host_addresses()}:
            assert not await house.reaches(workspace, address, port), address
        await house.runtime._network.firewall.remove()
        assert await house.reaches(workspace, gateway, port)  # so it was the rules
        assert any("this host" in finding for finding in await house.runtime.findings())


@root_only
async def test_the_metadata_address_is_refused_at_once(house: House) -> None:
    workspace = await house.workspace()
    code, said = await house.run(workspace, f"nc -w 5 {METADATA} 80 < /dev/null")
    assert (code, "refused" in said) == (1, True)


@root_only
async def test_names_are_resolved_and_the_world_outside_is_reached(house: House) -> None:
    workspace = await house.workspace()
    assert address_of(workspace) in await house.says(workspace, f"nslookup {workspace.name} 127.0.0.11")
    async with outside_world() as (address, port):
        assert await house.reaches(workspace, address, port)


@root_only
async def test_a_network_that_is_barred_is_not_reached(house: House) -> None:
    """The same place as above, once the host has a route of its own into it and the rules were written anew."""
    workspace = await house.workspace()
    async with outside_world() as (address, port):
        house.runtime._network.forget()
        await house.workspace()
        assert not await house.reaches(workspace, address, port)
