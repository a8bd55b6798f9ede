"""A workspace is a hostile neighbour (contract 13): what it cannot do, tried from inside."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from codehub.runtimes.local import limits, network
from codehub.runtimes.local.process import Process, children
from tests.runtimes.docker.outside import host_addresses, outside_world, service_of_the_host
from tests.runtimes.local.place import LIMITS, Place, inside, refuses

METADATA = "169.254.169.254"
IS_ROOT = os.geteuid() == 0
CONNECTED = network.obstacle() is None
CONNECT = "python3 -c 'import socket; socket.create_connection((\"{}\", {}), 3)'"
needs_network = pytest.mark.skipif(not CONNECTED, reason=f"no network here: {network.obstacle()}")
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can do this")


def of_process(process: Process, file: str) -> str:
    return Path(f"/proc/{process.pid}/{file}").read_text()


def namespace(pid: int, kind: str) -> Path:
    return Path(f"/proc/{pid}/ns/{kind}").readlink()


async def test_its_processes_have_no_rights(here: Place) -> None:
    workspace = await here.workspace()
    kept = "" if IS_ROOT or set(os.getgroups()) <= {os.getegid()} else ",65534"
    assert await inside(workspace, "id") == f"uid=1000(coder) gid=1000(coder) groups=1000(coder){kept}"
    for process in ("1", "self"):  # what holds the namespace, and what runs in it
        lines = (await inside(workspace, f"cat /proc/{process}/status")).splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        assert {status[each] for each in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (status["NoNewPrivs"], status["Uid"].split()) == ("1", ["1000"] * 4)
    assert await refuses(workspace, "unshare --user true")
    assert await refuses(workspace, "unshare --net true")
    assert await refuses(workspace, "mount -t tmpfs none /tmp")


async def test_its_environment_and_name_are_its_own(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "secret")
    spec = await here.spec(COLOUR="a b\nc", LOGNAME="me")
    await here.open().instances.start(spec)
    workspace = await here.answering(spec.name)
    seen = await inside(workspace, "env")
    assert "COLOUR=a b\nc\n" in seen
    assert "GREETING=hello\n" in seen
    assert "LOGNAME=me\n" in seen
    assert "secret" not in seen
    assert await inside(workspace, "hostname") == f"ws-{spec.workspace_id.hex[:8]}"
    assert await inside(workspace, "pwd") == "/home/coder"


async def test_a_login_shell_finds_the_same_programs(here: Place) -> None:
    workspace = await here.workspace()
    given = await inside(workspace, "echo $PATH")
    for shell in ("bash -lc", "bash -lic", "sh -lc"):
        assert await inside(workspace, f"{shell} 'echo $PATH' 2>/dev/null") == given, shell


async def test_it_writes_only_to_its_home_and_to_limited_temporary_folders(here: Place) -> None:
    workspace = await here.workspace()
    tool = here.record(workspace).plan.tool
    for place in ("/", "/usr", "/etc", "/home", "/dev", "/var", "/proc/sys/kernel", str(tool)):
        assert await refuses(workspace, f"touch {place}/x"), place
    for place in ("/home/coder", "/tmp", "/var/tmp", "/run", "/dev/shm"):
        assert await inside(workspace, f"touch {place}/x") == "", place
    for place in ("/tmp", "/run", "/dev/shm"):
        full = await inside(workspace, f"head -c {LIMITS.memory_bytes // 2} /dev/zero > {place}/big")
        assert "No space left" in full, place
        await inside(workspace, f"rm {place}/big")


async def test_it_sees_nothing_of_the_host(here: Place) -> None:
    workspace, neighbour = await here.workspace(), await here.workspace()
    (here.data / "secret").write_text("secret")
    plan = here.record(neighbour).plan
    for path in (here.data, here.data / "secret", here.home(workspace), plan.home, plan.inside, plan.socket):
        assert await refuses(workspace, f"ls {path}"), path
    for name in ("/root", "/sys", "/var/run", "/run/docker.sock", "/etc/shadow", "/dev/mem", "/dev/net/tun"):
        assert await refuses(workspace, f"ls {name}"), name
    assert await inside(workspace, "ls /home /run") == "/home:\ncoder\n\n/run:\ncodehub"
    assert await inside(workspace, "ls /run/codehub") == "ide.sock"
    assert "root:x:0:0" in await inside(workspace, "cat /etc/passwd")
    assert len((await inside(workspace, "cat /etc/passwd")).splitlines()) == 2


async def test_it_sees_no_process_but_its_own(here: Place) -> None:
    workspace = await here.workspace()
    assert len([name for name in (await inside(workspace, "ls /proc")).split() if name.isdigit()]) < 8
    (first,) = children(here.life(workspace).others[0].pid)
    for kind in ("user", "pid", "ipc", "uts", "net", "mnt", "cgroup"):
        assert namespace(first, kind) != namespace(os.getpid(), kind), kind


async def test_what_stands_behind_it_tells_nothing_on_its_command_line(here: Place) -> None:
    spec = await here.spec(TOKEN="secret-token")
    await here.open().instances.start(spec)
    workspace = await here.answering(spec.name)
    for process in here.life(workspace).processes:
        assert "secret-token" not in of_process(process, "cmdline")


@needs_network
async def test_it_reaches_nothing_of_the_host(here: Place) -> None:
    workspace = await here.workspace()
    async with service_of_the_host() as port:
        subnet = [str(address) for address in network.SUBNET][:5]
        for address in ("127.0.0.1", METADATA, *subnet, *await host_addresses()):
            assert await refuses(workspace, CONNECT.format(address, port)), address
    assert "Permission denied" in await inside(workspace, CONNECT.format(METADATA, 80))
    assert await refuses(workspace, CONNECT.format("::ffff:127.0.0.1", port))
    assert await refuses(workspace, "ip route add 10.0.0.0/8 via 198.19.255.2")


@needs_network
@needs_root
async def test_it_reaches_the_world_outside_but_not_what_is_barred(here: Place) -> None:
    workspace = await here.workspace()
    async with outside_world() as (address, port):
        assert await inside(workspace, CONNECT.format(address, port)) == ""
        later = await here.workspace()  # the host stands in that network now
        assert "Permission denied" in await inside(later, CONNECT.format(address, port))


async def test_a_neighbour_has_no_way_in(here: Place) -> None:
    workspace, neighbour = await here.workspace(), await here.workspace()
    await inside(neighbour, "python3 -m http.server 8000 >/dev/null 2>&1 &")
    async with asyncio.timeout(60):
        while await refuses(neighbour, CONNECT.format("127.0.0.1", 8000)):
            await asyncio.sleep(0.1)
    for address in ("127.0.0.1", "198.19.255.100", "198.19.255.2"):
        assert await refuses(workspace, CONNECT.format(address, 8000)), address


async def test_a_link_in_the_place_of_its_socket_leads_nobody_astray(here: Place) -> None:
    """Else a workspace could make the front door, which may be root, talk to any socket of the host."""
    with socket.socket(socket.AF_UNIX) as secret:
        path = here.data / "control.sock"
        secret.bind(str(path))
        secret.listen()
        liar = here.add_tool("liar", "/bin/sh", "-c", f"ln -s {path} {{socket}}; sleep 60")
        spec = await here.spec(liar)
        await here.open().instances.start(spec)
        inside_folder = here.record(await here.listed(spec.name)).plan.inside
        async with asyncio.timeout(60):
            while not (inside_folder / "ide.sock").is_symlink():
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # the shim looks many times meanwhile
        workspace = await here.listed(spec.name)
        assert not await here.open().instances.probe(workspace)
        assert not here.record(workspace).plan.socket.exists()
        assert not here.record(workspace).plan.socket.is_symlink()


@needs_root
async def test_each_workspace_is_another_user_of_the_host(here: Place) -> None:
    one, other = await here.workspace(), await here.workspace()
    users = set()
    for workspace in (one, other):
        sandbox, slirp = here.life(workspace).others
        owner = here.home(workspace).stat().st_uid
        users.add(owner)
        for process in (sandbox, slirp):
            status = of_process(process, "status")
            assert f"Uid:\t{owner}\t{owner}\t{owner}\t{owner}\n" in status
            assert f"Gid:\t{owner}\t{owner}\t{owner}\t{owner}\nFDSize" in status
            assert "Groups:\t \n" in status
        assert here.home(workspace).stat().st_mode & 0o777 == 0o700
    assert len(users) == 2
    assert 0 not in users


@needs_root
async def test_too_much_memory_kills_who_takes_it_and_nobody_else(here: Place) -> None:
    workspace, neighbour = await here.workspace(), await here.workspace()
    taken = await inside(workspace, f"python3 -c 'bytearray({2 * LIMITS.memory_bytes})' 2>/dev/null; echo $?")
    assert taken.startswith("137")
    assert await here.open().instances.probe(workspace)
    assert await here.open().instances.probe(neighbour)
    stats = await here.open().instances.stats(workspace.id)
    assert stats.memory_limit_bytes == LIMITS.memory_bytes


@pytest.mark.skipif(limits.groups_obstacle() is None, reason="control groups do it here")
async def test_a_process_that_takes_too_much_memory_is_refused_it(here: Place) -> None:
    workspace = await here.workspace()
    assert "MemoryError" in await inside(workspace, f"python3 -c 'bytearray({2 * LIMITS.memory_bytes})'")


async def test_too_many_processes_are_refused_and_nobody_else_suffers(here: Place) -> None:
    workspace, neighbour = await here.workspace(), await here.workspace()
    bomb = (
        "import os, signal\n"
        "children = []\n"
        "try:\n"
        "    while len(children) < 500:\n"
        "        children.append(os.fork())\n"
        "        if children[-1] == 0: signal.pause()\n"
        "except BlockingIOError:\n"
        "    print(len(children))\n"
        "for child in children: os.kill(child, signal.SIGKILL)\n"
    )
    assert 5 < int(await inside(workspace, f"python3 -c '{bomb}'")) <= LIMITS.pids
    assert await inside(neighbour, "echo fine") == "fine"


@needs_root
async def test_its_share_of_the_processor_is_limited(here: Place) -> None:
    workspace = await here.workspace()
    burn = "python3 -c 'import time; end = time.time() + 2\nwhile time.time() < end: pass' & "
    before = (await here.open().instances.stats(workspace.id)).cpu_seconds
    await inside(workspace, burn * 4 + "wait")
    used = (await here.open().instances.stats(workspace.id)).cpu_seconds - before
    assert used < 2.0 * LIMITS.cpus * 1.5
