"""The installation at a glance, over the API."""

import httpx
import pytest
from fastapi import FastAPI

from codehub.coordinators.supervisor import Report
from codehub.model.states import Phase
from codehub.store.seat import PostgresSeat
from codehub.web.leading import Leading
from codehub.web.siblings import Siblings
from tests.web.api.people import People, User
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import Owner


@pytest.fixture
async def boss(people: People, root: User) -> httpx.AsyncClient:
    return await people.browser(root)


async def test_it_counts_workspaces_users_and_archives(
    boss: httpx.AsyncClient, ada: Owner, people: People, shelf: Shelf
) -> None:
    garden = await ada.create("garden")
    await ada.becomes(garden, Phase.RUNNING)
    await ada.create("shed")
    await shelf.put(garden, b"twelve bytes")
    await shelf.put(garden, b"and five")
    await people.user("gone", disabled=True)
    found = (await boss.get("/api/v1/admin/overview")).json()
    assert found == {
        "workspaces": {"RUNNING": 1, "PENDING": 1},
        "operations": {},
        "users": 3,
        "disabled_users": 1,
        "archives": 2,
        "archive_bytes": 20,
        "kept_archives": 0,
        "services": {},
    }


async def test_a_leader_of_this_machine_tells_of_its_last_pass_and_of_the_services(
    app: FastAPI, boss: httpx.AsyncClient, database_url: str
) -> None:
    seat = await PostgresSeat.take(database_url, "coordinator:wc", "node", 5)
    term = await seat.campaign()
    assert term is not None
    report = Report(is_leader=True, epoch=term.epoch, services={"runtime": False}, alarm="look here")
    report.passed()
    app.state.leading = Leading(Siblings(None), {"wc": report})
    try:
        [office] = (await boss.get("/api/v1/admin/coordinators")).json()["items"]
    finally:
        await seat.close()
    assert (office["name"], office["alarm"], office["last_error"]) == ("coordinator:wc", "look here", None)
    assert office["last_pass"] is not None
    assert (await boss.get("/api/v1/admin/overview")).json()["services"] == {"runtime": False}
