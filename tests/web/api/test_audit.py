"""The audit log: every action that matters leaves one entry, which nobody changes."""

from datetime import UTC, datetime, timedelta

import asyncpg
import httpx
import pytest

from tests.web.api.people import PASSWORD, People, User

AUDIT = "/api/v1/admin/audit"
NEWER = "four more words are better"


@pytest.fixture
async def client(people: People, root: User) -> httpx.AsyncClient:
    return await people.browser(root)


async def actions(people: People) -> list[tuple[str, str]]:
    rows = await people.pool.fetch("SELECT actor, action FROM audit_log ORDER BY id")
    return [(row["actor"], row["action"]) for row in rows]


async def test_what_people_do_about_their_account_is_told(people: People) -> None:
    ada = await people.user("ada", password=PASSWORD)
    browser = await people.client(address="192.0.2.77")
    await browser.post("/api/v1/auth/login", json={"login": "ada", "password": "a secret guess"})
    await browser.post("/api/v1/auth/login", json={"login": "my-password-by-mistake", "password": "x"})
    answer = await browser.post("/api/v1/auth/login", json={"login": "ada", "password": PASSWORD})
    browser.headers.update({"X-CSRF-Token": answer.json()["csrf_token"]})
    made = await browser.post("/api/v1/tokens", json={"name": "laptop", "scopes": ["read"]})
    await browser.delete(f"/api/v1/tokens/{made.json()['id']}")
    session = await people.session(ada)
    await browser.delete(f"/api/v1/sessions/{session.id}")
    await browser.delete("/api/v1/sessions")
    changed = await browser.post("/api/v1/me/password", json={"present": PASSWORD, "new": NEWER})
    browser.headers.update({"X-CSRF-Token": changed.json()["csrf_token"]})
    await browser.post("/api/v1/auth/logout")
    assert await actions(people) == [
        ("ada", "login.failed"),
        ("unknown", "login.failed"),
        ("ada", "login.succeeded"),
        ("ada", "token.create"),
        ("ada", "token.revoke"),
        ("ada", "session.end"),
        ("ada", "session.end_others"),
        ("ada", "password.change"),
        ("ada", "logout"),
    ]
    rows = await people.pool.fetch("SELECT * FROM audit_log")
    assert {row["address"] for row in rows} == {"192.0.2.77"}
    assert all(row["request_id"] for row in rows)
    for secret in (PASSWORD, NEWER, made.json()["token"], "a secret guess", "my-password-by-mistake"):
        assert secret not in str(rows)


async def test_what_administrators_do_is_told(people: People, client: httpx.AsyncClient) -> None:
    made = (await client.post("/api/v1/admin/users", json={"login": "ada"})).json()
    path = f"/api/v1/admin/users/{made['user']['id']}"
    for changes in ({"max_running": 3}, {"max_running": 3}, {"role": "admin"}, {"disabled": True}, {"disabled": False}):
        await client.patch(path, json=changes)
    reset = (await client.post(f"{path}/password", json={})).json()
    await client.delete(path)
    assert await actions(people) == [
        ("root", "user.create"),
        ("root", "user.change"),
        ("root", "user.change_role"),
        ("root", "user.disable"),
        ("root", "user.enable"),
        ("root", "user.reset_password"),
        ("root", "user.delete"),
    ]
    rows = await people.pool.fetch("SELECT * FROM audit_log")
    assert {(str(row["subject_id"]), row["subject"]) for row in rows} == {(made["user"]["id"], "ada")}
    for secret in (made["password"], reset["password"]):
        assert secret not in str(rows)


async def test_what_was_refused_is_not_told_as_done(people: People, root: User, client: httpx.AsyncClient) -> None:
    await client.delete(f"/api/v1/admin/users/{root.id}")
    await client.post("/api/v1/admin/users", json={"login": "ROOT"})
    assert await actions(people) == []


@pytest.mark.parametrize("statement", ["UPDATE audit_log SET actor = 'nobody'", "DELETE FROM audit_log"])
async def test_nobody_changes_what_was_told(people: People, client: httpx.AsyncClient, statement: str) -> None:
    await client.post("/api/v1/admin/users", json={"login": "ada"})
    with pytest.raises(asyncpg.RaiseError, match="append-only"):
        await people.pool.execute(statement)
    assert await actions(people) == [("root", "user.create")]


async def test_the_log_is_read_newest_first_page_by_page_and_filtered(client: httpx.AsyncClient) -> None:
    for number in range(5):
        await client.post("/api/v1/admin/users", json={"login": f"user{number}"})
    await client.post("/api/v1/tokens", json={"name": "laptop", "scopes": ["read"]})
    seen, cursor = [], None
    while True:
        page = (await client.get(AUDIT, params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        seen += [entry["subject"] for entry in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == ["laptop", "user4", "user3", "user2", "user1", "user0"]

    async def found(**params: str) -> int:
        return len((await client.get(AUDIT, params=params)).json()["items"])

    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    subject = (await client.get(AUDIT)).json()["items"][1]["subject_id"]
    assert await found(action="user") == 5
    assert await found(action="user.create") == 5
    assert await found(action="us") == 0
    assert await found(actor="ROOT") == 6
    assert await found(actor="ada") == 0
    assert await found(subject_id=subject) == 1
    assert await found(since=tomorrow) == 0
    assert await found(until=tomorrow) == 6
    assert (await client.get(AUDIT, params={"since": "2026-01-01T00:00:00"})).status_code == 422
