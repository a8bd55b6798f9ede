"""`--wait` follows a wish until it is carried out or cannot be, and leaves it alone whatever happens meanwhile."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from codehub.errors import ExitCode
from tests.cli.gate import Gate
from tests.cli.serving import Person

pytestmark = pytest.mark.timeout(180)


@asynccontextmanager
async def waiting(ada: Person, root: Person, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A command that waits for a workspace, which waits for an image that nobody builds."""
    template = f"building-{ada.login}"
    await root.codehub("template", "create", template, "--image", "nothing", "--port", "80")
    await root.execute("UPDATE templates SET status = 'building' WHERE name = $1", template)
    arguments = ("ws", "create", "garden", "--template", template, "--wait")
    async with ada.codehub.running(*arguments, variables=variables) as process, asyncio.timeout(60):
        assert process.stderr is not None
        while b"has been built, which is under way" not in await process.stderr.readline():
            assert process.returncode is None
        yield process


async def test_the_whole_life_of_a_workspace(ada: Person) -> None:
    made = await ada.codehub("ws", "create", "garden", "--wait", "--json")
    assert made.json()["phase"] == "RUNNING"
    assert "A home for its files is being made" in made.stderr
    assert "Running since" in made.stderr.splitlines()[-1]

    assert (await ada.codehub("ws", "logs", "garden")).stdout == "listening\n"
    assert json.loads((await ada.codehub("ws", "logs", "garden", "--json")).stdout) == {"line": "listening"}
    assert (await ada.codehub("ws", "stats", "garden", "--json")).json()["memory_bytes"] > 0
    assert "since its start" in (await ada.codehub("ws", "stats", "garden")).stdout
    async with asyncio.timeout(60):
        while "processor" not in (used := await ada.codehub("ws", "usage", "garden")).stdout:
            assert used.code == 0
    assert "memory" in used.stdout

    stopped = await ada.codehub("ws", "stop", "garden", "--wait")
    assert (stopped.code, stopped.stdout) == (0, "garden is STANDBY.\n")
    assert (await ada.codehub("ws", "stop", "garden", "--wait")).stdout == "garden is STANDBY.\n"
    started = await ada.codehub("ws", "start", "garden", "--wait", "--timeout", "2m")
    assert (started.code, started.stdout) == (0, "garden is RUNNING.\n")

    deleted = await ada.codehub("ws", "delete", "garden", "--yes", "--wait")
    assert (deleted.code, deleted.stdout) == (0, "garden is deleted. This cannot be undone.\n")
    assert (await ada.codehub("ws", "list", "--json")).json()["items"] == []


async def test_a_workspace_that_cannot_start_ends_the_waiting_with_the_reason(ada: Person, root: Person) -> None:
    """It runs a tool that this machine does not have."""
    template = f"missing-{ada.login}"
    assert (await root.codehub("template", "create", template, "--image", "nothing", "--port", "80")).code == 0
    failed = await ada.codehub("ws", "create", "garden", "--template", template, "--wait", "--json")
    assert failed.code == ExitCode.IN_ERROR
    error = json.loads(failed.stderr.splitlines()[-1])
    assert error["problem"]["phase"] == "ERROR"
    assert error["error"].startswith("garden is in ERROR. It cannot go on: what it runs could not be fetched or built.")

    started = await ada.codehub("ws", "start", "garden", "--json")
    assert (started.code, started.error()["problem"]["code"]) == (ExitCode.IN_ERROR, "in_error")
    recovered = await ada.codehub("ws", "recover", "garden", "--wait")
    assert recovered.code == ExitCode.IN_ERROR
    assert "See: codehub ws show garden" in recovered.stderr

    assert (await root.codehub("template", "edit", template, "--image", "code-server")).code == 0
    mended = await ada.codehub("ws", "recover", "garden", "--wait")
    assert (mended.code, mended.stdout) == (0, "garden is RUNNING.\n")


async def test_only_what_is_in_error_is_recovered(ada: Person) -> None:
    await ada.codehub("ws", "create", "garden", "--no-start", "--wait")
    outcome = await ada.codehub("ws", "recover", "garden", "--json")
    assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.REFUSED, "not_in_error")


async def test_a_time_that_is_over_leaves_the_wish(ada: Person) -> None:
    outcome = await ada.codehub("ws", "create", "garden", "--timeout", "0")
    assert outcome.code == ExitCode.TIMED_OUT
    assert "garden is not RUNNING yet." in outcome.stderr
    assert (await ada.codehub("ws", "start", "garden", "--wait")).code == 0


async def test_an_interrupt_ends_the_waiting_and_leaves_the_wish(ada: Person, root: Person) -> None:
    async with waiting(ada, root) as process:
        process.send_signal(signal.SIGINT)
        _, said = await process.communicate()
    assert process.returncode == 130
    assert said.decode().endswith("No longer waiting. RUNNING stays wished; see: codehub ws show garden\n")
    shown = (await ada.codehub("ws", "show", "garden", "--json")).json()
    assert shown["desired_state"] == "RUNNING"


async def test_somebody_elses_wish_ends_the_waiting(ada: Person, root: Person) -> None:
    async with waiting(ada, root) as process:
        assert (await root.codehub("ws", "stop", f"{ada.login}/garden", "--wait")).code == 0
        _, said = await process.communicate()
    assert process.returncode == ExitCode.REFUSED
    assert "Meanwhile STANDBY was wished for garden." in said.decode()


async def test_an_administrator_waits_for_what_belongs_to_others(ada: Person, root: Person) -> None:
    made = (await ada.codehub("ws", "create", "garden", "--no-start", "--json")).json()
    started = await root.codehub("ws", "start", made["id"], "--wait")
    assert (started.code, started.stdout) == (0, "garden is RUNNING.\n")


async def test_a_limit_names_what_runs(ada: Person) -> None:
    for name in ("one", "two"):
        assert (await ada.codehub("ws", "create", name)).code == 0
    outcome = await ada.codehub("ws", "create", "three", "--json")
    assert outcome.code == ExitCode.LIMIT_REACHED
    assert {each["name"] for each in outcome.error()["problem"]["running"]} == {"one", "two"}
    told = await ada.codehub("ws", "create", "three")
    assert "One user may have 2 running; stop one. These run: " in told.stderr


async def test_what_happens_is_followed(ada: Person) -> None:
    await ada.codehub("ws", "create", "garden", "--no-start", "--wait")
    async with ada.codehub.running("ws", "events", "garden", "--follow", "--json", variables={}) as process:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            assert json.loads(await process.stdout.readline())["kind"] == "created"
            assert (await ada.codehub("ws", "start", "garden")).code == 0
            while json.loads(await process.stdout.readline())["after"] != "RUNNING":
                pass
            while (happened := json.loads(await process.stdout.readline()))["kind"] != "phase":
                pass
        assert (happened["before"], happened["after"]) == ("STANDBY", "RUNNING")
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert process.returncode == 0


async def test_what_is_printed_is_followed_until_it_stops(ada: Person) -> None:
    assert (await ada.codehub("ws", "create", "garden", "--wait")).code == 0
    async with ada.codehub.running("ws", "logs", "garden", "--follow", variables={}) as process:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            assert await process.stdout.readline() == b"listening\n"
            await ada.codehub("ws", "stop", "garden")
            await process.communicate()
    assert process.returncode == 0


async def test_a_server_that_is_away_for_a_moment_is_waited_for(ada: Person, root: Person) -> None:
    async with Gate(ada.server.url) as gate, waiting(ada, root, CODEHUB_SERVER=gate.url) as process:
        await gate.close()
        await ada.codehub("ws", "stop", "garden")
        await gate.open()
        _, said = await process.communicate()
    assert "Meanwhile STANDBY was wished for garden." in said.decode()
