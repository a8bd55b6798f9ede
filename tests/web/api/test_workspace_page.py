"""The page of one workspace in a browser without JavaScript: all of it is there, and everything can be done."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI

from codehub import clock
from codehub.model.accounts import Role
from codehub.model.states import Phase
from codehub.model.usage import Sample
from codehub.settings import Settings
from codehub.web.pages.workspace_timeline import MOST_EVENTS
from codehub.web.parts import Parts
from tests.web.api.people import People, User, form_token
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import Owner

PERSON = {"Accept": "text/html"}


@pytest.fixture
def settings(tmp_path: Path, redis_prefix: Callable[[], str]) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "REDIS_CHANNEL_USAGE_PREFIX": redis_prefix()}, tmp_path)


@pytest.fixture
async def browser(people: People, user: User) -> httpx.AsyncClient:
    return await _browser(people, user)


async def _browser(people: People, user: User) -> httpx.AsyncClient:
    client = await people.browser(user)
    client.headers.update(PERSON)
    return client


def address(workspace: dict[str, Any], rest: str = "") -> str:
    return f"/workspaces/{workspace['id']}{rest}"


async def send(
    browser: httpx.AsyncClient, workspace: dict[str, Any], rest: str = "", **fields: object
) -> httpx.Response:
    here = address(workspace)
    sent = {"csrf_token": form_token(await browser.get(here)), **fields}
    return await browser.post(here + rest, data=sent, headers={"Referer": f"http://codehub.test{here}"})


async def happened(owner: Owner, workspace: dict[str, Any], kind: str, seconds_ago: float, **words: str) -> None:
    """As if the coordinators had written it."""
    columns = {name: words.get(name) for name in ("before", "after", "reason", "actor")}
    await owner.pool.execute(
        """INSERT INTO workspace_events (workspace_id, kind, at, before, after, reason, actor, detail)
           VALUES ($1, $2, clock_timestamp() - $3 * interval '1 second', $4, $5, $6, $7, $8)""",
        *(UUID(workspace["id"]), kind, seconds_ago, *columns.values(), words.get("detail", "")),
    )


async def test_it_tells_what_it_is_and_can_do_without_a_script(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("<garden>", description="The shop")
    page = await browser.get(address(made))
    assert page.status_code == 200
    assert "<h1>&lt;garden&gt;</h1>" in page.text
    assert "Its home is made ready in a moment" in page.text
    for section in ("timeline", "conditions", "logs", "usage", "archives", "holds", "settings", "danger"):
        assert f'<section class="panel" id="{section}"' in page.text
    assert "style=" not in page.text
    assert "타임라인" in (await browser.get(address(made), headers={"Accept-Language": "ko"})).text


async def test_it_is_its_owners_and_for_administrators(people: People, ada: Owner) -> None:
    made = await ada.create("garden")
    stranger = await _browser(people, await people.user())
    for rest in ("", "/log.txt", "/fork", "/delete"):
        assert (await stranger.get(address(made, rest))).status_code == 404
    assert (await stranger.get(f"/fragments/workspaces/{made['id']}")).status_code == 404
    assert (await stranger.get(f"/fragments/workspaces/{made['id']}/usage")).status_code == 404
    administrator = await _browser(people, await people.user(role=Role.ADMIN))
    page = await administrator.get(address(made))
    assert "Belongs to" in page.text
    assert 'data-key="open"' not in page.text
    sent = {"csrf_token": form_token(page), "action": "start", "ids": [made["id"]]}
    await administrator.post("/workspaces/act", data=sent)
    assert (await ada.get(made)).json()["desired_state"] == "RUNNING"


async def test_a_start_is_told_with_who_asked_and_how_long_each_stage_took(
    browser: httpx.AsyncClient, ada: Owner
) -> None:
    made = await ada.create("garden")
    await happened(ada, made, "wish", 20, before="ARCHIVED", after="RUNNING", reason="wake", actor="ada")
    await happened(ada, made, "operation", 18, before="NONE", after="RESTORING")
    await happened(ada, made, "failure", 15, before="RESTORING", reason="Timeout", detail="no answer")
    await happened(ada, made, "operation", 8, before="RESTORING", after="STARTING")
    await happened(ada, made, "phase", 5.5, before="STANDBY", after="RUNNING")
    await happened(ada, made, "operation", 5.5, before="STARTING", after="NONE")
    page = unescape(re.sub(r"<[^>]*>", "", (await browser.get(address(made))).text))
    told = re.sub(r"\s+", " ", page)
    assert "Start with trouble ada opened it" in told
    assert "took 14 s" in told
    assert "Waiting 2.0 s Restoring 10 s Starting 2.5 s" in told
    assert "Failed: the attempt took too long no answer" in told


async def test_what_is_found_to_be_wrong_is_not_told_of_what_was_done_before(
    browser: httpx.AsyncClient, ada: Owner
) -> None:
    made = await ada.create("garden")
    await happened(ada, made, "failure", 5, before="NONE", reason="DataLost", detail="it is gone")
    await happened(ada, made, "operation", 4, before="NONE", after="STARTING")
    page = (await browser.get(address(made))).text
    titles = re.findall(r'<div class="heading"><strong>([^<]*)</strong>', page)
    assert titles == ["Something was found to be wrong", "Made"]
    assert '<rect class="busy"' in page


async def test_what_happened_long_ago_is_on_further_pages(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    await happened(ada, made, "operation", 10, before="NONE", after="PROVISIONING")
    for number in range(MOST_EVENTS // 2):
        await happened(ada, made, "wish", 9, after="STANDBY", reason="owner", actor=f"first{number}")
        await happened(ada, made, "phase", 8, after="STANDBY")
    first = await browser.get(address(made))
    assert "first1 asked" in first.text
    assert "first0 asked" in first.text
    assert "Made" not in re.findall(r"<strong>([^<]*)</strong>", first.text)
    [older] = re.findall(r'href="([^"]*before=[^"]*)#timeline"', first.text)
    last = await browser.get(older)
    assert "Made" in re.findall(r"<strong>([^<]*)</strong>", last.text)
    assert "before=" not in last.text
    assert '<rect class="provisioning"' in last.text


async def test_its_settings_are_changed(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    fields = {"name": "shed", "description": "Tools", "memo": "one\r\ntwo", "standby": "3600", "archive": ""}
    answer = await send(browser, made, **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, address(made))
    now = (await ada.get(made)).json()
    assert (now["name"], now["description"], now["memo"]) == ("shed", "Tools", "one\ntwo")
    assert (now["standby_after_seconds"], now["archive_after_seconds"]) == (3600, None)
    page = await browser.get(address(made))
    assert "The settings are saved." in page.text
    assert '<option value="3600" selected>' in page.text


@pytest.mark.parametrize(
    ("name", "standby", "status", "told"),
    [
        ("a/b", "", 422, "A name is on one line"),
        ("shed", "", 409, "a workspace of this name already"),
        ("ok", "soon", 422, "not as it should be"),
    ],
)
async def test_settings_that_are_wrong_come_back_with_what_was_typed(
    browser: httpx.AsyncClient, ada: Owner, name: str, standby: str, status: int, told: str
) -> None:
    await ada.create("shed")
    made = await ada.create("garden")
    answer = await send(browser, made, name=name, description="Typed", memo="Here", standby=standby)
    assert answer.status_code == status
    assert told in answer.text
    assert f'value="{name}"' in answer.text
    assert 'value="Typed"' in answer.text
    assert ">\nHere</textarea>" in answer.text
    assert (await ada.get(made)).json()["name"] == "garden"


async def test_a_hold_is_placed_and_released(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    answer = await send(browser, made, "/holds", reason="nightly build", seconds=3600)
    assert (answer.status_code, answer.headers["location"]) == (303, address(made))
    page = await browser.get(address(made))
    assert "<strong>nightly build</strong>" in page.text
    assert "Hold placed: nightly build" in page.text
    [release] = re.findall(r'action="([^"]*/release)"', page.text)
    await send(browser, made, release.removeprefix(address(made)))
    assert "Nothing holds it." in (await browser.get(address(made))).text
    assert "It was not held" in await said(browser, await send(browser, made, "/holds", reason="x", seconds=10**8))
    assert "Say what it is for" in await said(browser, await send(browser, made, "/holds", reason=" ", seconds=60))


async def said(browser: httpx.AsyncClient, answer: httpx.Response) -> str:
    return (await browser.get(answer.headers["location"])).text


async def test_an_archive_is_kept_downloaded_and_forked(browser: httpx.AsyncClient, ada: Owner, shelf: Shelf) -> None:
    made = await ada.create("garden")
    assert "There is none yet." in (await browser.get(address(made))).text
    old, new = await shelf.put(made, b"old files"), await shelf.put(made)
    page = await browser.get(address(made))
    assert "Stays: it is the current archive." in page.text
    await send(browser, made, f"/archives/{old.id}/keep", kept="true")
    page = await browser.get(address(made))
    assert "Archive 1 is kept" in page.text
    assert '<span class="badge">kept</span>' in page.text
    await send(browser, made, f"/archives/{old.id}/keep", kept="false")
    assert '<span class="badge">kept</span>' not in (await browser.get(address(made))).text
    file = await browser.get(address(made, f"/archives/{old.id}/download"))
    assert (file.content, file.headers["content-type"]) == (b"old files", "application/zstd")
    form = await browser.get(address(made, f"/fork?archive={old.id}"))
    answer = await send(browser, made, "/fork", name="copy", archive=str(old.id))
    assert (form.status_code, answer.status_code) == (200, 303)
    fork = "SELECT request ->> 'archive_key' FROM workspaces WHERE name = 'copy'"
    assert await ada.pool.fetchval(fork) == old.key != new.key


async def test_a_deleted_one_can_still_be_looked_at_and_brought_back(
    browser: httpx.AsyncClient, ada: Owner, shelf: Shelf
) -> None:
    made = await ada.create("garden")
    await shelf.put(made)
    await ada.delete(made)
    await ada.becomes(made, Phase.DELETED)
    page = await browser.get(address(made))
    assert 'value="undelete"' in page.text
    assert 'name="memo"' not in page.text
    assert "/restore?" not in page.text


async def test_nothing_that_runs_means_no_log_and_a_sentence_instead(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    page = await browser.get(address(made))
    assert "nothing is kept of what has ended" in page.text
    assert (await browser.get(address(made, "/log.txt"))).status_code == 409


async def test_what_it_used_is_drawn_and_said(browser: httpx.AsyncClient, ada: Owner, app: FastAPI) -> None:
    made = await ada.create("garden")
    parts: Parts = app.state.parts
    await parts.usage.write(UUID(made["id"]), Sample(clock.now(), 0.5, 2.0, 10**9, 2 * 10**9, 3, 5000))
    for path in (address(made), f"/fragments{address(made)}/usage"):
        page = (await browser.get(path)).text
        assert "now 1.0 GB · at most 1.0 GB within the hour · limit 2.0 GB" in page
        assert "now 0.50 · at most 0.50 within the hour" in page
        assert page.count("<polyline") == 3
