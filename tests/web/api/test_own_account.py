"""What people do about their own account: password, sessions, tokens."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from codehub.model.accounts import Scope
from codehub.settings import Settings
from codehub.store.callers import hashed
from tests.web.api.people import PASSWORD, People, User

NEWER = "four more words are better"
DAY = 86400


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "AUTH_TOKEN_MAX_SECONDS": str(30 * DAY)}, tmp_path)


@pytest.fixture
async def ada(people: People) -> User:
    return await people.user("ada", password=PASSWORD)


async def change(client: httpx.AsyncClient, **body: object) -> httpx.Response:
    return await client.post("/api/v1/me/password", json={"present": PASSWORD, "new": NEWER, **body})


async def test_a_new_password_ends_all_other_sessions_and_renews_this_one(people: People, ada: User) -> None:
    here, there = await people.browser(ada), await people.browser(ada)
    program = await people.program(ada)
    answer = await change(here)
    assert (answer.status_code, answer.json()["sessions_ended"], answer.json()["tokens_revoked"]) == (200, 1, 0)
    assert (await there.get("/api/v1/me")).status_code == 401
    assert (await program.get("/api/v1/me")).status_code == 200
    renewed = await people.client(cookies={"codehub": answer.cookies["codehub"]})
    assert (await renewed.get("/api/v1/me")).json()["csrf_token"] == answer.json()["csrf_token"]
    credentials = {"login": "ada", "password": NEWER}
    assert (await (await people.client()).post("/api/v1/auth/login", json=credentials)).status_code == 200


async def test_tokens_are_revoked_with_the_password_where_it_is_asked(people: People, ada: User) -> None:
    program = await people.program(ada)
    assert (await change(await people.browser(ada), revoke_tokens=True)).json()["tokens_revoked"] == 1
    assert (await program.get("/api/v1/me")).status_code == 401


async def test_who_does_not_know_the_present_password_changes_nothing(people: People, ada: User) -> None:
    before = await people.pool.fetchval("SELECT password_hash FROM users WHERE id = $1", ada.id)
    answer = await change(await people.browser(ada), present="wrong")
    assert (answer.status_code, answer.json()["code"]) == (403, "wrong_password")
    assert await people.pool.fetchval("SELECT password_hash FROM users WHERE id = $1", ada.id) == before
    assert await people.pool.fetchval("SELECT count(*) FROM login_attempts WHERE NOT succeeded") == 1


async def test_a_weak_password_is_refused_with_a_sentence(people: People, ada: User) -> None:
    answer = await change(await people.browser(ada), new="short")
    assert (answer.status_code, answer.json()["code"]) == (422, "weak_password")
    assert "at least 12 characters" in answer.json()["detail"]


async def test_a_token_changes_no_password_and_makes_no_tokens(people: People, ada: User) -> None:
    program = await people.program(ada)
    assert (await change(program)).json()["code"] == "session_needed"
    for path in ("/api/v1/tokens", "/api/v1/sessions"):
        assert (await program.get(path)).json()["code"] == "session_needed"


async def test_the_language_is_ones_own_choice(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    assert (await browser.patch("/api/v1/me", json={"locale": "ko"})).json()["locale"] == "ko"
    assert (await browser.get("/api/v1/me")).json()["locale"] == "ko"
    assert (await browser.patch("/api/v1/me", json={"locale": "xx"})).status_code == 422
    assert (await browser.patch("/api/v1/me", json={"role": "admin"})).status_code == 422


async def test_sessions_are_listed_and_ended_one_by_one(people: People, ada: User) -> None:
    session = await people.session(ada, user_agent="Firefox")
    here, there = await people.browser(ada), await people.browser(ada, session)
    listed = {item["id"]: item for item in (await here.get("/api/v1/sessions")).json()["items"]}
    assert len(listed) == 2
    assert (listed[str(session.id)]["user_agent"], listed[str(session.id)]["current"]) == ("Firefox", False)
    assert (await here.delete(f"/api/v1/sessions/{session.id}")).status_code == 204
    assert (await there.get("/api/v1/me")).status_code == 401
    assert (await here.delete(f"/api/v1/sessions/{session.id}")).status_code == 404


async def test_all_other_sessions_end_at_once(people: People, ada: User) -> None:
    here, *others = [await people.browser(ada) for _ in range(4)]
    bob = await people.browser(await people.user())
    assert (await here.delete("/api/v1/sessions")).json() == {"ended": 3}
    assert {(await other.get("/api/v1/me")).status_code for other in others} == {401}
    assert (await here.get("/api/v1/me")).status_code == (await bob.get("/api/v1/me")).status_code == 200


async def test_sessions_and_tokens_of_others_are_not_there(people: People, ada: User) -> None:
    mallory = await people.browser(await people.user())
    session, token = await people.session(ada), await people.token(ada)
    missing = await mallory.delete(f"/api/v1/sessions/{uuid4()}")
    foreign = await mallory.delete(f"/api/v1/sessions/{session.id}")
    assert foreign.status_code == 404
    assert foreign.json() == missing.json()
    assert (await mallory.delete(f"/api/v1/tokens/{token.id}")).status_code == 404
    assert (await mallory.get("/api/v1/tokens")).json()["items"] == []


async def test_a_token_is_shown_once_and_stored_as_a_hash(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    body = {"name": "laptop", "scopes": ["workspaces"], "expires_in_seconds": DAY}
    answer = await browser.post("/api/v1/tokens", json=body)
    made = answer.json()
    assert (answer.status_code, answer.headers["cache-control"]) == (201, "no-store")
    assert made["token"].startswith("codehub_")
    assert made["token"].endswith(made["hint"])
    [row] = await people.pool.fetch("SELECT * FROM api_tokens")
    assert row["secret_hash"] == hashed(made["token"])
    assert made["token"] not in str(row)
    [listed] = (await browser.get("/api/v1/tokens")).json()["items"]
    assert listed == {name: value for name, value in made.items() if name != "token"}
    left = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=23) < left <= timedelta(days=1)


async def test_a_token_works_until_it_is_revoked_and_tells_when_it_was_used(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    made = (await browser.post("/api/v1/tokens", json={"name": "ci", "scopes": ["read"]})).json()
    program = await people.client(headers={"Authorization": f"Bearer {made['token']}"})
    assert (await program.get("/api/v1/me")).json()["scopes"] == ["read"]
    assert (await browser.get("/api/v1/tokens")).json()["items"][0]["last_used_at"] is not None
    assert (await browser.delete(f"/api/v1/tokens/{made['id']}")).status_code == 204
    assert (await program.get("/api/v1/me")).status_code == 401


async def test_a_token_that_has_ended_is_good_for_nothing(people: People, ada: User) -> None:
    token = await people.token(ada, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert (await (await people.program(ada, token=token)).get("/api/v1/me")).status_code == 401
    assert (await (await people.browser(ada)).get("/api/v1/tokens")).json()["items"] == []


async def test_no_token_outlives_the_ceiling(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    body = {"name": "ci", "scopes": ["read"], "expires_in_seconds": 31 * DAY}
    answer = await browser.post("/api/v1/tokens", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["max_seconds"]) == (
        422,
        "token_lasts_too_long",
        30 * DAY,
    )
    made = (await browser.post("/api/v1/tokens", json={**body, "expires_in_seconds": None})).json()
    assert datetime.fromisoformat(made["expires_at"]) < datetime.now(UTC) + timedelta(days=31)


async def test_nobody_makes_a_token_that_may_more_than_they(people: People, ada: User) -> None:
    body = {"name": "root", "scopes": ["admin"]}
    answer = await (await people.browser(ada)).post("/api/v1/tokens", json=body)
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    administrator = await people.browser(await people.administrator())
    assert (await administrator.post("/api/v1/tokens", json=body)).status_code == 201


async def test_an_account_cannot_gather_tokens_without_end(people: People, ada: User) -> None:
    for _ in range(100):
        await people.token(ada)
    answer = await (await people.browser(ada)).post("/api/v1/tokens", json={"name": "one more", "scopes": ["read"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_tokens")


@pytest.mark.parametrize(
    "body",
    [
        {"name": "", "scopes": ["read"]},
        {"name": "a\nb", "scopes": ["read"]},
        {"name": "\u202egnp.exe", "scopes": ["read"]},
        {"name": "x" * 101, "scopes": ["read"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["everything"]},
        {"name": "x", "scopes": ["read"], "expires_in_seconds": 1},
        {"name": "x", "scopes": ["read"], "expires_in_seconds": 10**12},
    ],
)
async def test_a_token_that_makes_no_sense_is_not_made(people: People, ada: User, body: dict[str, object]) -> None:
    assert (await (await people.browser(ada)).post("/api/v1/tokens", json=body)).status_code == 422


async def test_a_session_of_a_cookie_needs_our_own_page_and_its_token(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    for headers in (
        {"X-CSRF-Token": ""},
        {"X-CSRF-Token": "x" * 64},
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        for method, path in (("POST", "/auth/logout"), ("DELETE", "/sessions"), ("PATCH", "/me"), ("POST", "/tokens")):
            answer = await browser.request(method, f"/api/v1{path}", headers=headers, json={"locale": None})
            assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin"), (method, headers)
    assert (await browser.get("/api/v1/me", headers={"Origin": "http://evil.test"})).status_code == 200


async def test_a_session_that_was_not_used_for_long_has_ended(people: People, ada: User) -> None:
    session = await people.session(ada, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert (await (await people.browser(ada, session)).get("/api/v1/me")).status_code == 401


async def test_scopes_include_the_lesser_ones(people: People, ada: User) -> None:
    me = (await (await people.program(ada, Scope.ADMIN)).get("/api/v1/me")).json()
    assert me["scopes"] == ["admin", "hold", "read", "workspaces"]
    assert (await (await people.program(ada, Scope.ADMIN)).get("/api/v1/admin/users")).status_code == 403
