"""`codehub serve` answers, refuses what waiting would not mend, and ends when it is asked to."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.errors import ExitCode
from tests.cli.command import Command, answer_of

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A listening socket as a supervisor would own it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture
def archives(tmp_path: Path) -> str:
    folder = tmp_path / "archives"
    folder.mkdir()
    return folder.as_uri()


@pytest.fixture
def services(database_url: str, redis_url: str, archives: str) -> dict[str, str]:
    return {"DATABASE_URL": database_url, "REDIS_URL": redis_url, "ARCHIVE_URL": archives}


async def ended(process: asyncio.subprocess.Process) -> int:
    async with asyncio.timeout(60):
        return await process.wait()


async def test_it_answers_on_its_own_address_until_it_is_asked_to_end(
    codehub: Command, services: dict[str, str], unused_tcp_port: int
) -> None:
    address = f"127.0.0.1:{unused_tcp_port}"
    async with codehub.running("serve", "--roles", "api", "--listen", address, variables=services) as process:
        ready = await answer_of(f"http://{address}/readyz")
        assert ready.json()["status"] == "ready"
        assert "server" not in ready.headers
        process.terminate()
        assert await ended(process) == 0


async def test_it_answers_on_a_socket_that_its_parent_owns_and_leaves_it_open(
    codehub: Command, services: dict[str, str], listener: socket.socket
) -> None:
    arguments = ("serve", "--roles", "api", "--fd", str(listener.fileno()))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/healthz"
    for _ in range(2):
        async with codehub.running(*arguments, pass_fds=[listener.fileno()], variables=services) as process:
            await answer_of(url)
            process.send_signal(signal.SIGINT)
            assert await ended(process) == 0


async def test_while_the_database_is_away_it_is_alive_but_not_ready(
    codehub: Command, services: dict[str, str], listener: socket.socket, unused_tcp_port: int
) -> None:
    away = services | {"DATABASE_URL": f"postgresql://user@127.0.0.1:{unused_tcp_port}/name"}
    arguments = ("serve", "--roles", "api", "--fd", str(listener.fileno()))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with codehub.running(*arguments, pass_fds=[listener.fileno()], variables=away):
        await answer_of(f"{url}/healthz")
        assert (await answer_of(f"{url}/readyz", 503)).json()["status"] == "unavailable"


async def test_its_log_is_json_where_nobody_watches(
    codehub: Command, services: dict[str, str], listener: socket.socket
) -> None:
    arguments = ("serve", "--roles", "api", "--fd", str(listener.fileno()))
    async with codehub.running(*arguments, pass_fds=[listener.fileno()], variables=services) as process:
        await answer_of(f"http://127.0.0.1:{listener.getsockname()[1]}/healthz")
        process.terminate()
        _, stderr = await process.communicate()
    lines = [json.loads(line) for line in stderr.decode().splitlines()]
    assert {line["logger"] for line in lines} == {"uvicorn.error"}


async def test_a_taken_port_is_told(codehub: Command, services: dict[str, str], listener: socket.socket) -> None:
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    outcome = await codehub("serve", "--roles", "api", CODEHUB_LISTEN=address, **services)
    assert outcome.code == ExitCode.PORT_TAKEN
    assert outcome.stderr.startswith(f"codehub: The address {address} is taken by another program.")


async def test_an_unmigrated_database_is_refused(codehub: Command, services: dict[str, str], postgres_url: str) -> None:
    outcome = await codehub(
        "serve", "--roles", "api", "--listen", "127.0.0.1:0", **services | {"DATABASE_URL": postgres_url}
    )
    assert outcome.code == ExitCode.SERVICE
    assert outcome.stderr.startswith("codehub: The database has no schema yet, but this codehub needs ")
    assert outcome.stderr.endswith("Run: codehub migrate\n")


async def test_a_wrong_redis_password_is_refused(codehub: Command, services: dict[str, str]) -> None:
    wrong = services["REDIS_URL"].replace("unix://:", "unix://:wrong", 1)
    outcome = await codehub("serve", "--roles", "api", "--listen", "127.0.0.1:0", **services | {"REDIS_URL": wrong})
    assert outcome.code == ExitCode.SERVICE
    assert outcome.stderr.startswith("codehub: Redis refused us: ")


async def test_services_that_are_not_named_are_left_to_up(codehub: Command, redis_url: str) -> None:
    outcome = await codehub("serve", "--roles", "api", "--listen", "127.0.0.1:0", REDIS_URL=redis_url)
    assert outcome.code == ExitCode.CONFIGURATION
    assert outcome.stderr == "codehub: DATABASE_URL is not set. Set it, or start everything with: codehub up\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--roles", "api,dance"), "'dance' is no role"),
        (("--roles", "api", "--fd", "99"), "99 is not open"),
        (("--roles", "api", "--fd", "0"), "0 is not a listening socket"),
        (("--roles", "api", "--listen", "nowhere"), "'nowhere' is not of the form host:port"),
    ],
)
async def test_a_mistake_in_the_command_is_a_usage_error(
    codehub: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    outcome = await codehub("serve", *arguments)
    assert outcome.code == ExitCode.USAGE
    assert sentence in " ".join(outcome.stderr.replace("│", " ").split())


async def test_without_roles_a_child_answers_and_is_replaced_when_it_dies_or_when_somebody_asks(
    codehub: Command, services: dict[str, str], unused_tcp_port: int
) -> None:
    address = f"127.0.0.1:{unused_tcp_port}"
    del services["ARCHIVE_URL"]  # archives are kept in a data folder that is new
    async with codehub.running("serve", "--listen", address, variables=services) as process:
        await answer_of(f"http://{address}/readyz")
        first = await pid_of_child(codehub)
        os.kill(first, signal.SIGKILL)
        await answer_of(f"http://{address}/readyz")
        second = await pid_of_child(codehub, other_than=first)
        assert second != first
        restarted = await codehub("restart")
        assert (restarted.code, restarted.stderr) == (0, "")
        assert await pid_of_child(codehub) not in {first, second}
        assert (await codehub("down")).code == 0
        assert await ended(process) == 0


async def pid_of_child(codehub: Command, other_than: int | None = None) -> int:
    async with asyncio.timeout(60):
        while True:
            state = json.loads((await codehub("status", "--json")).stdout)
            pids = [part["pid"] for part in state["parts"] if part["state"] == "ready"]
            if pids and pids[0] != other_than:
                return int(pids[0])
