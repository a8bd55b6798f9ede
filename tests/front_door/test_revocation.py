"""Whoever loses a right is out within a second, also where they hold something open."""

from uuid import UUID

import httpx

from tests.coordinators.house import until
from tests.front_door.browser import Browser
from tests.front_door.house import House, Person

SECONDS = 15
"""On a busy machine; how soon it really is, a benchmark says."""


async def until_refused(browser: Browser, url: str, *statuses: int, **headers: str) -> httpx.Response:
    async def refused() -> httpx.Response | None:
        answer = await browser.fetch(url, **headers)
        return answer if answer.status_code in statuses else None

    return await until(refused, SECONDS)


async def test_a_session_that_ends_closes_what_it_has_opened(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed")
    browser, other = await eve.at(shed), await eve.at(shed)
    origin = browser.origin(shed)
    async with browser.websocket(origin) as socket, other.websocket(origin) as stays:
        await socket.told()
        await stays.told()
        home = browser.jar["127.0.0.1"]
        session = await codehub.fetchval(
            "DELETE FROM sessions WHERE secret_hash = sha256($1::bytea) RETURNING id", home["codehub"][0].encode()
        )
        assert session is not None
        assert await socket.closed() == 1008
        await until_refused(browser, origin, 401)
        await stays.say(b"still here")
        assert await stays.hear() == b"still here"


async def test_a_token_that_is_revoked_opens_nothing_more(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed")
    program = codehub.browser()
    origin = program.origin(shed)
    assert (await program.send("GET", origin, eve.bearer)).status_code == 200
    async with program.websocket(origin, origin=None, **eve.bearer) as socket:
        await socket.told()
        await codehub.fetchval("DELETE FROM api_tokens WHERE id = $1", eve.token_id)
        assert await socket.closed() == 1008
    await until_refused(program, origin, 401, **eve.bearer)


async def test_somebody_who_is_disabled_is_out(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed")
    browser = await eve.at(shed)
    async with browser.websocket(browser.origin(shed)) as socket:
        await socket.told()
        await codehub.fetchval("UPDATE users SET disabled = true WHERE id = $1", eve.user.id)
        assert await socket.closed() == 1008
    await until_refused(browser, browser.origin(shed), 401)


async def test_a_workspace_that_is_deleted_or_stopped_is_left(eve: Person) -> None:
    shed = await eve.workspace("shed")
    browser = await eve.at(shed)
    origin = browser.origin(shed)
    async with browser.websocket(origin) as socket:
        await socket.told()
        await eve.call("POST", f"/workspaces/{shed}/stop")
        assert await socket.closed() in {1001, None}  # by us, or by the workspace, whoever was faster
    await until_refused(browser, origin, 503)
    await eve.until_phase(shed, "STANDBY")
    await eve.call("DELETE", f"/workspaces/{shed}")
    await until_refused(browser, origin, 404)
    assert (await browser.open(origin)).status_code == 404


async def test_a_session_lives_on_while_its_owner_works_in_a_workspace(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed")
    browser = await eve.log_in()
    long_ago = "UPDATE sessions SET last_used_at = now() - interval '2 hours' WHERE user_id = $1"
    await codehub.fetchval(long_ago, eve.user.id)
    await browser.open(browser.origin(shed))
    used: bool = await codehub.fetchval(
        "SELECT bool_and(last_used_at > now() - interval '1 hour') FROM sessions WHERE user_id = $1", eve.user.id
    )
    assert used


async def visits(codehub: House, user_id: UUID) -> int:
    number: int = await codehub.fetchval(
        "SELECT count(*) FROM visits JOIN sessions ON sessions.id = session_id WHERE user_id = $1", user_id
    )
    return number


async def test_a_browser_that_forgets_its_cookies_fills_no_table(codehub: House, eve: Person) -> None:
    shed = await eve.workspace("shed")
    browser = await eve.log_in()
    for _ in range(6):
        await browser.open(browser.origin(shed))
        browser.jar.pop(f"{shed.hex}.localhost")
    assert await visits(codehub, eve.user.id) == 4
