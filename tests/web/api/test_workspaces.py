"""Workspaces over HTTP: made, read, listed, deleted."""

from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from codehub.model.accounts import Scope
from codehub.model.states import Phase
from codehub.web.api.schemas.workspace import Workspace
from tests.web.api.people import People
from tests.web.api.workspaces import ROOT, TEMPLATE, Owner, make_template


@pytest.fixture
async def ada(people: People, pool: asyncpg.Pool) -> Owner:
    await make_template(pool)
    return Owner(await people.browser(await people.user("ada")), pool)


async def test_a_new_workspace_is_answered_whole_with_its_version_and_address(ada: Owner) -> None:
    answer = await ada.ask_for("garden", "RUNNING", description="The shop", git_url="https://git.example.org/a/b.git")
    assert answer.status_code == 201
    made = answer.json()
    Workspace.model_validate(made)
    assert (made["name"], made["desired_state"], made["phase"]) == ("garden", "RUNNING", "PENDING")
    assert (made["owner"]["login"], made["template"]["name"]) == ("ada", TEMPLATE)
    assert (made["desired_reason"], made["desired_by"]) == ("owner", "ada")
    assert answer.headers["location"] == f"{ROOT}/{made['id']}"
    again = await ada.client.get(answer.headers["location"])
    assert (again.json(), again.headers["etag"]) == (made, answer.headers["etag"])


async def test_a_template_can_be_named_by_its_id(ada: Owner) -> None:
    template_id = await make_template(ada.pool, "other")
    assert (await ada.create(template=str(template_id)))["template"]["name"] == "other"


async def test_a_name_is_taken_among_the_living_of_one_owner_only(ada: Owner, people: People) -> None:
    garden = await ada.create("garden")
    taken = await ada.ask_for("garden")
    assert (taken.status_code, taken.json()["code"]) == (409, "name_taken")
    bob = Owner(await people.browser(await people.user("bob")), ada.pool)
    await bob.create("garden")
    await ada.delete(garden)
    await ada.create("garden")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", " garden"),
        ("name", "garden\n"),
        ("name", "a/b"),
        ("name", "x" * 64),
        ("name", "nul\x00"),
        ("name", "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11"),
        ("name", "3F0E4C1A7D524A4F9A0E0D3B0A5F6C11"),
        ("description", "two\nlines"),
        ("memo", "x" * 20_001),
        ("git_url", "https://ada:secret@git.example.org/a.git"),
        ("git_url", "https://token@git.example.org/a.git"),
        ("git_url", "ssh://ada:secret@git.example.org/a.git"),
        ("git_url", "http://ada:secret@git.example.org/a.git"),
        ("git_url", "git://git.example.org/a.git"),
        ("git_url", "--upload-pack=id"),
        ("git_url", "file:///etc/passwd"),
        ("git_url", "ext::sh -c id"),
        ("git_url", "git@git.example.org:--upload-pack=id"),
        ("git_url", "ssh://-oProxyCommand=id/a"),
        ("git_url", "https://git.example.org/$(id)"),
        ("desired_state", "DELETED"),
        ("desired_state", "ARCHIVED"),
        ("standby_after_seconds", -1),
        ("standby_after_seconds", "600"),
        ("resources", {"memory_bytes": 1}),
        ("resources", {"cpus": 10**9}),
        ("resources", {"gpus": 1}),
        ("colour", "red"),
    ],
)
async def test_what_is_not_allowed_is_told_by_its_place_and_never_echoed(ada: Owner, field: str, value: Any) -> None:  # noqa: ANN401
    body = {"name": "garden", "template": TEMPLATE, field: value}
    answer = await ada.client.post(ROOT, json=body)
    assert answer.status_code == 422
    assert field in {part for mistake in answer.json()["errors"] for part in mistake["at"].split(".")}
    assert "secret" not in answer.text
    assert await ada.names() == []


@pytest.mark.parametrize(
    "url",
    ["git@git.example.org:a/b.git", "ssh://git@git.example.org:2222/a/b.git", "http://git.example.org:3000/a/b"],
)
async def test_a_repository_may_be_reached_by_ssh_or_without_tls(ada: Owner, url: str) -> None:
    assert (await ada.create(git_url=url))["git_url"] == url


async def test_a_template_that_is_not_there_is_told(ada: Owner) -> None:
    answer = await ada.ask_for(template="nothing")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_template")


async def test_only_an_administrator_gives_more_than_the_template_does(ada: Owner, people: People) -> None:
    assert (await ada.create(resources={"cpus": 0.5}))["resources"] == {"cpus": 0.5}
    refused = await ada.ask_for(resources={"cpus": 2.0})
    assert (refused.status_code, refused.json()["code"]) == (422, "above_template")
    administrator = Owner(await people.browser(await people.administrator()), ada.pool)
    assert (await administrator.create(resources={"cpus": 2.0}))["resources"] == {"cpus": 2.0}


async def test_what_belongs_to_somebody_else_is_not_there(ada: Owner, people: People) -> None:
    garden = await ada.create("garden")
    bob = Owner(await people.browser(await people.user("bob")), ada.pool)
    nowhere = {"id": str(uuid4())}
    for ask in (bob.get, bob.delete):
        foreign, missing = await ask(garden), await ask(nowhere)
        assert (foreign.status_code, foreign.content) == (404, missing.content)
    for action in ("start", "stop", "recover", "archive"):
        assert (await bob.post(garden, action)).status_code == 404
    assert (await bob.patch(garden, name="mine")).status_code == 404
    assert (await bob.client.get(f"{ROOT}/{garden['id']}/events")).status_code == 404
    assert await bob.names() == []
    assert (await ada.get(garden)).json() == garden


async def test_an_administrator_acts_on_anybodys_workspace_and_it_is_told(ada: Owner, people: People) -> None:
    garden = await ada.create("garden")
    boss = Owner(await people.browser(await people.administrator("boss")), ada.pool)
    started = (await boss.post(garden, "start")).json()
    assert (started["desired_reason"], started["desired_by"]) == ("admin", "boss")
    assert await ada.count("audit_log WHERE action = 'workspace.start' AND actor = 'boss' AND subject = 'garden'") == 1
    everything = (await boss.client.get("/api/v1/admin/workspaces", params={"owner": garden["owner"]["id"]})).json()
    assert [each["name"] for each in everything["items"]] == ["garden"]


async def test_an_administrators_token_without_that_scope_sees_only_their_own(ada: Owner, people: People) -> None:
    garden = await ada.create("garden")
    boss = await people.administrator()
    program = Owner(await people.program(boss, Scope.WORKSPACES), ada.pool)
    assert (await program.get(garden)).status_code == 404
    assert (await program.client.get("/api/v1/admin/workspaces")).status_code == 403


async def test_a_deletion_is_answered_again_until_nothing_is_left(ada: Owner) -> None:
    garden = await ada.create("garden")
    first, second = await ada.delete(garden), await ada.delete(garden)
    assert (first.status_code, first.json()["undo_until"]) == (202, None)
    assert (second.status_code, second.json()) == (202, first.json())
    assert (await ada.get(garden)).status_code == 404
    assert await ada.names() == []
    await ada.becomes(garden, Phase.DELETED)
    assert (await ada.delete(garden)).status_code == 200
    assert await ada.count("workspace_events WHERE kind = 'wish' AND after = 'DELETED'") == 1


async def test_the_history_can_be_read_page_by_page_also_of_a_deleted_one(ada: Owner) -> None:
    garden = await ada.create("garden")
    await ada.post(garden, "start")
    await ada.post(garden, "stop")
    await ada.delete(garden)
    told, cursor = [], None
    for _ in range(4):
        parameters = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = (await ada.client.get(f"{ROOT}/{garden['id']}/events", params=parameters)).json()
        told += [(each["kind"], each["before"], each["after"], each["actor"]) for each in page["items"]]
        cursor = page["next"]
    assert told == [
        ("wish", "STANDBY", "DELETED", "ada"),
        ("wish", "RUNNING", "STANDBY", "ada"),
        ("wish", "STANDBY", "RUNNING", "ada"),
        ("created", None, "STANDBY", "ada"),
    ]
    assert cursor is None
