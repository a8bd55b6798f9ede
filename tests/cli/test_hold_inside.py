"""Holds from inside a workspace: it keeps itself awake over a socket that can do nothing else (contract 13)."""

import asyncio
import socket
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import httpx
import pytest

from codehub.runtimes.local.runtime import LocalRuntime
from codehub.store.identity import installation_id
from codehub.web.inside.callers import MOST_PER_MINUTE
from codehub.web.inside.door import MOST_CONNECTIONS
from tests.cli.command import Command
from tests.cli.serving import Person
from tests.cli.test_hold import reasons
from tests.cli.test_workspaces import make

pytestmark = pytest.mark.timeout(180)

HOLDS = "/holds"


async def running(somebody: Person, name: str = "garden") -> Mapping[str, Any]:
    workspace = await make(somebody, name)
    await somebody.codehub("ws", "start", name, "--wait")
    return workspace


async def inside(somebody: Person, workspace: Mapping[str, Any], command: str) -> str:
    """What a shell command prints that runs in it."""
    runtime = LocalRuntime(somebody.server.data, await installation_id(somebody.server.database_url), lambda _: None)
    (instance,) = await runtime.instances.list(UUID(workspace["id"]))
    assert instance.endpoint is not None
    transport = httpx.AsyncHTTPTransport(uds=instance.endpoint.address.removeprefix("unix:"))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        return (await client.post("/", content=command)).text.strip()


async def token_of(somebody: Person, workspace: Mapping[str, Any]) -> str:
    return await inside(somebody, workspace, 'printf %s "$CODEHUB_TOKEN"')


class Asking:
    """What can be asked on the socket with a token, with any program."""

    def __init__(self, somebody: Person, token: str) -> None:
        self._socket = str(somebody.server.data / "inside" / "socket")
        self._headers = {"Authorization": f"Bearer {token}"}

    async def __call__(self, method: str, path: str, json: Mapping[str, Any] | None = None) -> httpx.Response:
        transport = httpx.AsyncHTTPTransport(uds=self._socket)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            return await client.request(method, path, headers=self._headers, json=json)


def place_of(workspace: Mapping[str, Any]) -> str:
    return f"/api/v1/workspaces/{workspace['id']}"


async def test_it_is_held_while_a_command_runs_in_it_and_no_longer(ada: Person) -> None:
    workspace = await running(ada)
    said = await inside(ada, workspace, "codehub hold --reason 'nightly build' -- codehub holds")
    assert "nightly build" in said
    assert await reasons(ada) == []
    told = (await ada.codehub("ws", "events", "garden")).stdout
    assert [each for each in ("placed", "released", "nightly build") if each not in told] == []


async def test_it_ends_as_the_command_ends(ada: Person) -> None:
    workspace = await running(ada)
    commands = ("sh -c 'exit 3'", "no-such-command", "sh -c 'kill -TERM $$'")
    codes = [await inside(ada, workspace, f"codehub hold -- {each} 2>/dev/null; echo $?") for each in commands]
    assert codes == ["3", "127", "143"]
    assert await reasons(ada) == []


async def test_without_a_command_it_is_held_for_a_time_and_shown_to_be(ada: Person) -> None:
    workspace = await running(ada)
    said = await inside(ada, workspace, "codehub hold --for 2h --reason talk")
    assert "stays awake until" in said
    assert await reasons(ada) == ["talk"]
    shown = (await ada.codehub("ws", "show", "garden", "--json")).json()
    assert shown["hold"]["reason"] == "talk"
    assert await inside(ada, workspace, f"codehub release {said.split()[-1]}") == "It holds no longer."
    assert await inside(ada, workspace, "codehub holds") == "Nothing holds it."


async def test_it_knows_when_it_sleeps_and_can_put_that_off(ada: Person) -> None:
    workspace = await running(ada)
    ask = Asking(ada, await token_of(ada, workspace))
    before = (await ask("GET", f"{place_of(workspace)}/clock")).json()
    assert 0 < before["sleeps_in_seconds"] <= before["idle_seconds"] + 60
    after = (await ask("POST", f"{place_of(workspace)}/extend")).json()
    assert after["sleeps_at"] > before["sleeps_at"]
    assert await inside(ada, workspace, "codehub extend") == await inside(ada, workspace, "codehub clock")
    assert (await ada.codehub("ws", "show", "garden", "--json")).json()["last_activity"] == "extension"


async def test_the_whole_command_works_there_too(ada: Person) -> None:
    workspace = await running(ada)
    variables = {
        "CODEHUB_SERVER": f"unix:{ada.server.data / 'inside' / 'socket'}",
        "CODEHUB_TOKEN": await token_of(ada, workspace),
        "CODEHUB_WORKSPACE": workspace["id"],
    }
    outcome = await Command(ada.codehub.folder, variables)("hold", "--", "sh", "-c", "exit 3")
    assert (outcome.code, outcome.stderr) == (3, "")


async def test_the_token_of_an_earlier_start_is_refused(ada: Person) -> None:
    workspace = await running(ada)
    earlier = await token_of(ada, workspace)
    await ada.codehub("ws", "stop", "garden", "--wait")
    path = place_of(workspace) + HOLDS
    assert (await Asking(ada, earlier)("GET", path)).status_code == 401, "while it sleeps"
    await ada.codehub("ws", "start", "garden", "--wait")
    assert (await Asking(ada, earlier)("GET", path)).status_code == 401, "after the next start"
    assert (await Asking(ada, await token_of(ada, workspace))("GET", path)).status_code == 200


async def test_a_workspace_can_hold_no_other_not_even_of_the_same_owner(ada: Person) -> None:
    mine, other = await running(ada), await running(ada, "forest")
    ask = Asking(ada, await token_of(ada, mine))
    assert (await ask("POST", place_of(other) + HOLDS, json={"reason": "x", "seconds": 60})).status_code == 401
    assert (await ask("GET", place_of(other) + HOLDS)).status_code == 401
    assert (await ask("GET", f"{place_of(other)}/clock")).status_code == 401
    assert (await ask("POST", f"{place_of(other)}/extend")).status_code == 401
    assert (await ask("POST", f"{place_of(other)}/clone", json={"outcome": "done"})).status_code == 401
    for odd in ({"outcome": "odd"}, {"outcome": "done", "detail": "two\nlines"}, {"outcome": "done", "why": "?"}):
        assert (await ask("POST", f"{place_of(mine)}/clone", json=odd)).status_code == 422


async def test_nothing_else_of_the_api_is_there(ada: Person) -> None:
    """Every route of the API, on the socket and, with the same token, at its public address."""
    workspace = await running(ada)
    token = await token_of(ada, workspace)
    ask, found = Asking(ada, token), {}
    async with httpx.AsyncClient(base_url=ada.server.url, trust_env=False, timeout=60) as public:
        routes = (await public.get("/api/v1/openapi.json")).json()["paths"]
        for template, methods in routes.items():
            path = template.replace("{workspace_id}", workspace["id"])
            for method in methods:
                there = await public.request(method, path, headers={"Authorization": f"Bearer {token}"}, json={})
                here = await ask(method, path, json={})
                found[method, template] = (here.status_code, there.status_code)
    own = "/api/v1/workspaces/{workspace_id}"
    allowed = {
        ("get", f"{own}/holds"),
        ("post", f"{own}/holds"),
        ("patch", f"{own}/holds/{{hold_id}}"),
        ("delete", f"{own}/holds/{{hold_id}}"),
        ("post", f"{own}/extend"),
    }
    assert allowed <= found.keys()
    open_here = {route for route, (here, _) in found.items() if here not in {404, 405}}
    assert open_here == allowed
    is_refused = {401, 403, 422}
    assert {route for route, (_, there) in found.items() if there not in is_refused} == set()
    for path in ("/", "/healthz", "/metrics", "/login", "/internal/workspaces/x/page", "/health/coordinator"):
        assert (await ask("GET", path)).status_code == 404


async def test_what_it_is_shown_cannot_be_changed_from_inside(ada: Person) -> None:
    workspace = await running(ada)
    for command in (
        "touch /codehub/new",
        "rm /codehub/socket",
        "rm /codehub/bin/codehub",
        "mv /codehub/bin /codehub/b",
    ):
        assert await inside(ada, workspace, f"{command} 2>/dev/null || echo refused") == "refused"
    assert (
        await inside(ada, workspace, "ls -A /codehub /codehub/bin")
        == "/codehub:\nbin\nsocket\n\n/codehub/bin:\nbegin\ncodehub"
    )


async def test_a_workspace_that_runs_wild_is_held_back_alone(ada: Person) -> None:
    mine, other = await running(ada), await running(ada, "forest")
    wild, calm = Asking(ada, await token_of(ada, mine)), Asking(ada, await token_of(ada, other))
    statuses: set[int] = set()
    for _ in range(5):  # a new minute may begin among them
        asked = [wild("GET", place_of(mine) + HOLDS) for _ in range(MOST_PER_MINUTE + 20)]
        statuses |= {answer.status_code for answer in await asyncio.gather(*asked)}
    assert statuses == {200, 429}
    assert (await calm("GET", place_of(other) + HOLDS)).status_code == 200


async def test_connections_that_say_nothing_keep_nobody_out(ada: Person) -> None:
    workspace = await running(ada)
    ask = Asking(ada, await token_of(ada, workspace))
    silent = [socket.socket(socket.AF_UNIX) for _ in range(MOST_CONNECTIONS + 20)]
    try:
        for each in silent:
            await asyncio.to_thread(each.connect, str(ada.server.data / "inside" / "socket"))
        assert (await ask("GET", place_of(workspace) + HOLDS)).status_code == 200
    finally:
        for each in silent:
            each.close()
