"""The login page, and logging a command line in through it."""

import base64
import hashlib
import re
import secrets
from html import unescape
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from codehub.model.accounts import Scope
from tests.web.api.people import ORIGIN, PASSWORD, People, User

VERIFIER = secrets.token_urlsafe(48)
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
ASKED = {"challenge": CHALLENGE, "state": "s" * 20, "port": "43210", "name": "codehub on <laptop>"}
EXCHANGE = "/api/v1/auth/codes/exchange"


@pytest.fixture
async def ada(people: People) -> User:
    return await people.user("ada", password=PASSWORD)


def fields(page: httpx.Response) -> dict[str, str]:
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text)
    return {name: unescape(value) for name, value in found}


async def approve(browser: httpx.AsyncClient, answer: str = "true", **asked: str) -> httpx.Response:
    page = await browser.get("/cli-login", params={**ASKED, **asked})
    assert page.status_code == 200
    return await browser.post("/cli-login", data={**fields(page), "approved": answer})


async def code(browser: httpx.AsyncClient, **asked: str) -> str:
    return parse_qs(urlsplit((await approve(browser, **asked)).headers["location"]).query)["code"][0]


async def test_the_login_page_logs_in_without_a_script_and_goes_on(people: People, ada: User) -> None:
    browser = await people.client(headers={"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"})
    page = await browser.get("/login", params={"next": "/somewhere?x=1"})
    assert "<script" not in page.text
    assert "form-action 'self'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "same-origin"
    answer = await browser.post("/login", data={**fields(page), "login": ada.login, "password": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/somewhere?x=1")
    assert (await browser.get("/api/v1/me")).json()["login"] == "ada"
    assert (await browser.get("/login")).headers["location"] == "/"


async def test_a_wrong_password_is_told_on_the_page(people: People, ada: User) -> None:
    browser = await people.client()
    answer = await browser.post("/login", data={"login": ada.login + '"><b>', "password": "wrong"})
    assert answer.status_code == 401
    assert "The login or the password is wrong." in answer.text
    assert "<b>" not in answer.text
    assert 'wrong"' not in answer.text


@pytest.mark.usefixtures("ada")
async def test_a_form_of_another_site_logs_nobody_in(people: People) -> None:
    for headers in ({"Origin": "http://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        client = await people.client(headers=headers)
        answer = await client.post("/login", data={"login": "ada", "password": PASSWORD})
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


@pytest.mark.parametrize(
    "address", ["//evil.test", "/\\evil.test", "https://evil.test", "javascript:x", "/\r\nX: y", ""]
)
@pytest.mark.usefixtures("ada")
async def test_a_login_leads_nowhere_else(people: People, address: str) -> None:
    body = {"login": "ada", "password": PASSWORD, "next": address}
    assert (await (await people.client()).post("/login", data=body)).headers["location"] == "/"


async def test_a_command_line_gets_a_token_through_the_browser(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    page = await browser.get("/cli-login", params=ASKED)
    short = hashlib.sha256(CHALLENGE.encode()).hexdigest()[:8].upper()
    assert f"{short[:4]}-{short[4:]}" in page.text
    assert "codehub on &lt;laptop&gt;" in page.text
    assert "form-action 'self' http://127.0.0.1:43210" in page.headers["content-security-policy"]
    answer = await approve(browser)
    back = urlsplit(answer.headers["location"])
    assert (answer.status_code, back.scheme, back.netloc, back.path) == (303, "http", "127.0.0.1:43210", "/callback")
    query = parse_qs(back.query)
    assert query["state"] == [ASKED["state"]]
    assert query["code"][0] not in str(await people.pool.fetch("SELECT * FROM login_codes"))
    made = await (await people.client()).post(EXCHANGE, json={"code": query["code"][0], "verifier": VERIFIER})
    assert (made.status_code, made.json()["scopes"], made.json()["name"]) == (200, ["workspaces"], ASKED["name"])
    program = await people.client(headers={"Authorization": f"Bearer {made.json()['token']}"})
    assert (await program.get("/api/v1/me")).json()["login"] == "ada"
    told = await people.pool.fetch("SELECT actor, action FROM audit_log ORDER BY id")
    assert [tuple(entry) for entry in told] == [("ada", "login.approve_cli"), ("ada", "token.create")]


async def test_who_is_not_logged_in_does_that_first_and_comes_back(people: People) -> None:
    answer = await (await people.client()).get("/cli-login", params=ASKED)
    login = urlsplit(answer.headers["location"])
    assert (answer.status_code, login.path) == (303, "/login")
    following = urlsplit(parse_qs(login.query)["next"][0])
    assert following.path == "/cli-login"
    assert {name: value for name, [value] in parse_qs(following.query).items()} == {**ASKED, "scope": "workspaces"}


async def test_a_refusal_brings_no_code(people: People, ada: User) -> None:
    answer = await approve(await people.browser(ada), "false")
    assert parse_qs(urlsplit(answer.headers["location"]).query) == {"error": ["access_denied"], "state": ["s" * 20]}
    assert await people.pool.fetchval("SELECT count(*) FROM login_codes") == 0


async def test_a_code_is_good_once(people: People, ada: User) -> None:
    client, sent = await people.client(), {"code": await code(await people.browser(ada)), "verifier": VERIFIER}
    assert (await client.post(EXCHANGE, json=sent)).status_code == 200
    again = await client.post(EXCHANGE, json=sent)
    assert (again.status_code, again.json()["code"]) == (400, "bad_code")


async def test_a_wrong_verifier_uses_the_code_up(people: People, ada: User) -> None:
    client, secret = await people.client(), await code(await people.browser(ada))
    assert (await client.post(EXCHANGE, json={"code": secret, "verifier": "x" * 43})).status_code == 400
    assert (await client.post(EXCHANGE, json={"code": secret, "verifier": VERIFIER})).status_code == 400


@pytest.mark.parametrize(
    "happened",
    [
        "UPDATE login_codes SET expires_at = clock_timestamp()",
        "UPDATE users SET disabled = true",
        "DELETE FROM users",
    ],
)
async def test_a_code_that_is_too_old_or_whose_owner_is_gone_is_good_for_nothing(
    people: People, ada: User, happened: str
) -> None:
    secret = await code(await people.browser(ada))
    await people.pool.execute(happened)
    answer = await (await people.client()).post(EXCHANGE, json={"code": secret, "verifier": VERIFIER})
    assert answer.status_code == 400
    assert await people.pool.fetchval("SELECT count(*) FROM api_tokens") == 0


async def test_only_an_administrator_approves_an_administrators_token(people: People, ada: User) -> None:
    answer = await (await people.browser(ada)).get("/cli-login", params={**ASKED, "scope": "admin"})
    assert answer.status_code == 403
    administrator = await people.browser(await people.administrator())
    secret = await code(administrator, scope="admin")
    made = await (await people.client()).post(EXCHANGE, json={"code": secret, "verifier": VERIFIER})
    assert made.json()["scopes"] == [Scope.ADMIN]


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": "80"},
        {"port": "70000"},
        {"port": "43210@evil.test"},
        {"challenge": "short"},
        {"state": "x"},
        {"scope": "everything"},
        {"name": "a\nb"},
        {"redirect": "http://evil.test"},
    ],
)
async def test_what_makes_no_sense_is_not_asked_of_anybody(people: People, ada: User, wrong: dict[str, str]) -> None:
    browser = await people.browser(ada)
    assert (await browser.get("/cli-login", params={**ASKED, **wrong})).status_code == 422
    body = {**ASKED, "scope": "read", "csrf_token": browser.headers["x-csrf-token"], "approved": "true", **wrong}
    assert (await browser.post("/cli-login", data=body)).status_code == 422


async def test_no_other_site_approves(people: People, ada: User) -> None:
    browser = await people.browser(ada)
    sent = {**fields(await browser.get("/cli-login", params=ASKED)), "approved": "true"}
    for headers, body in (
        ({"Origin": "http://evil.test"}, sent),
        ({"Origin": "null"}, sent),
        ({"Sec-Fetch-Site": "same-site"}, sent),
        ({}, {**sent, "csrf_token": "x"}),
    ):
        answer = await browser.post("/cli-login", data=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign_origin")
    assert await people.pool.fetchval("SELECT count(*) FROM login_codes") == 0
