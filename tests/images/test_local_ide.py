"""Installations without an engine, with a small script in place of the IDE's: whole or not there, and never twice."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codehub.images.faults import BuildFailed
from codehub.images.local_ide import install, installed
from codehub.images.progress import Progress
from codehub.images.tools import CODE_SERVER, TRUST, Step, Tool

SCRIPT = """#!/bin/sh
set -eu
echo "$1" >> {log}
case "$1" in
first)
    mkdir -p "$2/bin"
    printf '#!%s/bin/python\\n' "$2" > "$2/bin/program"
    ;;
second)
    echo preparing
    test -e {permission} || exit 1
    ;;
trusting)
    mkdir -p "$2/bin"
    echo "$PIP_CERT $NODE_EXTRA_CA_CERTS"
    ;;
endless)
    sleep 600 & echo $! > {log}.child
    wait
    ;;
esac
"""

ANOTHER_CODEHUB = """
import asyncio
from pathlib import Path
from codehub.images.local_ide import install
from tests.images.test_local_ide import ignore, small
folder = Path("{folder}")
asyncio.run(install(small(folder / "source", "endless"), folder / "ide", ignore))
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def make(tmp_path: Path, log: Path) -> Callable[..., Tool]:
    """A tool whose second step needs a file `permission` to be there."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "install").write_text(SCRIPT.format(log=log, permission=tmp_path / "permission"))
    (source / "version").write_text("1.0")
    return lambda *steps: small(source, *steps)


def small(source: Path, *steps: str) -> Tool:
    return replace(
        CODE_SERVER,
        name="small",
        source=source,
        pin=("version", "(.+)"),
        build_packages=(),
        steps=tuple(Step(step, f"the {step} step") for step in steps),
    )


def steps_run(log: Path) -> list[str]:
    return log.read_text().split()


def ignore(_: Progress) -> None:
    pass


async def test_it_is_there_only_when_all_is_done_and_goes_on_after_the_last_step(
    make: Callable[..., Tool], tmp_path: Path, log: Path
) -> None:
    tool = make("first", "second")
    with pytest.raises(BuildFailed, match="the second step"):
        await install(tool, tmp_path / "ide", ignore)
    assert installed(tool, tmp_path / "ide") is None

    (tmp_path / "permission").touch()
    found = await install(tool, tmp_path / "ide", ignore)
    assert found == installed(tool, tmp_path / "ide")
    assert steps_run(log) == ["first", "second", "second"]


async def test_scripts_name_the_interpreter_where_it_finally_lies(make: Callable[..., Tool], tmp_path: Path) -> None:
    found = await install(make("first"), tmp_path / "ide", ignore)
    assert (found.folder / "bin/program").read_text() == f"#!{found.folder}/bin/python\n"


async def test_whoever_asks_meanwhile_gets_the_same_one(make: Callable[..., Tool], tmp_path: Path, log: Path) -> None:
    tool = make("first")
    one, other = await asyncio.gather(install(tool, tmp_path / "ide", ignore), install(tool, tmp_path / "ide", ignore))
    assert one == other
    assert steps_run(log) == ["first"]


async def test_progress_counts_steps_and_hands_on_what_they_say(make: Callable[..., Tool], tmp_path: Path) -> None:
    (tmp_path / "permission").touch()
    seen: list[Progress] = []
    await install(make("first", "second"), tmp_path / "ide", seen.append)
    assert [(progress.step, progress.steps, progress.doing, progress.line) for progress in seen] == [
        (1, 2, "the first step", ""),
        (2, 2, "the second step", ""),
        (2, 2, "the second step", "preparing"),
    ]


async def test_what_the_machine_trusts_is_trusted_by_a_login_that_names_no_certificates(
    make: Callable[..., Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "bundle.crt"
    bundle.touch()
    for variable in TRUST:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    seen: list[Progress] = []
    await install(make("trusting"), tmp_path / "ide", seen.append)
    assert seen[-1].line == f"{bundle} {bundle}"


async def test_cancelling_ends_the_compilers_too(make: Callable[..., Tool], tmp_path: Path, log: Path) -> None:
    child = log.with_name("log.child")
    task = asyncio.create_task(install(make("endless"), tmp_path / "ide", ignore))
    async with asyncio.timeout(60):
        while not child.exists() or not child.read_text().strip():
            await asyncio.sleep(0.01)
        pid = int(child.read_text())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while _alive(pid):
            await asyncio.sleep(0.01)


async def test_compilers_that_outlive_a_killed_codehub_keep_the_next_one_waiting(
    make: Callable[..., Tool], tmp_path: Path, log: Path
) -> None:
    tool = make("first")
    child = log.with_name("log.child")
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", ANOTHER_CODEHUB.format(folder=tmp_path))
    seen: list[Progress] = []
    async with asyncio.timeout(30):
        while not child.exists() or not child.read_text().strip():
            await asyncio.sleep(0.01)
        process.kill()
        await process.wait()
        next_one = asyncio.create_task(install(tool, tmp_path / "ide", seen.append))
        while not seen:
            await asyncio.sleep(0.01)
        assert seen[0].stage == "wait"
        os.kill(int(child.read_text()), signal.SIGKILL)
        assert (await next_one).folder.is_dir()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


async def test_the_sandbox_is_told_all_it_needs(make: Callable[..., Tool], tmp_path: Path) -> None:
    found = await install(make("first"), tmp_path / "ide", ignore)
    assert found.argv("/run/codehub/ide.sock")[0] == f"{found.folder}/bin/node"
    assert "--socket=/run/codehub/ide.sock" in found.argv("/run/codehub/ide.sock")
    assert "--bind-addr=0.0.0.0:8080" in found.command_on_port
    assert found.environment["PATH"].split(":")[1] == f"{found.folder}/bin"
    assert found.health_path == "/healthz"
