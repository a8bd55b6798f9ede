"""A workspace is a hostile neighbour (contract 13): it sees nothing of ours, sets nothing of ours, and its pages cannot
act for their visitor anywhere else."""

from uuid import UUID

import pytest

from codehub.model.accounts import Scope
from tests.front_door.browser import SCRIPT, Browser
from tests.front_door.house import House, Person

OURS = ("codehub", "Bearer")


def seen(asked: dict[str, object]) -> str:
    return str(asked["headers"])


@pytest.fixture
async def browser(ada: Person, garden: UUID) -> Browser:
    return await ada.at(garden)


async def test_no_cookie_of_ours_is_seen_inside(browser: Browser, garden: UUID) -> None:
    origin = browser.origin(garden)
    browser.jar[f"{garden.hex}.localhost"]["theirs"] = ("1", "/")
    assert "codehub-visit" in browser.cookies(origin)
    inside = seen((await browser.fetch(origin)).json())
    assert "theirs=1" in inside
    assert not [word for word in OURS if word in inside]
    async with browser.websocket(origin) as socket:
        inside = seen(await socket.told())
    assert "theirs=1" in inside
    assert not [word for word in OURS if word in inside]


async def test_a_token_opens_ones_workspaces_and_is_not_seen_inside(codehub: House, ada: Person, garden: UUID) -> None:
    program = codehub.browser()
    origin = program.origin(garden)
    answer = await program.send("GET", f"{origin}/x", ada.bearer)
    assert answer.status_code == 200
    assert not [word for word in OURS if word in seen(answer.json())]
    async with program.websocket(origin, origin=None, **ada.bearer) as socket:
        assert socket.status == 101
        inside = seen(await socket.told())
    assert not [word for word in OURS if word in inside]


async def test_somebodys_own_authorization_passes(browser: Browser, garden: UUID) -> None:
    answer = await browser.fetch(browser.origin(garden), Authorization="Basic YTpi")
    assert dict(answer.json()["headers"])["Authorization"] == "Basic YTpi"


async def test_a_token_that_may_only_read_opens_nothing(codehub: House, ada: Person, garden: UUID) -> None:
    async with codehub.people() as people:
        token = await people.token(ada.user, Scope.READ)
    program = codehub.browser()
    headers = {"Authorization": f"Bearer {token.value}"}
    assert (await program.send("GET", program.origin(garden), headers)).status_code == 403
    headers = {"Authorization": "Bearer codehub_invented"}
    assert (await program.send("GET", program.origin(garden), headers)).status_code == 401


async def test_a_workspace_cannot_set_our_cookies(browser: Browser, garden: UUID) -> None:
    answer = await browser.fetch(f"{browser.origin(garden)}/cookies")
    assert answer.headers.get_list("set-cookie") == ["own=1", "mine=2"]


async def test_a_websocket_of_another_origins_page_is_refused(browser: Browser, garden: UUID, kitchen: UUID) -> None:
    origin = browser.origin(garden)
    for foreign in (
        browser.origin(kitchen),
        browser.home,
        "null",
        origin.replace("http:", "https:"),
        f"{origin}1",
        origin.replace(".localhost", ".localhost.evil.example"),
        None,
    ):
        async with browser.websocket(origin, origin=foreign) as socket:
            assert socket.status == 403, foreign
    async with browser.websocket(origin) as socket:
        assert socket.status == 101


async def test_a_page_of_one_workspace_cannot_ask_another_as_its_visitor(
    browser: Browser, garden: UUID, kitchen: UUID
) -> None:
    there = browser.origin(garden)
    sibling = {**SCRIPT, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}
    assert (await browser.send("GET", there, sibling)).status_code == 403
    framed = {**sibling, "Sec-Fetch-Dest": "iframe", "Sec-Fetch-Mode": "navigate"}
    assert (await browser.send("GET", there, framed)).status_code == 403
    for wanted in ("/", "/.codehub/wake", "/.codehub/extend"):
        posted = await browser.send("POST", f"{there}{wanted}", {"Origin": browser.origin(kitchen)})
        assert posted.status_code == 403, wanted
    for wanted in ("/.codehub/wake", "/.codehub/extend"):  # nor anybody who does not say where from
        assert (await browser.send("POST", f"{there}{wanted}", {})).status_code == 403


async def test_the_api_is_not_on_a_workspaces_origin(ada: Person, browser: Browser, garden: UUID) -> None:
    inside = await browser.send("GET", f"{browser.origin(garden)}/api/v1/me", {**SCRIPT, **ada.bearer})
    assert inside.json()["path"] == "/api/v1/me"  # the workspace has answered
    for host in (f"x.{garden.hex}.localhost", "a_b.localhost", "a-.localhost"):
        assert (await browser.fetch(f"http://{host}:{browser.address[1]}/api/v1/me")).status_code == 404


async def test_what_is_for_the_front_door_alone_is_not_there_for_others(ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    told = {"X-Codehub-Guest": f"{ada.user.id} {ada.token_id}", "X-Codehub-Visited": "/"}
    for path in (f"/internal/workspaces/{garden}/page", f"//internal/workspaces/{garden}/page"):
        assert (await browser.send("GET", f"{browser.home}{path}", {**SCRIPT, **told})).status_code == 404


async def test_who_says_they_are_somebody_else_is_not_believed(ada: Person, garden: UUID) -> None:
    """The address in the audit log is that of the connection."""
    browser = await ada.log_in()
    told = {"X-Forwarded-For": "6.6.6.6", "Forwarded": "for=6.6.6.6", "X-Real-IP": "6.6.6.6"}
    await browser.send("POST", f"{browser.home}/api/v1/auth/login", told, json={"login": "nobody", "password": "x"})
    found = await ada.house.fetchval("SELECT string_agg(DISTINCT address, ' ') FROM login_attempts")
    assert "6.6.6.6" not in found
    assert "127.0.0.1" in found
    assert garden.hex not in found
