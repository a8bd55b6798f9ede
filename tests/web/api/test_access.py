"""Who may do what: every route, for everybody who should not get through. A new route fails here until it is listed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from codehub import clock
from codehub.model.accounts import Scope
from codehub.web.callers import CSRF_HEADER
from tests.web.api.people import PASSWORD, People, User
from tests.web.api.workspaces import make_template


class Need(Enum):
    """What a route asks of its caller."""

    NOTHING = "nothing"
    HOLD = "hold"
    READ = "read"
    WORK = "work"
    SESSION = "session"
    ADMIN = "admin"
    PAGE = "page"
    """A person who has logged in; a token is not one. What is sent from it brings the session's token as a field."""
    ADMIN_PAGE = "page for administrators"
    FRONT_DOOR = "front door"
    """Nobody's right is enough: it is for the front door, on its own socket."""


@dataclass(frozen=True)
class Route:
    need: Need
    body: dict[str, Any] | None = None
    form: dict[str, str] | None = None
    query: str = ""
    streams: bool = False
    """It answers for as long as somebody listens; that it lets the right ones in is tested where its events are."""


API = "/api/v1"
NEW_WORKSPACE = {"name": "new", "template": "ide", "desired_state": "STANDBY"}
NEW_TEMPLATE = {"name": "other", "image_ref": "other", "port": 8080}
ARCHIVE_ID = uuid4()
NEW_FORK = {"name": "fork", "template": "ide", "desired_state": "STANDBY"}
NEW_PASSWORDS = {"present": PASSWORD, "new": "another horse battery staple"}
ROUTES = {
    ("GET", f"{API}/workspaces"): Route(Need.READ),
    ("POST", f"{API}/workspaces"): Route(Need.WORK, NEW_WORKSPACE),
    ("GET", f"{API}/workspaces/{{workspace_id}}"): Route(Need.READ),
    ("PATCH", f"{API}/workspaces/{{workspace_id}}"): Route(Need.WORK, {"memo": "changed"}),
    ("POST", f"{API}/workspaces/{{workspace_id}}/start"): Route(Need.WORK),
    ("POST", f"{API}/workspaces/{{workspace_id}}/stop"): Route(Need.WORK),
    ("POST", f"{API}/workspaces/{{workspace_id}}/archive"): Route(Need.WORK),
    ("POST", f"{API}/workspaces/{{workspace_id}}/recover"): Route(Need.WORK),
    ("GET", f"{API}/workspaces/{{workspace_id}}/events"): Route(Need.READ),
    ("GET", f"{API}/workspaces/{{workspace_id}}/logs"): Route(Need.READ),
    ("GET", f"{API}/workspaces/{{workspace_id}}/stats"): Route(Need.READ),
    ("GET", f"{API}/workspaces/{{workspace_id}}/usage"): Route(Need.READ),
    ("GET", f"{API}/workspaces/{{workspace_id}}/archives"): Route(Need.READ),
    ("PATCH", f"{API}/workspaces/{{workspace_id}}/archives/{{archive_id}}"): Route(Need.WORK, {"kept": True}),
    ("GET", f"{API}/workspaces/{{workspace_id}}/archives/{{archive_id}}/download"): Route(Need.READ),
    ("POST", f"{API}/workspaces/{{workspace_id}}/restore"): Route(Need.WORK, {"archive_id": str(ARCHIVE_ID)}),
    ("POST", f"{API}/workspaces/{{workspace_id}}/fork"): Route(Need.WORK, NEW_FORK),
    ("POST", f"{API}/workspaces/{{workspace_id}}/undelete"): Route(Need.WORK, {}),
    ("POST", f"{API}/workspaces/{{workspace_id}}/extend"): Route(Need.WORK),
    ("GET", f"{API}/workspaces/{{workspace_id}}/holds"): Route(Need.HOLD),
    ("POST", f"{API}/workspaces/{{workspace_id}}/holds"): Route(Need.HOLD, {"reason": "build", "seconds": 60}),
    ("PATCH", f"{API}/workspaces/{{workspace_id}}/holds/{{hold_id}}"): Route(Need.HOLD, {"seconds": 120}),
    ("DELETE", f"{API}/workspaces/{{workspace_id}}/holds/{{hold_id}}"): Route(Need.HOLD),
    ("DELETE", f"{API}/workspaces/{{workspace_id}}"): Route(Need.WORK),
    ("GET", f"{API}/templates"): Route(Need.READ),
    ("GET", f"{API}/events"): Route(Need.READ, streams=True),
    ("GET", f"{API}/me"): Route(Need.READ),
    ("PATCH", f"{API}/me"): Route(Need.SESSION, {"locale": "ko"}),
    ("GET", f"{API}/sessions"): Route(Need.SESSION),
    ("DELETE", f"{API}/sessions/{{session_id}}"): Route(Need.SESSION),
    ("GET", f"{API}/tokens"): Route(Need.SESSION),
    ("POST", f"{API}/tokens"): Route(Need.SESSION, {"name": "new", "scopes": ["read"]}),
    ("DELETE", f"{API}/tokens/{{token_id}}"): Route(Need.SESSION),
    ("DELETE", f"{API}/sessions"): Route(Need.SESSION),
    ("POST", f"{API}/me/password"): Route(Need.SESSION, NEW_PASSWORDS),
    ("GET", f"{API}/admin/users"): Route(Need.ADMIN),
    ("POST", f"{API}/admin/users"): Route(Need.ADMIN, {"login": "new"}),
    ("GET", f"{API}/admin/users/{{user_id}}"): Route(Need.ADMIN),
    ("PATCH", f"{API}/admin/users/{{user_id}}"): Route(Need.ADMIN, {"max_running": 7}),
    ("POST", f"{API}/admin/users/{{user_id}}/password"): Route(Need.ADMIN, {}),
    ("DELETE", f"{API}/admin/users/{{user_id}}/sessions"): Route(Need.ADMIN),
    ("DELETE", f"{API}/admin/users/{{user_id}}"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/audit"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/workspaces"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/templates"): Route(Need.ADMIN),
    ("POST", f"{API}/admin/templates"): Route(Need.ADMIN, NEW_TEMPLATE),
    ("PATCH", f"{API}/admin/templates/{{template_id}}"): Route(Need.ADMIN, {"description": "changed"}),
    ("DELETE", f"{API}/admin/templates/{{template_id}}"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/coordinators"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/limits"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/overview"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/gc"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/gc/rounds"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/gc/rounds/{{round_id}}"): Route(Need.ADMIN),
    ("POST", f"{API}/admin/gc/rounds"): Route(Need.ADMIN),
    ("GET", f"{API}/admin/gc/preview"): Route(Need.ADMIN),
    ("POST", f"{API}/admin/gc/confirm"): Route(Need.ADMIN, {"alarm": "round_halted"}),
    ("GET", "/metrics"): Route(Need.ADMIN),
    ("POST", f"{API}/auth/logout"): Route(Need.READ),
    ("POST", f"{API}/auth/login"): Route(Need.NOTHING, {"login": "nobody", "password": "x" * 20}),
    ("POST", f"{API}/auth/codes/exchange"): Route(Need.NOTHING, {"code": "c" * 43, "verifier": "v" * 43}),
    ("GET", "/"): Route(Need.PAGE),
    ("GET", "/fragments/list"): Route(Need.PAGE),
    ("GET", "/fragments/cards"): Route(Need.PAGE, query="ids="),
    ("POST", "/workspaces/act"): Route(Need.PAGE, form={"action": "delete"}),
    ("GET", "/workspaces/new"): Route(Need.PAGE),
    ("POST", "/workspaces/new"): Route(Need.PAGE, form={"name": "new", "template": "ide"}),
    ("GET", "/workspaces/{workspace_id}"): Route(Need.PAGE),
    ("POST", "/workspaces/{workspace_id}"): Route(Need.PAGE, form={"name": "changed"}),
    ("GET", "/fragments/workspaces/{workspace_id}"): Route(Need.PAGE),
    ("GET", "/fragments/workspaces/{workspace_id}/usage"): Route(Need.PAGE),
    ("GET", "/workspaces/{workspace_id}/log.txt"): Route(Need.PAGE),
    ("POST", "/workspaces/{workspace_id}/archives/{archive_id}/keep"): Route(Need.PAGE, form={"kept": "true"}),
    ("GET", "/workspaces/{workspace_id}/archives/{archive_id}/download"): Route(Need.PAGE),
    ("POST", "/workspaces/{workspace_id}/holds"): Route(Need.PAGE, form={"reason": "build", "seconds": "60"}),
    ("POST", "/workspaces/{workspace_id}/holds/{hold_id}/release"): Route(Need.PAGE, form={}),
    ("GET", "/workspaces/{workspace_id}/fork"): Route(Need.PAGE),
    ("POST", "/workspaces/{workspace_id}/fork"): Route(Need.PAGE, form={"name": "new"}),
    ("GET", "/workspaces/{workspace_id}/delete"): Route(Need.PAGE),
    ("GET", "/fragments/commands"): Route(Need.PAGE),
    ("GET", "/fragments/news"): Route(Need.PAGE, query="ids="),
    ("GET", "/shortcuts"): Route(Need.PAGE),
    ("POST", "/workspaces/delete"): Route(Need.PAGE, form={}),
    ("GET", "/workspaces/{workspace_id}/restore"): Route(Need.PAGE),
    ("POST", "/workspaces/{workspace_id}/restore"): Route(Need.PAGE, form={"archive": str(ARCHIVE_ID)}),
    ("GET", "/workspaces/{workspace_id}/start_empty"): Route(Need.PAGE),
    ("GET", "/account"): Route(Need.PAGE),
    ("GET", "/account/password"): Route(Need.NOTHING),
    ("GET", "/account/tokens"): Route(Need.NOTHING),
    ("POST", "/account/password"): Route(Need.PAGE, form=NEW_PASSWORDS),
    ("POST", "/account/sessions/end-others"): Route(Need.PAGE, form={}),
    ("POST", "/account/sessions/{session_id}/end"): Route(Need.PAGE, form={}),
    ("POST", "/account/tokens"): Route(Need.PAGE, form={"name": "new", "scope": "read", "days": "30"}),
    ("POST", "/account/tokens/{token_id}/revoke"): Route(Need.PAGE, form={}),
    ("POST", "/logout"): Route(Need.PAGE, form={}),
    ("GET", "/admin"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/users"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/users"): Route(Need.ADMIN_PAGE, form={"login": "new"}),
    ("GET", "/admin/users/new"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/users/{user_id}"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/users/{user_id}/change"): Route(Need.ADMIN_PAGE, form={"role": "admin", "max_running": "7"}),
    ("GET", "/admin/users/{user_id}/disabled"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/users/{user_id}/disabled"): Route(Need.ADMIN_PAGE, form={"disabled": "true"}),
    ("POST", "/admin/users/{user_id}/password"): Route(Need.ADMIN_PAGE, form={}),
    ("POST", "/admin/users/{user_id}/log-out"): Route(Need.ADMIN_PAGE, form={}),
    ("GET", "/admin/users/{user_id}/delete"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/users/{user_id}/delete"): Route(Need.ADMIN_PAGE, form={}),
    ("GET", "/admin/workspaces"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/coordinators"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/collector"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/collector/preview"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/collector/rounds"): Route(Need.ADMIN_PAGE, form={}),
    ("POST", "/admin/collector/confirm"): Route(Need.ADMIN_PAGE, form={"alarm": "round_halted"}),
    ("GET", "/admin/templates"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/templates"): Route(Need.ADMIN_PAGE, form={"name": "new", "image_ref": "new"}),
    ("GET", "/admin/templates/new"): Route(Need.ADMIN_PAGE),
    ("GET", "/admin/templates/{template_id}"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/templates/{template_id}"): Route(Need.ADMIN_PAGE, form={"name": "changed", "image_ref": "new"}),
    ("GET", "/admin/templates/{template_id}/delete"): Route(Need.ADMIN_PAGE),
    ("POST", "/admin/templates/{template_id}/delete"): Route(Need.ADMIN_PAGE, form={}),
    ("GET", "/admin/audit"): Route(Need.ADMIN_PAGE),
    ("POST", "/preferences"): Route(Need.NOTHING),
    ("GET", "/status"): Route(Need.NOTHING),
    ("GET", "/login"): Route(Need.NOTHING),
    ("POST", "/login"): Route(Need.NOTHING),
    ("GET", "/cli-login"): Route(Need.NOTHING),
    ("POST", "/cli-login"): Route(Need.NOTHING),
    ("GET", "/open/{workspace_id}"): Route(Need.NOTHING),
    ("GET", "/w/{workspace}"): Route(Need.NOTHING),
    ("GET", "/w/{workspace}/{rest:path}"): Route(Need.NOTHING),
    ("GET", "/workspaces/{workspace_id}/recover"): Route(Need.NOTHING),
    ("POST", "/workspaces/{workspace_id}/recover"): Route(Need.NOTHING),
    ("GET", "/workspaces/{workspace_id}/instead-of/{other_id}"): Route(Need.NOTHING),
    ("POST", "/workspaces/{workspace_id}/instead-of/{other_id}"): Route(Need.NOTHING),
    ("GET", "/internal/workspaces/{workspace_id}/page"): Route(Need.FRONT_DOOR),
    ("GET", "/internal/workspaces/{workspace_id}/clock"): Route(Need.FRONT_DOOR),
    ("GET", "/internal/workspaces/{workspace_id}/events"): Route(Need.FRONT_DOOR),
    ("POST", "/internal/workspaces/{workspace_id}/wake"): Route(Need.FRONT_DOOR),
    ("GET", "/healthz"): Route(Need.NOTHING),
    ("GET", "/readyz"): Route(Need.NOTHING),
    ("GET", f"{API}/openapi.json"): Route(Need.NOTHING),
}
FOR_FRONT_DOOR = {which: route for which, route in ROUTES.items() if route.need is Need.FRONT_DOOR}
ADMIN_PAGES = {which: route for which, route in ROUTES.items() if route.need is Need.ADMIN_PAGE}
OF_PAGES = {which: route for which, route in ROUTES.items() if route.need in {Need.PAGE, Need.ADMIN_PAGE}}
OPEN = {which: route for which, route in ROUTES.items() if route.need is Need.NOTHING}
GUARDED = {which: route for which, route in ROUTES.items() if which not in {**OF_PAGES, **OPEN, **FOR_FRONT_DOOR}}
UNSAFE = {which: route for which, route in GUARDED.items() if which[0] != "GET"}
OWNED = {which: route for which, route in GUARDED.items() if "{workspace_id}" in which[1]}


HELD = """
    INSERT INTO holds (id, workspace_id, reason, made_by, ends_at)
    VALUES ($1, $2, 'build', 'owner', clock_timestamp() + interval '1 minute') RETURNING id
"""


@dataclass
class World:
    """Somebody with a workspace, somebody without, an administrator, and what the paths can name."""

    people: People
    owner: User
    neighbour: User
    administrator: User
    named: dict[str, UUID] = field(default_factory=dict)

    async def asks(
        self, client: httpx.AsyncClient, which: tuple[str, str], brought: str = "made up", /, **headers: str
    ) -> httpx.Response:
        method, path = which
        address = path.replace(":path", "").format_map(self.named)
        route = ROUTES[which]
        if route.form is None:
            return await client.request(method, f"{address}?{route.query}", headers=headers, json=route.body)
        form = {"csrf_token": brought, "ids": str(self.named["workspace_id"]), **route.form}
        return await client.request(method, address, headers=headers, data=form)

    async def state(self) -> list[object]:
        """All that a call that was let through could have changed."""
        tables = (
            "workspaces",
            "holds",
            "users",
            "templates",
            "sessions",
            "api_tokens",
            "workspace_events",
            "audit_log",
            "gc_rounds",
            "archives",
        )
        kept = "- 'last_used_at' - 'expires_at'"  # using a session moves these
        questions = (f"SELECT md5(string_agg((to_jsonb(t) {kept})::text, '' ORDER BY id)) FROM {t} t" for t in tables)  # noqa: S608
        return [await self.people.pool.fetchval(question) for question in questions]


@pytest.fixture
async def world(people: People, pool: asyncpg.Pool) -> World:
    owner = await people.user("owner", password=PASSWORD)
    world = World(people, owner, await people.user("neighbour"), await people.administrator("head"))
    template_id, workspace_id = await make_template(pool), uuid4()
    await pool.execute(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, 'theirs', 'STANDBY')",
        workspace_id,
        owner.id,
    )
    await pool.execute(
        """INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
           VALUES ($1, $2, 1, 'theirs', 5, repeat('0', 64), 1, $1)""",
        *(ARCHIVE_ID, workspace_id),
    )
    world.named = {
        "workspace_id": workspace_id,
        "workspace": workspace_id,
        "other_id": workspace_id,
        "rest": workspace_id,
        "archive_id": ARCHIVE_ID,
        "template_id": template_id,
        "user_id": (await people.user("removable")).id,
        "session_id": (await people.session(owner)).id,
        "token_id": (await people.token(owner)).id,
        "hold_id": await pool.fetchval(HELD, uuid4(), workspace_id),
        "round_id": await pool.fetchval("INSERT INTO gc_rounds DEFAULT VALUES RETURNING id"),
    }
    return world


def served(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Every route of the application, by method and path."""
    for route in app.routes:
        included = getattr(route, "effective_route_contexts", None)
        each: Any
        for each in included() if included is not None else [route]:
            yield from ((method, each.path) for method in getattr(each, "methods", None) or () if method != "HEAD")


def test_every_route_is_listed_here(app: FastAPI) -> None:
    assert set(served(app)) == set(ROUTES)


async def test_what_is_for_the_front_door_is_there_for_nobody_else(world: World) -> None:
    clients = [await world.people.browser(user) for user in (world.owner, world.administrator)]
    before = await world.state()
    told = {"X-Codehub-Guest": f"{world.owner.id} {world.named['session_id']}", "X-Codehub-Visited": "/"}
    for client in clients:
        for which in FOR_FRONT_DOOR:
            assert (await world.asks(client, which, **told)).status_code == 404, which
    assert await world.state() == before


async def refused(world: World, client: httpx.AsyncClient, routes: dict[tuple[str, str], Route], expected: str) -> None:
    """Each of the routes answers so, and nothing has changed in the end."""
    before = await world.state()
    answers = {which: await world.asks(client, which) for which in routes}
    given = {which: f"{each.status_code} {each.json()['code']}" for which, each in answers.items()}
    assert given == dict.fromkeys(routes, expected)
    assert await world.state() == before


async def test_nobody_gets_through_without_a_login(world: World) -> None:
    await refused(world, await world.people.client(), GUARDED, "401 not_logged_in")


async def test_made_up_secrets_are_nobody(world: World) -> None:
    for headers in (
        {"Authorization": "Bearer codehub_made-up"},
        {"Authorization": "Basic eDp5"},
        {"Cookie": "codehub=x"},
    ):
        await refused(world, await world.people.client(headers=headers), GUARDED, "401 not_logged_in")


async def test_what_was_revoked_or_has_ended_is_nobody(world: World, pool: asyncpg.Pool) -> None:
    people, past = world.people, clock.now() - timedelta(seconds=1)
    revoked_session, revoked_token = await people.session(world.owner), await people.token(world.owner, *Scope)
    ended_session = await people.session(world.owner, expires_at=past)
    ended_token = await people.token(world.owner, *Scope, expires_at=past)
    await pool.execute("DELETE FROM sessions WHERE id = $1", revoked_session.id)
    await pool.execute("DELETE FROM api_tokens WHERE id = $1", revoked_token.id)
    for session in (revoked_session, ended_session):
        await refused(world, await people.browser(world.owner, session), GUARDED, "401 not_logged_in")
    for token in (revoked_token, ended_token):
        await refused(world, await people.program(world.owner, token=token), GUARDED, "401 not_logged_in")


async def test_pages_are_for_people_who_have_logged_in(world: World) -> None:
    stranger, program = await world.people.client(), await world.people.program(world.owner, *Scope)
    await refused(world, stranger, OF_PAGES, "401 not_logged_in")
    await refused(world, program, OF_PAGES, "401 not_logged_in")


async def test_a_form_without_the_sessions_token_changes_nothing(world: World) -> None:
    forms = {which: each for which, each in OF_PAGES.items() if which[0] == "POST"}
    await refused(world, await world.people.browser(world.owner), forms, "403 foreign_origin")


async def test_pages_for_administrators_are_for_nobody_else(world: World) -> None:
    browser = await world.people.browser(world.owner)
    before = await world.state()
    for which in ADMIN_PAGES:
        answer = await world.asks(browser, which, browser.headers[CSRF_HEADER])
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), which
    assert await world.state() == before


async def test_administrators_see_the_pages_that_are_for_them(world: World) -> None:
    browser = await world.people.browser(world.administrator)
    for which in ADMIN_PAGES:
        answer = await world.asks(browser, which, browser.headers[CSRF_HEADER])
        assert answer.status_code in (200, 303), (which, answer.text)


async def test_a_disabled_user_is_nobody(world: World) -> None:
    disabled = await world.people.user("gone", disabled=True)
    await refused(world, await world.people.browser(disabled), GUARDED, "401 not_logged_in")
    await refused(world, await world.people.program(disabled, *Scope), GUARDED, "401 not_logged_in")


async def test_a_page_of_another_origin_changes_nothing_with_its_visitors_cookie(world: World) -> None:
    browser = await world.people.browser(world.administrator)
    for forged in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"X-CSRF-Token": "made up"},
    ):
        browser.headers.update(forged)
        await refused(world, browser, UNSAFE, "403 foreign_origin")
        browser = await world.people.browser(world.administrator)


async def test_no_answer_is_for_pages_of_other_origins(world: World) -> None:
    browser = await world.people.browser(world.administrator)
    for which, route in ROUTES.items():
        if which[0] == "GET" and not route.streams:
            answer = await world.asks(browser, which, Origin="https://evil.example")
            assert not [name for name in answer.headers if name.startswith("access-control")], which


async def test_a_token_does_only_what_it_was_made_for(world: World) -> None:
    people = world.people
    beyond_holds = {which: each for which, each in GUARDED.items() if each.need in (Need.READ, Need.WORK, Need.ADMIN)}
    beyond_reading = {which: each for which, each in GUARDED.items() if each.need in (Need.HOLD, Need.WORK, Need.ADMIN)}
    beyond_work = {which: each for which, each in GUARDED.items() if each.need is Need.ADMIN}
    for_people = {which: each for which, each in GUARDED.items() if each.need is Need.SESSION}
    holding = await people.program(world.administrator, Scope.HOLD)
    reading = await people.program(world.administrator, Scope.READ)
    working = await people.program(world.administrator, Scope.WORKSPACES)
    everything = await people.program(world.administrator, *Scope)
    await refused(world, holding, beyond_holds, "403 scope_missing")
    await refused(world, reading, beyond_reading, "403 scope_missing")
    await refused(world, working, beyond_work, "403 scope_missing")
    await refused(world, everything, for_people, "403 session_needed")


async def test_a_token_made_for_administration_is_worth_nothing_without_the_role(world: World) -> None:
    administration = {which: each for which, each in GUARDED.items() if each.need is Need.ADMIN}
    await refused(world, await world.people.program(world.owner, Scope.ADMIN), administration, "403 scope_missing")
    await refused(world, await world.people.browser(world.owner), administration, "403 scope_missing")


async def test_what_belongs_to_another_looks_like_what_is_not_there(world: World) -> None:
    personal = {
        which: each for which, each in GUARDED.items() if "{session_id}" in which[1] or "{token_id}" in which[1]
    }
    neighbour = await world.people.browser(world.neighbour)
    await refused(world, neighbour, {**OWNED, **personal}, "404 not_found")
    theirs = {which: (await world.asks(neighbour, which)).json() for which in OWNED}
    world.named["workspace_id"] = uuid4()
    assert {which: (await world.asks(neighbour, which)).json() for which in OWNED} == theirs


async def test_those_who_may_get_through(world: World) -> None:
    """Otherwise everything above could be refused for another reason than the one it tests."""
    people = world.people
    may = {
        Need.HOLD: await people.program(world.owner, Scope.HOLD),
        Need.READ: await people.program(world.owner, Scope.READ),
        Need.WORK: await people.program(world.owner, Scope.WORKSPACES),
        Need.SESSION: await people.browser(world.owner),
        Need.ADMIN: await people.program(world.administrator, Scope.ADMIN),
    }
    for which, route in GUARDED.items():
        if not route.streams:
            administers = which in OWNED and which[0] == "GET"
            for client in {may[route.need], may[Need.ADMIN]} if administers else {may[route.need]}:
                answer = await world.asks(client, which)
                assert answer.status_code in (200, 201, 202, 204, 409), (which, answer.text)
