"""Logging in and out with a password."""

import asyncio
import re

import httpx
import pytest

from codehub.store.callers import hashed
from codehub.store.passwords import HASHER
from tests.web.api.people import ORIGIN, PASSWORD, People, User

LOGIN = "/api/v1/auth/login"


pytestmark = pytest.mark.usefixtures("ada")


@pytest.fixture
async def ada(people: People) -> User:
    return await people.user("ada", password=PASSWORD)


async def log_in(client: httpx.AsyncClient, login: str = "ada", password: str = PASSWORD) -> httpx.Response:
    return await client.post(LOGIN, json={"login": login, "password": password})


def cookie(answer: httpx.Response, name: str) -> str:
    [found] = [each for each in answer.headers.get_list("set-cookie") if each.startswith(f"{name}=")]
    return found


async def test_who_knows_the_password_gets_a_session(people: People, ada: User) -> None:
    browser = await people.client()
    answer = await log_in(browser)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json()["user"]["id"] == str(ada.id)
    me = await browser.get("/api/v1/me")
    assert me.json()["csrf_token"] == answer.json()["csrf_token"]


async def test_capitals_make_no_difference_to_a_login(people: People, ada: User) -> None:
    answer = await log_in(await people.client(), "ADA")
    assert answer.json()["user"]["login"] == ada.login


async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(people: People) -> None:
    answer = await log_in(await people.client())
    session = cookie(answer, "codehub")
    assert re.fullmatch(r"codehub=[\w-]{43}; HttpOnly; Max-Age=2592000; Path=/; SameSite=lax", session)
    assert "HttpOnly" in cookie(answer, "codehub-device")
    assert "SameSite=strict" in cookie(answer, "codehub-device")


async def test_nothing_in_the_database_logs_anybody_in(people: People, ada: User) -> None:
    answer = await log_in(await people.client())
    [row] = await people.pool.fetch("SELECT * FROM sessions WHERE user_id = $1", ada.id)
    assert row["secret_hash"] == hashed(answer.cookies["codehub"])
    for stored in (row["id"].hex, row["secret_hash"].hex(), str(row["id"])):
        attacker = await people.client(cookies={"codehub": stored})
        assert (await attacker.get("/api/v1/me")).status_code == 401


@pytest.mark.parametrize(("login", "password"), [("ada", "wrong"), ("nobody", PASSWORD), ("ada", PASSWORD + " ")])
async def test_unknown_logins_and_wrong_passwords_get_the_same_answer(
    people: People, login: str, password: str
) -> None:
    answer = await log_in(await people.client(), login, password)
    assert answer.json() == {
        "type": "about:blank",
        "title": "Unauthorized",
        "status": 401,
        "code": "wrong_credentials",
        "detail": "The login or the password is wrong.",
    }
    assert "set-cookie" not in answer.headers


async def test_an_account_without_a_password_lets_nobody_in(people: People) -> None:
    user = await people.user("machine")
    assert (await log_in(await people.client(), user.login, "!")).status_code == 401


async def test_that_an_account_is_disabled_is_told_only_to_who_knows_its_password(people: People) -> None:
    user = await people.user(password=PASSWORD, disabled=True)
    client = await people.client()
    assert (await log_in(client, user.login, "wrong")).json()["code"] == "wrong_credentials"
    answer = await log_in(client, user.login)
    assert (answer.status_code, answer.json()["code"]) == (403, "account_disabled")
    assert await people.pool.fetchval("SELECT count(*) FROM sessions") == 0


async def test_every_login_opens_a_session_of_its_own(people: People) -> None:
    secrets = {(await log_in(await people.client())).cookies["codehub"] for _ in range(3)}
    assert len(secrets) == 3
    assert await people.pool.fetchval("SELECT count(*) FROM sessions") == 3


async def test_a_session_that_was_planted_before_the_login_is_dead_after_it(people: People) -> None:
    mallory = await people.user("mallory")
    planted = await people.session(mallory)
    victim = await people.client(cookies={"codehub": planted.value})
    answer = await log_in(victim)
    assert answer.cookies["codehub"] != planted.value
    attacker = await people.client(cookies={"codehub": planted.value})
    assert (await attacker.get("/api/v1/me")).status_code == 401


async def test_a_planted_word_does_not_become_a_session(people: People) -> None:
    victim = await people.client(cookies={"codehub": "planted"})
    assert (await log_in(victim)).cookies["codehub"] != "planted"
    assert (await (await people.client(cookies={"codehub": "planted"})).get("/api/v1/me")).status_code == 401


async def test_a_hash_of_other_parameters_is_renewed_by_the_next_login(people: People) -> None:
    from argon2 import PasswordHasher

    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    user = await people.user(password_hash=weak)
    assert (await log_in(await people.client(), user.login)).status_code == 200
    stored = await people.pool.fetchval("SELECT password_hash FROM users WHERE id = $1", user.id)
    assert stored != weak
    assert not HASHER.check_needs_rehash(stored)
    assert (await log_in(await people.client(), user.login)).status_code == 200


async def test_logins_at_the_same_time_do_not_refuse_each_other_when_the_hash_is_renewed(people: People) -> None:
    from argon2 import PasswordHasher

    weak = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    user = await people.user(password_hash=weak)
    clients = [await people.client() for _ in range(5)]
    answers = await asyncio.gather(*(log_in(client, user.login) for client in clients))
    assert [answer.status_code for answer in answers] == [200] * 5


async def test_logging_out_ends_the_session_at_once(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    answer = await browser.post("/api/v1/auth/logout")
    assert answer.status_code == 204
    assert 'codehub=""' in cookie(answer, "codehub")
    assert (await browser.get("/api/v1/me")).status_code == 401
    assert await people.pool.fetchval("SELECT count(*) FROM sessions") == 0


async def test_a_program_that_logs_out_revokes_its_token(people: People, ada: User) -> None:
    program = await people.program(ada)
    assert (await program.post("/api/v1/auth/logout")).status_code == 204
    assert (await program.get("/api/v1/me")).status_code == 401


async def test_an_account_keeps_its_newest_sessions(people: People, ada: User) -> None:
    for number in range(55):
        await people.session(ada, user_agent=str(number))
    browser = await people.client()
    await log_in(browser)
    listed = (await browser.get("/api/v1/sessions")).json()["items"]
    assert len(listed) == 50
    assert listed[0]["current"]


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Origin": ORIGIN}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Origin": "http://evil.test"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://codehub.test.evil.test"}, False),
        ({"Origin": "http://codehub.test:8080"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
    ],
)
async def test_a_page_of_another_site_logs_nobody_in(people: People, headers: dict[str, str], *, allowed: bool) -> None:
    answer = await log_in(await people.client(headers=headers))
    assert answer.status_code == (200 if allowed else 403)
    assert ("set-cookie" in answer.headers) is allowed


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""])
async def test_only_json_is_read(people: People, content_type: str) -> None:
    body = b'{"login": "ada", "password": "correct horse battery staple"}'
    headers = {"Content-Type": content_type} if content_type else {}
    answer = await (await people.client()).post(LOGIN, content=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "not_json")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff",
        b"[]",
        b'{"login": "ada"}',
        b'{"login": "a\\u0000da", "password": "x"}',
        b'{"login": "ada", "password": "\\ud800"}',
        b'{"login": "ada", "password": "x", "remember": true}',
        b'{"login": "ada", "password": "' + b"x" * 257 + b'"}',
    ],
)
async def test_what_makes_no_sense_is_refused_with_a_reason(people: People, body: bytes) -> None:
    answer = await (await people.client()).post(LOGIN, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert answer.headers["content-type"] == "application/problem+json"
    assert "horse" not in answer.text
