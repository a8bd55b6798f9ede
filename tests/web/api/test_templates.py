"""Templates over HTTP: listed for everybody, made and changed by administrators, built-in ones kept."""

from uuid import uuid4

import asyncpg
import pytest

from codehub.store.seat import PostgresSeat
from tests.web.api.people import People
from tests.web.api.workspaces import TEMPLATE, Owner, make_template

ADMIN = "/api/v1/admin/templates"
NEW = {"name": "python", "image_ref": "registry.example.org/python:1", "port": 8080, "environment": {"TOKEN": "s3cret"}}


@pytest.fixture
async def boss(people: People, pool: asyncpg.Pool) -> Owner:
    await make_template(pool)
    return Owner(await people.browser(await people.administrator("boss")), pool)


async def test_a_template_is_made_changed_used_and_deleted(boss: Owner) -> None:
    made = await boss.client.post(ADMIN, json={**NEW, "resources": {"cpus": 1.5}})
    assert (made.status_code, made.json()["status"], made.json()["built_in"]) == (201, "ready", False)
    address = f"{ADMIN}/{made.json()['id']}"
    changed = await boss.client.patch(address, json={"description": "Python", "standby_after_seconds": 0})
    assert (changed.json()["description"], changed.json()["standby_after_seconds"]) == ("Python", 0)
    assert changed.json()["environment"] == NEW["environment"]
    workspace = await boss.create(template="python")
    in_use = await boss.client.delete(address)
    assert (in_use.status_code, in_use.json()["code"]) == (409, "in_use")
    await boss.delete(workspace)
    assert (await boss.client.delete(address)).status_code == 204
    assert (await boss.client.delete(address)).status_code == 404
    told = await boss.pool.fetch("SELECT action FROM audit_log WHERE action LIKE 'template.%' ORDER BY id")
    assert [each["action"] for each in told] == ["template.create", "template.change", "template.delete"]


async def test_people_see_templates_without_what_only_administrators_know(boss: Owner, people: People) -> None:
    await boss.client.post(ADMIN, json=NEW)
    ada = await people.browser(await people.user())
    answer = await ada.get("/api/v1/templates")
    assert [each["name"] for each in answer.json()["items"]] == [TEMPLATE, "python"]
    assert "s3cret" not in answer.text
    for refused in (await ada.get(ADMIN), await ada.post(ADMIN, json=NEW), await ada.delete(f"{ADMIN}/{uuid4()}")):
        assert refused.status_code == 403


async def test_a_name_is_taken_once(boss: Owner) -> None:
    first = await boss.client.post(ADMIN, json=NEW)
    again = await boss.client.post(ADMIN, json=NEW)
    renamed = await boss.client.patch(f"{ADMIN}/{first.json()['id']}", json={"name": TEMPLATE})
    for refused in (again, renamed):
        assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")


async def test_of_a_built_in_template_only_what_codehub_does_not_know_better_is_changed(boss: Owner) -> None:
    await boss.pool.execute("UPDATE templates SET built_in = true")
    [built_in] = (await boss.client.get(ADMIN)).json()["items"]
    address = f"{ADMIN}/{built_in['id']}"
    for refused in (await boss.client.delete(address), await boss.client.patch(address, json={"port": 1})):
        assert (refused.status_code, refused.json()["code"]) == (409, "built_in")
    changed = await boss.client.patch(address, json={"resources": {"cpus": 4.0}})
    assert (changed.status_code, changed.json()["resources"]) == (200, {"cpus": 4.0})


@pytest.mark.parametrize(
    "wrong",
    [
        {"image_ref": "-v /:/host"},
        {"image_ref": "a b"},
        {"port": 0},
        {"health_path": "no slash"},
        {"environment": {"A=B": "x"}},
        {"environment": {"A": "\x00"}},
        {"privileged": True},
    ],
)
async def test_what_is_not_allowed_is_told(boss: Owner, wrong: dict[str, object]) -> None:
    assert (await boss.client.post(ADMIN, json={**NEW, **wrong})).status_code == 422


async def test_an_administrator_sees_who_leads(boss: Owner, database_url: str, people: People) -> None:
    seat = await PostgresSeat.take(database_url, "coordinator:test", "node", 5)
    try:
        await seat.campaign()
        [office] = (await boss.client.get("/api/v1/admin/coordinators")).json()["items"]
        assert (office["name"], office["holder"], office["held"], office["released"]) == (
            "coordinator:test",
            "node",
            True,
            False,
        )
    finally:
        await seat.resign()
        await seat.close()
    [office] = (await boss.client.get("/api/v1/admin/coordinators")).json()["items"]
    assert (office["held"], office["released"]) == (False, True)
    assert (office["last_pass"], office["is_failing"], office["alarm"]) == (None, False, None)
    ada = await people.browser(await people.user())
    assert (await ada.get("/api/v1/admin/coordinators")).status_code == 403
