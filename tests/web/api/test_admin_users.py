"""Accounts in the hands of administrators."""

import asyncio
from uuid import uuid4

import httpx
import pytest

from codehub.model.accounts import Role, Scope
from tests.web.api.people import PASSWORD, People, User

USERS = "/api/v1/admin/users"


@pytest.fixture
async def client(people: People, root: User) -> httpx.AsyncClient:
    return await people.browser(root)


async def log_in(people: People, login: str, password: str) -> int:
    body = {"login": login, "password": password}
    return (await (await people.client()).post("/api/v1/auth/login", json=body)).status_code


async def living_workspace(people: People, owner: User, **columns: object) -> None:
    values = {"id": uuid4(), "owner_user_id": owner.id, "name": "garden", "desired_state": "STANDBY", **columns}
    places = ", ".join(f"${number}" for number in range(1, len(values) + 1))
    statement = f"INSERT INTO workspaces ({', '.join(values)}) VALUES ({places})"  # noqa: S608
    await people.pool.execute(statement, *values.values())


async def test_an_account_is_made_with_a_generated_password_that_is_shown_once(
    people: People, client: httpx.AsyncClient
) -> None:
    answer = await client.post(USERS, json={"login": "ada", "max_running": 5})
    made = answer.json()
    assert answer.status_code == 201
    assert (made["user"]["login"], made["user"]["role"], made["user"]["max_running"]) == ("ada", "user", 5)
    assert await log_in(people, "ada", made["password"]) == 200
    shown = await client.get(answer.headers["location"])
    assert made["password"] not in shown.text
    assert shown.json()["last_login_at"] is not None


async def test_a_given_password_is_not_shown_and_has_to_be_good(people: People, client: httpx.AsyncClient) -> None:
    weak = await client.post(USERS, json={"login": "ada", "password": "short"})
    assert (weak.status_code, weak.json()["code"]) == (422, "weak_password")
    assert (await client.post(USERS, json={"login": "ada", "password": PASSWORD})).json()["password"] is None
    assert await log_in(people, "ada", PASSWORD) == 200


async def test_a_login_is_taken_whatever_its_capitals(client: httpx.AsyncClient) -> None:
    await client.post(USERS, json={"login": "ada"})
    answer = await client.post(USERS, json={"login": "ADA"})
    assert (answer.status_code, answer.json()["code"]) == (409, "login_taken")


@pytest.mark.parametrize("login", ["", "-x", "a b", "a\u0000", "\u0430d\u0430", "x" * 65, "../x", "a\n"])
async def test_a_login_that_could_be_mistaken_is_refused(client: httpx.AsyncClient, login: str) -> None:
    assert (await client.post(USERS, json={"login": login})).status_code == 422


async def test_users_are_listed_page_by_page_and_found(people: People, client: httpx.AsyncClient) -> None:
    names = sorted(f"user{number}" for number in range(7))
    for name in names:
        await people.user(name)
    seen, cursor = [], None
    while True:
        page = (await client.get(USERS, params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        seen += [user["login"] for user in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == sorted([*names, "root"])
    found = (await client.get(USERS, params={"q": "ER3"})).json()
    assert [user["login"] for user in found["items"]] == ["user3"]
    assert (await client.get(USERS, params={"q": "%"})).json()["items"] == []
    assert [user["login"] for user in (await client.get(USERS, params={"role": "admin"})).json()["items"]] == ["root"]
    assert (await client.get(USERS, params={"cursor": "bm9uc2Vuc2U"})).json()["code"] == "invalid_cursor"
    assert (await client.get(USERS, params={"serach": "x"})).status_code == 422


async def test_who_is_disabled_loses_sessions_and_tokens_at_once_and_for_good(
    people: People, client: httpx.AsyncClient
) -> None:
    user = await people.user("ada", password=PASSWORD)
    browser, program = await people.browser(user), await people.program(user)
    assert (await client.patch(f"{USERS}/{user.id}", json={"disabled": True})).json()["disabled"] is True
    assert (await browser.get("/api/v1/me")).status_code == (await program.get("/api/v1/me")).status_code == 401
    assert await log_in(people, "ada", PASSWORD) == 403
    await client.patch(f"{USERS}/{user.id}", json={"disabled": False})
    assert (await browser.get("/api/v1/me")).status_code == (await program.get("/api/v1/me")).status_code == 401
    assert await log_in(people, "ada", PASSWORD) == 200


async def test_another_role_takes_another_login(people: People, client: httpx.AsyncClient) -> None:
    user = await people.user()
    browser = await people.browser(user)
    assert (await client.patch(f"{USERS}/{user.id}", json={"role": "admin"})).json()["role"] == "admin"
    assert (await browser.get("/api/v1/me")).status_code == 401
    assert (await (await people.browser(user)).get(USERS)).status_code == 200


async def test_the_token_of_a_former_administrator_no_longer_administers(
    people: People, client: httpx.AsyncClient
) -> None:
    other = await people.administrator()
    program = await people.program(other, Scope.ADMIN)
    assert (await program.get(USERS)).status_code == 200
    await client.patch(f"{USERS}/{other.id}", json={"role": "user"})
    assert (await program.get(USERS)).status_code == 403


async def test_a_limit_of_ones_own_is_set_and_taken_back(people: People, client: httpx.AsyncClient) -> None:
    user = await people.user()
    assert (await client.patch(f"{USERS}/{user.id}", json={"max_running": 7})).json()["max_running"] == 7
    assert (await client.patch(f"{USERS}/{user.id}", json={})).json()["max_running"] == 7
    assert (await client.patch(f"{USERS}/{user.id}", json={"max_running": None})).json()["max_running"] is None


@pytest.mark.parametrize(
    "changes", [{"login": None}, {"role": None}, {"disabled": None}, {"role": "king"}, {"max_running": -1}, {"id": "x"}]
)
async def test_changes_that_make_no_sense_are_refused(
    people: People, client: httpx.AsyncClient, changes: dict[str, object]
) -> None:
    user = await people.user()
    assert (await client.patch(f"{USERS}/{user.id}", json=changes)).status_code == 422


async def test_an_account_is_renamed_unless_the_name_is_taken(people: People, client: httpx.AsyncClient) -> None:
    user = await people.user()
    assert (await client.patch(f"{USERS}/{user.id}", json={"login": "Grace"})).json()["login"] == "Grace"
    answer = await client.patch(f"{USERS}/{user.id}", json={"login": "ROOT"})
    assert (answer.status_code, answer.json()["code"]) == (409, "login_taken")


@pytest.mark.parametrize("changes", [{"role": "user"}, {"disabled": True}, None])
async def test_the_last_administrator_stays(
    people: People, root: User, client: httpx.AsyncClient, changes: dict[str, object] | None
) -> None:
    await people.user(role=Role.ADMIN, disabled=True)
    path = f"{USERS}/{root.id}"
    answer = await (client.delete(path) if changes is None else client.patch(path, json=changes))
    assert (answer.status_code, answer.json()["code"]) == (409, "last_administrator")
    assert (await client.patch(path, json={"locale": "ko"})).status_code == 200


async def test_administrators_who_remove_each_other_at_the_same_time_leave_one(people: People, root: User) -> None:
    everybody = [root, *[await people.administrator() for _ in range(5)]]
    clients = [await people.program(user, Scope.ADMIN) for user in everybody]
    neighbours = everybody[1:] + everybody[:1]
    ways: list[dict[str, object] | None] = [{"role": "user"}, {"disabled": True}, None] * 2

    async def remove(client: httpx.AsyncClient, victim: User, changes: dict[str, object] | None) -> httpx.Response:
        path = f"{USERS}/{victim.id}"
        return await (client.delete(path) if changes is None else client.patch(path, json=changes))

    answers = await asyncio.gather(*map(remove, clients, neighbours, ways))
    assert {answer.status_code for answer in answers} <= {200, 204, 401, 403, 409}
    left = await people.pool.fetchval("SELECT count(*) FROM users WHERE role = 'admin' AND NOT disabled")
    assert left >= 1


async def test_who_owns_workspaces_is_not_deleted(people: People, client: httpx.AsyncClient) -> None:
    user = await people.user("ada")
    await living_workspace(people, user)
    answer = await client.delete(f"{USERS}/{user.id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "workspaces_remain")
    assert [each["name"] for each in answer.json()["workspaces"]] == ["garden"]
    assert (await client.get(f"{USERS}/{user.id}")).json()["workspaces"] == 1


async def test_who_owns_nothing_is_deleted_with_all_sessions_and_tokens(
    people: People, client: httpx.AsyncClient
) -> None:
    user = await people.user()
    browser, program = await people.browser(user), await people.program(user)
    assert (await client.delete(f"{USERS}/{user.id}")).status_code == 204
    assert (await browser.get("/api/v1/me")).status_code == (await program.get("/api/v1/me")).status_code == 401
    assert (await client.get(f"{USERS}/{user.id}")).status_code == 404
    assert (await client.delete(f"{USERS}/{user.id}")).status_code == 404


async def test_a_forgotten_password_is_reset(people: People, client: httpx.AsyncClient) -> None:
    user = await people.user("ada", password=PASSWORD)
    browser, program = await people.browser(user), await people.program(user)
    answer = (await client.post(f"{USERS}/{user.id}/password", json={})).json()
    assert (answer["sessions_ended"], answer["tokens_revoked"]) == (1, 0)
    assert (await browser.get("/api/v1/me")).status_code == 401
    assert (await program.get("/api/v1/me")).status_code == 200
    assert await log_in(people, "ada", PASSWORD) == 401
    assert await log_in(people, "ada", answer["password"]) == 200
    again = (await client.post(f"{USERS}/{user.id}/password", json={"revoke_tokens": True})).json()
    assert again["tokens_revoked"] == 1
    assert (await client.post(f"{USERS}/{uuid4()}/password", json={})).status_code == 404


async def test_only_administrators_see_and_change_accounts(people: People, root: User) -> None:
    user = await people.user()
    strangers = [
        await people.browser(user),
        await people.program(user, Scope.ADMIN),
        await people.program(root, Scope.WORKSPACES),
    ]
    for stranger in strangers:
        for method, path in (
            ("GET", USERS),
            ("POST", USERS),
            ("GET", f"{USERS}/{user.id}"),
            ("PATCH", f"{USERS}/{user.id}"),
            ("DELETE", f"{USERS}/{user.id}"),
            ("POST", f"{USERS}/{user.id}/password"),
            ("GET", "/api/v1/admin/audit"),
        ):
            assert (await stranger.request(method, path, json={})).status_code == 403, (method, path)
    assert (await (await people.client()).get(USERS)).status_code == 401


async def test_an_account_is_logged_out_everywhere_and_keeps_its_tokens(
    people: People, client: httpx.AsyncClient
) -> None:
    ada = await people.user("ada")
    browsers, program = [await people.browser(ada), await people.browser(ada)], await people.program(ada)
    answer = await client.delete(f"{USERS}/{ada.id}/sessions")
    assert (answer.status_code, answer.json()) == (200, {"ended": 2})
    assert [(await each.get("/api/v1/me")).status_code for each in browsers] == [401, 401]
    assert (await program.get("/api/v1/me")).status_code == 200
    assert (await client.delete(f"{USERS}/{uuid4()}/sessions")).status_code == 404
    told = await people.pool.fetch("SELECT action, subject FROM audit_log")
    assert [tuple(each) for each in told] == [("user.end_sessions", "ada")]
