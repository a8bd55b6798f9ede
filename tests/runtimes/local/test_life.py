"""The life of an instance belongs to no process of codehub's: it goes on without one, and its end is always told."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.runtimes.errors import InUse, RuntimeFault
from codehub.runtimes.local import limits
from codehub.runtimes.local.process import Process, descendants
from codehub.runtimes.local.records import LOST, Life
from codehub.runtimes.protocols import InstanceState
from tests.runtimes.local.place import INSTALLATION, TOOL, Place, fetch, inside

LIST = """
import asyncio, sys
from pathlib import Path
from codehub.runtimes.local.runtime import LocalRuntime
for each in asyncio.run(LocalRuntime(Path(sys.argv[1]), sys.argv[2], {}.get).instances.list()):
    print(each.name, each.state.value)
"""
START = """
import asyncio, os, sys
from dataclasses import replace
from tests.runtimes.local.place import Place, SmallTool
from pathlib import Path
async def main():
    here = Place(Path(sys.argv[1]), {"tool": SmallTool(Path(sys.argv[2]))})
    workspace = await here.workspace()
    print(workspace.name, flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""


def folder(here: Place, name: str) -> Path:
    return here.data / "local/instances" / name


async def test_it_outlives_the_codehub_that_started_it(here: Place) -> None:
    started = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", START, str(here.data), str(here.tools[TOOL].folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode == -signal.SIGKILL, started.stderr
    workspace = await here.answering(started.stdout.strip())
    assert os.getsid(here.life(workspace).shim.pid) != os.getsid(0)
    listed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", LIST, str(here.data), INSTALLATION],
        capture_output=True,
        text=True,
        check=True,
    )
    assert listed.stdout == f"{workspace.name} running\n"


async def test_when_its_shim_is_killed_all_of_it_ends_and_is_told_so(here: Place) -> None:
    workspace = await here.workspace()
    life = here.life(workspace)
    everything = all_below(life.shim)
    assert len(everything) >= 4
    life.shim.send(signal.SIGKILL)
    ended = await here.exited(workspace.name)
    assert (ended.message, ended.endpoint) == (LOST, None)
    assert not [process for process in everything if process.alive()]
    await here.open().instances.stop(workspace.id, 1)
    assert left_behind(here, workspace.name) == []


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.06, 0.1, 0.15, 0.2])
async def test_when_its_shim_is_killed_while_it_starts_nothing_is_left(here: Place, seconds: float) -> None:
    spec = await here.spec()
    await here.open().instances.start(spec)
    await asyncio.sleep(seconds)
    shim = here.life(await here.listed(spec.name)).shim
    everything = all_below(shim)
    shim.send(signal.SIGKILL)
    await here.exited(spec.name)
    async with asyncio.timeout(60):
        while processes_of(spec.volume) or any(process.alive() for process in everything):
            await asyncio.sleep(0.02)


async def test_when_its_ide_is_killed_its_exit_code_is_told(here: Place) -> None:
    workspace = await here.workspace()
    _, _, ide, *_ = descendants(here.life(workspace).others[0].pid)
    os.kill(ide, signal.SIGKILL)
    assert (await here.exited(workspace.name)).message == "exited with code 137"
    assert not here.record(workspace).plan.socket.exists()


@pytest.mark.parametrize("which", [0, 1])
async def test_when_the_walls_of_its_sandbox_are_killed_it_ends(here: Place, which: int) -> None:
    workspace = await here.workspace()
    everything = descendants(here.life(workspace).others[0].pid)
    os.kill(everything[which], signal.SIGKILL)
    assert (await here.exited(workspace.name)).message.startswith("exited with code ")
    assert processes_of(workspace.volume) == []


async def test_without_its_network_it_does_not_go_on(here: Place) -> None:
    workspace = await here.workspace()
    life = here.life(workspace)
    if len(life.others) < 2:
        pytest.skip("no network here")
    life.others[1].send(signal.SIGKILL)
    assert "slirp4netns" in (await here.exited(workspace.name)).message
    assert not [process for process in life.others if process.alive()]


@pytest.mark.skipif(limits.groups_obstacle() is not None, reason="no control groups here")
async def test_one_that_ran_out_of_memory_says_so(here: Place) -> None:
    glutton = here.add_tool("glutton", "/usr/bin/python3", "-c", "bytearray(2**30)")
    spec = await here.spec(glutton)
    await here.open().instances.start(spec)
    assert (await here.exited(spec.name)).message == "exited with code 137, out of memory"


@pytest.mark.parametrize("change", ["started", "boot"])
async def test_another_process_under_its_pid_is_not_taken_for_it(here: Place, change: str) -> None:
    """After the pid has come round, or the machine has restarted."""
    workspace = await here.workspace()
    here.life(workspace).shim.send(signal.SIGKILL)
    await here.exited(workspace.name)
    stranger = await asyncio.create_subprocess_exec("sleep", "60")
    alike = Process.of(stranger.pid)
    other = replace(alike, started=alike.started - 1) if change == "started" else replace(alike, boot="another")
    Life(other, (other,)).write(folder(here, workspace.name))
    assert (await here.listed(workspace.name)).state is InstanceState.EXITED
    await here.open().instances.stop(workspace.id, 1)
    assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()


async def test_one_that_has_ended_can_be_started_again(here: Place) -> None:
    spec = await here.spec()
    await here.open().instances.start(spec)
    first = await here.answering(spec.name)
    here.life(first).shim.send(signal.SIGKILL)
    await here.exited(spec.name)
    await here.open().instances.start(spec)
    second = await here.answering(spec.name)
    assert await fetch(second, "/starts") == b"started\nstarted\n"


async def test_one_whose_start_was_cut_off_holds_its_home_and_can_be_started_or_stopped(here: Place) -> None:
    for then in ("start", "stop"):
        runtime, spec = here.open(), await here.spec()
        runtime._folders.make()
        created = folder(here, spec.name)
        created.mkdir()
        runtime.instances._plan(spec).write(created)
        assert (await here.listed(spec.name)).state is InstanceState.CREATED
        with pytest.raises(InUse):
            await runtime.volumes.delete(spec.volume)
        if then == "start":
            await runtime.instances.start(spec)
            await here.answering(spec.name)
        else:
            await runtime.instances.stop(spec.name, 1)
            assert not created.exists()


async def test_what_cannot_be_started_says_why(here: Place) -> None:
    spec = await here.spec(here.add_tool("absent", "/usr/bin/not-there"))
    await here.open().instances.start(spec)
    assert (await here.exited(spec.name)).message.startswith("exited with code 1")
    (said,) = [line async for line in here.open().instances.logs(spec.name, 5)]
    assert b"/usr/bin/not-there: No such file" in said


async def test_starts_and_stops_side_by_side_leave_no_process_that_is_not_listed(here: Place) -> None:
    runtime, spec = here.open(), await here.spec()
    for _ in range(8):
        calls = [runtime.instances.start(spec), runtime.instances.stop(spec.name, 0), here.open().instances.start(spec)]
        await asyncio.gather(*calls, return_exceptions=True)
    async with asyncio.timeout(60):
        while await runtime.instances.list():
            with suppress(RuntimeFault):
                await runtime.instances.stop(spec.name, 0)
    assert processes_of(spec.volume) == []
    assert left_behind(here, spec.name) == []


async def test_a_stop_lets_it_save_its_work(here: Place) -> None:
    script = "trap 'sleep 0.3; echo saved > work; exit 0' TERM; touch ready; while :; do sleep 0.05; done"
    spec = await here.spec(here.add_tool("careful", "/bin/sh", "-c", script))
    await here.open().instances.start(spec)
    await ready(here, spec.name)
    workspace = await here.listed(spec.name)
    await here.open().instances.stop(spec.name, 10)
    assert (here.home(workspace) / "work").read_text() == "saved\n"
    assert left_behind(here, spec.name) == []


async def test_one_that_does_not_want_to_end_is_killed_with_all_that_it_started(here: Place) -> None:
    script = "trap '' TERM; (setsid sleep 1000 &); : > ready; exec sleep 1000"  # whoever is there then stays
    spec = await here.spec(here.add_tool("stubborn", "/bin/sh", "-c", script))
    await here.open().instances.start(spec)
    await ready(here, spec.name)
    everything = all_below(here.life(await here.listed(spec.name)).shim)
    await here.open().instances.stop(spec.name, 0.3)
    assert not [process for process in everything if process.alive()]
    assert left_behind(here, spec.name) == []


async def test_its_log_keeps_the_newest_and_does_not_grow(here: Place) -> None:
    script = "i=0; while [ $i -lt 40 ]; do head -c 100000 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done; echo the end"
    spec = await here.spec(here.add_tool("loud", "/bin/sh", "-c", script))
    await here.open().instances.start(spec)
    await here.exited(spec.name)
    assert [line async for line in here.open().instances.logs(spec.name, 1)] == [b"the end\n"]
    assert sum(path.stat().st_size for path in folder(here, spec.name).glob("log*")) <= 2 * 1024**2


async def test_a_death_is_announced_at_once(here: Place) -> None:
    workspace = await here.workspace()
    async with aclosing(here.open().instances.watch()) as events:
        event = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        here.life(workspace).shim.send(signal.SIGKILL)
        async with asyncio.timeout(60):
            assert await event == workspace.workspace_id


async def test_a_zero_byte_cannot_add_to_the_walls(here: Place) -> None:
    spec = await here.spec(NAME="a\0--bind\0/\0/host")
    with pytest.raises(RuntimeFault):
        await here.open().instances.start(spec)
    assert await here.open().instances.list() == ()


async def test_where_the_data_folder_has_a_long_path_sockets_lie_elsewhere(here: Place) -> None:
    long = here.data / ("x" * 100)
    long.mkdir()
    elsewhere = Place(long, here.tools)
    workspace = await elsewhere.workspace()
    socket = elsewhere.record(workspace).plan.socket
    assert not socket.is_relative_to(long)
    assert await inside(workspace, "echo here") == "here"
    await elsewhere.clear()
    assert list(socket.parent.iterdir()) == []
    socket.parent.rmdir()


async def ready(here: Place, name: str) -> None:
    async with asyncio.timeout(60):
        while not (here.home(await here.listed(name)) / "ready").exists():
            await asyncio.sleep(0.02)


def all_below(process: Process) -> list[Process]:
    """It and all that it has started, except what ends in this moment."""
    found = []
    for pid in descendants(process.pid):
        with suppress(OSError):
            found.append(Process.of(pid))
    return found


def processes_of(volume: str) -> list[str]:
    """Processes that have this home in sight."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if volume in (entry / "mountinfo").read_text():
                    found.append((entry / "cmdline").read_text())
    return found


def left_behind(here: Place, name: str) -> list[str]:
    """Files and control groups of an instance that is gone."""
    files = [str(path) for place in ("instances", "run") for path in (here.data / "local" / place).iterdir()]
    return files + [str(path) for path in limits.Group(name)._folders() if path.exists()]
