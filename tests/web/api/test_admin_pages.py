"""The pages for administrators in a browser without JavaScript: everything can be done there."""

import json
import re
from datetime import timedelta
from html import unescape

import asyncpg
import httpx
import pytest

from codehub import clock
from codehub.model.accounts import Role
from codehub.model.states import ErrorReason, Phase
from codehub.web.pages import admin_audit, admin_users
from tests.web.api.people import PASSWORD, People, User, form_token
from tests.web.api.workspaces import Owner, make_template

PERSON = {"Accept": "text/html"}
NEW_TEMPLATE = {"name": "python", "image_ref": "registry.example.org/ide:1", "port": "8080", "health_path": "/"}


@pytest.fixture
async def browser(people: People, root: User) -> httpx.AsyncClient:
    """Of the administrator; redirects are not followed, so that a test sees where they lead."""
    client = await people.browser(root)
    client.headers.update(PERSON)
    return client


def strong(page: httpx.Response) -> list[str]:
    """The names in a list."""
    found = re.findall(r"<strong>(?:<a [^>]*>)?([^<]*)(?:</a>)?</strong>", page.text)
    return [unescape(text) for text in found]


async def send(browser: httpx.AsyncClient, address: str, **fields: str) -> httpx.Response:
    csrf = form_token(await browser.get("/account"))
    return await browser.post(f"/admin{address}", data={"csrf_token": csrf, **fields})


async def test_the_link_is_for_administrators_only(browser: httpx.AsyncClient, people: People) -> None:
    assert 'href="/admin"' in (await browser.get("/account")).text
    other = await people.browser(await people.user())
    assert 'href="/admin"' not in (await other.get("/account", headers=PERSON)).text
    refused = await other.get("/admin", headers={**PERSON, "Accept-Language": "ko"})
    assert refused.status_code == 403
    assert "관리자만 할 수 있습니다." in refused.text


async def test_users_are_narrowed_and_paged(browser: httpx.AsyncClient, people: People, pool: asyncpg.Pool) -> None:
    await people.user("gone", disabled=True)
    assert strong(await browser.get("/admin/users")) == ["gone", "root"]
    assert strong(await browser.get("/admin/users?q=OO")) == ["root"]
    assert strong(await browser.get("/admin/users?role=user")) == ["gone"]
    assert strong(await browser.get("/admin/users?state=enabled&role=x&cursor=%00")) == ["root"]
    await pool.execute(
        "INSERT INTO users (id, login, role, password_hash)"
        " SELECT gen_random_uuid(), 'many-' || to_char(n, 'FM000'), 'user', '!' FROM generate_series(1, $1) AS n",
        admin_users.LISTED,
    )
    first = await browser.get("/admin/users?q=many&state=enabled")
    assert len(strong(first)) == admin_users.LISTED
    assert 'rel="next"' not in first.text
    first = await browser.get("/admin/users?role=user")
    [following] = re.findall(r'href="([^"]+)" rel="next"', first.text)
    assert strong(await browser.get(unescape(following))) == ["many-050"]


async def test_what_is_wrong_with_a_new_account_is_told_with_what_was_filled_in(browser: httpx.AsyncClient) -> None:
    for fields, status, told in (
        ({"login": "a b"}, 422, "not valid"),
        ({"login": "ada", "password": "short"}, 422, "at least 12 characters"),
        ({"login": "ROOT"}, 409, "account of this name already"),
        ({"login": "ada", "max_running": "many"}, 422, "not valid"),
    ):
        answer = await send(browser, "/users", **fields)
        assert answer.status_code == status, answer.text
        assert told in answer.text
        assert f'value="{fields["login"]}"' in answer.text
    made = await send(browser, "/users", login="ada", password=PASSWORD, max_running="7")
    assert made.status_code == 303
    page = await browser.get(made.headers["location"])
    assert "The account ada is made." in page.text
    assert 'value="7"' in page.text
    assert PASSWORD not in page.text


async def test_the_last_administrator_stays_one(browser: httpx.AsyncClient, root: User) -> None:
    for what, fields in (("change", {"role": "user"}), ("disabled", {"disabled": "true"}), ("delete", {})):
        answer = await send(browser, f"/users/{root.id}/{what}", **fields)
        assert answer.headers["location"] == f"/admin/users/{root.id}"
        assert "This is the last administrator." in (await browser.get(f"/admin/users/{root.id}")).text


async def test_what_cannot_be_undone_is_asked_first(browser: httpx.AsyncClient, people: People) -> None:
    gone = await people.user("gone")
    for what, asked in (("disabled", "Disable gone?"), ("delete", "Delete the account gone?")):
        page = await browser.get(f"/admin/users/{gone.id}/{what}")
        assert f'<h1 id="dialog-title">{asked}</h1>' in page.text
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', page.text))
        assert (await browser.post(f"/admin/users/{gone.id}/{what}", data=fields)).status_code == 303
    assert (await browser.get(f"/admin/users/{gone.id}")).status_code == 404


async def test_an_account_gets_a_new_password_is_logged_out_and_deleted(
    browser: httpx.AsyncClient, people: People, ada: Owner, user: User
) -> None:
    theirs = await people.browser(user)
    reset = await send(browser, f"/users/{user.id}/password")
    [secret] = re.findall(r'id="secret">([^<]+)<', reset.text)
    assert (await theirs.get("/api/v1/me")).status_code == 401
    body = {"login": user.login, "password": unescape(secret)}
    assert (await (await people.client()).post("/api/v1/auth/login", json=body)).status_code == 200
    await send(browser, f"/users/{user.id}/log-out")
    assert "1 browser is logged out." in (await browser.get(f"/admin/users/{user.id}")).text
    await ada.create("garden")
    await send(browser, f"/users/{user.id}/delete")
    page = await browser.get(f"/admin/users/{user.id}")
    assert "still has workspaces" in page.text
    assert strong(page) == ["garden"]
    gone = await people.user("gone")
    assert (await send(browser, f"/users/{gone.id}/delete")).headers["location"] == "/admin/users"
    assert (await browser.get(f"/admin/users/{gone.id}")).status_code == 404


async def test_everybodys_workspaces_are_narrowed_and_acted_on(
    browser: httpx.AsyncClient, people: People, ada: Owner, pool: asyncpg.Pool
) -> None:
    garden, shed = await ada.create("garden", "RUNNING"), await ada.create("shed")
    bob = Owner(await people.program(await people.user("bob")), pool)
    await bob.create("attic")
    await ada.becomes(shed, Phase.ERROR, ErrorReason.DATA_LOST)
    address = "/admin/workspaces"
    assert strong(await browser.get(address)) == ["attic", "shed", "garden"]
    assert strong(await browser.get(f"{address}?owner=ADA&sort=name")) == ["garden", "shed"]
    assert strong(await browser.get(f"{address}?owner=nobody")) == []
    assert strong(await browser.get(f"{address}?phase=ERROR&error=DataLost")) == ["shed"]
    assert strong(await browser.get(f"{address}?operation=STOPPING")) == []
    assert strong(await browser.get(f"{address}?q=TT&template=ide&phase=x&page=99")) == ["attic"]
    csrf = form_token(await browser.get(address))
    sent = {"csrf_token": csrf, "action": "stop", "ids": [garden["id"]]}
    came_from = {"Referer": "http://codehub.test/admin/workspaces?owner=ada"}
    answer = await browser.post("/workspaces/act", data=sent, headers=came_from)
    assert (answer.status_code, answer.headers["location"]) == (303, "/admin/workspaces?owner=ada")
    assert "garden is stopped." in (await browser.get(address)).text
    assert (await ada.get(garden)).json()["desired_state"] == "STANDBY"


async def test_a_halted_round_is_confirmed(browser: httpx.AsyncClient, pool: asyncpg.Pool) -> None:
    await pool.execute(
        """INSERT INTO gc_rounds (began_at, ended_at, seen, due, halted, kept)
           VALUES (now(), now(), 20, 7, 'too much', '{"it is among the newest 3": 13, "because of old": 1}')"""
    )
    page = await browser.get("/admin/collector", headers={"Accept-Language": "ko"})
    assert "20개 가운데 7개를 지울 뻔했습니다." in page.text
    assert "가장 새로운 3개에 속함" in page.text
    assert "because of old" in page.text
    assert "removed more than one round may" in (await browser.get("/admin")).text
    assert (await send(browser, "/collector/confirm", alarm="round_halted")).status_code == 303
    page = await browser.get("/admin/collector")
    assert "Confirmed. The next round follows at once." in page.text
    assert "asked for by root" in page.text
    await send(browser, "/collector/confirm", alarm="round_halted")
    assert "asks about nothing of the kind" in (await browser.get("/admin/collector")).text


async def test_a_template_is_made_changed_and_kept_while_it_is_used(
    browser: httpx.AsyncClient, ada: Owner, pool: asyncpg.Pool
) -> None:
    wrong = await send(browser, "/templates", **{**NEW_TEMPLATE, "port": "many", "environment": "A-B=1"})
    assert wrong.status_code == 422
    assert wrong.text.count('aria-invalid="true"') == 2
    made = await send(browser, "/templates", **NEW_TEMPLATE, memory_bytes="1.5", environment="TZ=UTC\r\nA=b=c\n\n")
    assert made.status_code == 303, made.text
    row = await pool.fetchrow("SELECT id, environment, resources, strip_prefix FROM templates WHERE name = 'python'")
    assert (row["environment"], row["resources"]) == ('{"A": "b=c", "TZ": "UTC"}', '{"memory_bytes": 1610612736}')
    address = f"/templates/{row['id']}"
    form = (await browser.get(f"/admin{address}")).text
    assert 'value="1.5"' in form
    assert "TZ=UTC" in form
    await send(browser, address, **{**NEW_TEMPLATE, "standby_after_seconds": "90", "name": "snake"})
    changed = await pool.fetchrow("SELECT name, standby_after_seconds, resources FROM templates WHERE name = 'snake'")
    assert tuple(changed) == ("snake", 5400, "{}")
    fields = "SELECT detail FROM audit_log WHERE action = 'template.change'"
    told = ["environment", "name", "resources", "standby_after_seconds"]
    assert json.loads(await pool.fetchval(fields)) == {"fields": told}
    assert "snake" in strong(await browser.get("/admin/templates"))
    used = await pool.fetchval("SELECT id FROM templates WHERE name = 'ide'")
    await ada.create("garden")
    await send(browser, f"/templates/{used}/delete")
    assert "There are workspaces that run it." in (await browser.get(f"/admin/templates/{used}")).text


async def test_of_a_built_in_template_only_some_fields_are_there(
    browser: httpx.AsyncClient, pool: asyncpg.Pool
) -> None:
    which = await make_template(pool)
    await pool.execute("UPDATE templates SET built_in = true")
    form = (await browser.get(f"/admin/templates/{which}")).text
    assert 'name="image_ref"' not in form
    assert 'name="cpus"' in form
    await send(browser, f"/templates/{which}", cpus="2.5")
    assert await pool.fetchval("SELECT resources FROM templates") == '{"cpus": 2.5}'


async def test_the_audit_log_is_narrowed_by_who_what_and_when_and_paged(
    browser: httpx.AsyncClient, pool: asyncpg.Pool
) -> None:
    await send(browser, "/users", login="ada")
    now = clock.now()
    today, yesterday = now.date(), (now - timedelta(days=1)).date()
    made = ["root", "ada"]
    assert strong(await browser.get("/admin/audit?actor=ROOT&action=user")) == made
    assert strong(await browser.get("/admin/audit?action=workspace")) == []
    assert strong(await browser.get(f"/admin/audit?since={yesterday}&until={today + timedelta(days=1)}")) == made
    assert strong(await browser.get(f"/admin/audit?until={yesterday}")) == []
    assert strong(await browser.get("/admin/audit?since=soon&until=9999-12-31&cursor=%C3%A9")) == made
    korean = (await browser.get("/admin/audit", headers={"Accept-Language": "ko"})).text
    assert "계정 만듦" in korean
    await pool.execute(
        "INSERT INTO audit_log (actor, action, subject, address, request_id)"
        " SELECT 'ada', 'of.tomorrow', '', '192.0.2.1', '' FROM generate_series(1, $1)",
        admin_audit.LISTED,
    )
    first = await browser.get("/admin/audit")
    assert strong(first) == ["ada"] * admin_audit.LISTED
    assert "of.tomorrow" in first.text
    [older] = re.findall(r'href="([^"]+)" rel="next"', first.text)
    assert strong(await browser.get(unescape(older))) == made


async def test_the_overview_shows_how_much_there_is(browser: httpx.AsyncClient, people: People, ada: Owner) -> None:
    await ada.create("garden", "RUNNING")
    await people.user("boss", Role.ADMIN)
    page = (await browser.get("/admin")).text
    assert "1 of 100 are taken." in page
    assert '<a href="/admin/workspaces?phase=PENDING"><strong>1</strong>' in page
    assert '<a href="/admin/users"><strong>3</strong>' in page
    assert "Nobody leads" in page
