"""A bad connection, a server that is away, or something else at the address: nothing is done twice, all is told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from codehub.errors import ExitCode
from tests.cli.gate import Gate, Trouble
from tests.cli.serving import Person

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("trouble", ["lose the answer", "say 503"])
async def test_a_wish_is_sent_again_and_done_once(ada: Person, trouble: Trouble) -> None:
    async with Gate(ada.server.url) as gate:
        gate.troubles += [trouble, trouble]
        made = await ada.codehub("ws", "create", "garden", "--no-start", "--json", CODEHUB_SERVER=gate.url)
        assert not gate.troubles
    listed = (await ada.codehub("ws", "list", "--json")).json()["items"]
    assert [each["id"] for each in listed] == [made.json()["id"]]


async def test_what_may_be_done_already_is_not_sent_again(root: Person) -> None:
    login = f"new-{root.login}"
    async with Gate(root.server.url) as gate:
        gate.troubles.append("lose the answer")
        outcome = await root.codehub("user", "create", login, CODEHUB_SERVER=gate.url)
    assert outcome.code == ExitCode.NOT_RUNNING
    assert outcome.stderr.endswith("it is not known whether it is done. Look before you repeat it.\n")
    assert (await root.codehub("user", "show", login)).code == 0


async def test_a_service_that_stays_away_is_told_in_the_end(ada: Person) -> None:
    async with Gate(ada.server.url) as gate:
        gate.troubles += ["say 503"] * 5
        outcome = await ada.codehub("ws", "create", "garden", "--json", CODEHUB_SERVER=gate.url)
    assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.SERVICE, "service_away")


async def test_nobody_at_the_address_is_told_at_once(ada: Person, unused_tcp_port: int) -> None:
    outcome = await ada.codehub("ws", "list", CODEHUB_SERVER=f"127.0.0.1:{unused_tcp_port}")
    assert outcome.code == ExitCode.NOT_RUNNING
    assert outcome.stderr.startswith(f"codehub: http://127.0.0.1:{unused_tcp_port} does not answer: ")


@asynccontextmanager
async def stranger(answer: bytes) -> AsyncIterator[str]:
    """The address of a server that is no codehub, and always says the same."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_something_else_at_the_address_is_told(ada: Person) -> None:
    hello = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
    async with stranger(hello) as address:
        for command in (("ws", "list"), ("login", address)):
            outcome = await ada.codehub(*command, CODEHUB_SERVER=address)
            assert outcome.code == ExitCode.REFUSED
            assert outcome.stderr.startswith(f"codehub: {address} answered 200 and is not a codehub.")


async def test_an_address_that_leads_on_is_told_and_not_followed(ada: Person) -> None:
    moved = (
        b"HTTP/1.1 308 Moved\r\nLocation: https://codehub.example.org/api/v1/workspaces?limit=200\r\n"
        b"Content-Length: 0\r\nConnection: close\r\n\r\n"
    )
    async with stranger(moved) as address:
        outcome = await ada.codehub("ws", "list", CODEHUB_SERVER=address)
    assert outcome.code == ExitCode.REFUSED
    assert "Log in there: codehub login https://codehub.example.org\n" in outcome.stderr


async def test_an_address_that_is_none_is_told(ada: Person) -> None:
    for address in ("ftp://codehub.example.org", "http://", "https://ada:secret@codehub.example.org", "x:y"):
        outcome = await ada.codehub("ws", "list", CODEHUB_SERVER=address)
        assert outcome.code == ExitCode.CONFIGURATION


async def test_a_token_that_is_not_good_is_told(ada: Person) -> None:
    outcome = await ada.codehub("ws", "list", "--json", CODEHUB_TOKEN="codehub_wrong")
    assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.NOT_LOGGED_IN, "not_logged_in")
    assert f"codehub login {ada.server.url}" in outcome.error()["remedy"]
