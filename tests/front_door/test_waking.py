"""A visit to a sleeping workspace: it wakes when a person means it, and nothing else wakes it."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.front_door.browser import PERSON, SCRIPT, Browser
from tests.front_door.house import House, Person


async def desired(codehub: House, workspace_id: UUID) -> tuple[str, str]:
    found = await codehub.fetchval(
        "SELECT desired_state || ' ' || desired_reason FROM workspaces WHERE id = $1", workspace_id
    )
    state, reason = found.split()
    return state, reason


@asynccontextmanager
async def events(browser: Browser, origin: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    """What the waking page is told, as it happens."""
    host = origin.removeprefix("http://")
    there = f"http://{browser.address[0]}:{browser.address[1]}/.codehub/events"
    said = {**SCRIPT, "Host": host, "Cookie": browser.cookies(origin)}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=60) as client,
        client.stream("GET", there, headers=said) as stream,
    ):
        assert stream.status_code == 200

        async def states() -> AsyncIterator[dict[str, Any]]:
            async for line in stream.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

        yield states()


@pytest.fixture
async def shed(eve: Person) -> UUID:
    return await eve.workspace("shed", running=False)


async def test_a_navigation_shows_the_waking_page_and_wakes_nothing_by_itself(
    codehub: House, eve: Person, shed: UUID
) -> None:
    browser = await eve.log_in()
    page = await browser.open(f"{browser.origin(shed)}/folder?x=1")
    assert page.status_code == 503
    assert page.headers["retry-after"]
    assert "shed" in page.text
    assert 'value="/folder?x=1"' in page.text
    assert await desired(codehub, shed) == ("STANDBY", "owner")
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert re.findall(r"<script(?! src=)|<style|style=|onclick", page.text) == []
    for address in re.findall(r'(?:src|href)="(/[^"]*)"', page.text):
        assert (await browser.fetch(f"{browser.origin(shed)}{address}")).status_code == 200


async def test_the_page_wakes_it_follows_it_and_gives_way_to_it(codehub: House, eve: Person, shed: UUID) -> None:
    browser = await eve.at(shed)
    origin = browser.origin(shed)
    async with events(browser, origin) as states:
        first = await anext(states)
        assert first["is_asleep"]
        assert not first["is_ready"]
        woken = await browser.fetch(f"{origin}/.codehub/wake", "POST", Accept="application/json")
        assert woken.status_code == 202
        assert await desired(codehub, shed) == ("RUNNING", "wake")
        seen = [state async for state in states]
    assert seen[-1]["is_ready"]
    assert {"Starting", "Running"} & {word for state in seen for word in state["summary"].replace(".", "").split()}
    opened = await browser.open(f"{origin}/folder")
    assert opened.status_code == 200
    assert opened.json()["path"] == "/folder"


async def test_without_javascript_a_button_wakes_it(codehub: House, eve: Person, shed: UUID) -> None:
    browser = await eve.at(shed)
    origin = browser.origin(shed)
    sent = await browser.post(f"{origin}/.codehub/wake", {"to": "/folder?x=1"})
    assert sent.status_code == 303
    assert sent.headers["location"] == "/folder?x=1"
    assert await desired(codehub, shed) == ("RUNNING", "wake")
    elsewhere = await browser.post(f"{origin}/.codehub/wake", {"to": "//evil.example/"})
    assert elsewhere.headers["location"] == "/"
    await eve.until_phase(shed, "RUNNING")
    assert (await browser.open(f"{origin}/folder?x=1")).status_code == 200


@pytest.mark.parametrize(
    "said",
    [
        SCRIPT,
        {**PERSON, "Sec-Fetch-Dest": "iframe"},
        {**PERSON, "Sec-Fetch-Dest": "image"},
        {**PERSON, "Sec-Purpose": "prefetch;prerender"},
        {"Accept": "*/*"},
        {"Accept": "application/json", "Sec-Fetch-Dest": "empty"},
    ],
)
async def test_scripts_images_and_what_is_read_ahead_get_503_and_wake_nothing(
    ada: Person, said: dict[str, str], attic: UUID
) -> None:
    browser = await ada.at(attic)
    answer = await browser.send("GET", browser.origin(attic), {**said, "Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
    assert "<html" not in answer.text
    posted = await browser.send("POST", browser.origin(attic), {**said, "Origin": browser.origin(attic)})
    assert posted.status_code == 503
    assert await desired(ada.house, attic) == ("STANDBY", "owner")


@pytest.fixture(scope="session")
def attic(ada: Person) -> UUID:
    """A workspace that sleeps, and that nobody wakes."""
    return asyncio.run(ada.workspace("attic", running=False))


async def test_a_websocket_of_a_sleeping_workspace_is_refused_and_wakes_nothing(ada: Person, attic: UUID) -> None:
    browser = await ada.at(attic)
    async with browser.websocket(browser.origin(attic)) as socket:
        assert socket.status == 503
    assert await desired(ada.house, attic) == ("STANDBY", "owner")


async def test_many_visitors_wake_it_once(codehub: House, eve: Person, shed: UUID) -> None:
    browsers = [await eve.at(shed) for _ in range(3)]
    wake = f"{browsers[0].origin(shed)}/.codehub/wake"
    answers = await asyncio.gather(*(each.fetch(wake, "POST") for each in browsers * 3))
    assert {answer.status_code for answer in answers} == {202}
    await eve.until_phase(shed, "RUNNING")
    wishes = await codehub.fetchval(
        "SELECT count(*) FROM workspace_events WHERE workspace_id = $1 AND kind = 'wish' AND after = 'RUNNING'", shed
    )
    assert wishes == 1


async def test_an_archived_workspace_wakes_like_any_other(codehub: House, eve: Person) -> None:
    archived = """
        INSERT INTO workspaces (id, owner_user_id, name, template_id, desired_state)
        SELECT gen_random_uuid(), $1, 'cellar', id, 'ARCHIVED' FROM templates WHERE name = 'code-server' RETURNING id
    """
    cellar: UUID = await codehub.fetchval(archived, eve.user.id)
    await eve.until_phase(cellar, "ARCHIVED")
    browser = await eve.at(cellar)
    assert (await browser.open(browser.origin(cellar))).status_code == 503
    assert (await browser.fetch(browser.origin(cellar))).status_code == 503
    async with events(browser, browser.origin(cellar)) as states:
        assert (await anext(states))["is_asleep"]
        assert (await browser.fetch(f"{browser.origin(cellar)}/.codehub/wake", "POST")).status_code == 202
        assert not (await anext(states))["is_asleep"]
    assert await desired(codehub, cellar) == ("RUNNING", "wake")


async def test_at_the_limit_a_page_lists_what_runs_and_one_can_be_stopped_instead(codehub: House) -> None:
    bob = await codehub.person(max_running=1)
    shed, barn = await bob.workspace("shed", running=False), await bob.workspace("barn")
    browser = await bob.log_in()
    page = await browser.open(browser.origin(shed))
    assert page.status_code == 502
    assert "barn" in page.text
    (choice,) = re.findall(rf'href="({re.escape(browser.home)}/workspaces/[^"]*)"', page.text)
    refused = await browser.fetch(f"{browser.origin(shed)}/.codehub/wake", "POST")
    assert refused.status_code == 429
    asked = await browser.open(choice)
    assert "Stop barn and open shed" in asked.text
    assert await desired(codehub, barn) == ("RUNNING", "owner")
    (token,) = set(re.findall(r'name="csrf_token" value="([0-9a-f]+)"', asked.text))
    forged = await browser.post(choice, {"csrf_token": "0" * 64})
    assert forged.status_code == 403
    done = await browser.post(choice, {"csrf_token": token})
    assert done.headers["location"] == f"{browser.origin(shed)}/"
    assert (await desired(codehub, barn))[0] == "STANDBY"
    assert (await desired(codehub, shed))[0] == "RUNNING"
    await bob.until_phase(shed, "RUNNING")
    assert (await browser.open(browser.origin(shed))).status_code == 200


async def test_a_workspace_in_error_says_why_and_leads_to_its_recovery(codehub: House, eve: Person, shed: UUID) -> None:
    await codehub.fetchval(
        "UPDATE workspaces SET phase = 'ERROR', error_reason = 'ActionFailed', error_count = 3 WHERE id = $1", shed
    )
    browser = await eve.log_in()
    page = await browser.open(browser.origin(shed))
    assert page.status_code == 503
    (recover,) = re.findall(rf'href="({re.escape(browser.home)}/workspaces/[^"]*/recover)"', page.text)
    assert (await browser.fetch(browser.origin(shed))).status_code == 503
    asked = await browser.open(recover)
    (token,) = set(re.findall(r'name="csrf_token" value="([0-9a-f]+)"', asked.text))
    done = await browser.post(recover, {"csrf_token": token})
    assert done.status_code == 303
    await eve.until_phase(shed, "STANDBY")


async def test_extending_counts_as_activity_of_that_workspace_alone(eve: Person, shed: UUID) -> None:
    browser = await eve.at(shed)
    extend = f"{browser.origin(shed)}/.codehub/extend"
    assert (await browser.fetch(extend, "POST")).status_code == 503  # it sleeps
    await browser.fetch(f"{browser.origin(shed)}/.codehub/wake", "POST")
    await eve.until_phase(shed, "RUNNING")
    assert (await browser.fetch(extend, "POST")).status_code == 204
    clock = await browser.open(f"{browser.origin(shed)}/.codehub/")
    assert "Keep it awake" in clock.text
    assert (await browser.post(extend, {})).headers["location"] == "/.codehub/"
    assert (await browser.fetch(f"{browser.origin(shed)}/.codehub/anything", "POST")).status_code == 404
