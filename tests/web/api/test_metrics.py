"""`/metrics`: who may read it, what it tells, and that docs/metrics.md says the same."""

import re
from pathlib import Path

import asyncpg
import httpx
import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from codehub.model.accounts import Scope
from codehub.proxy.addresses import TrustedProxies
from codehub.proxy.counts import Counts
from codehub.proxy.everybody import Everybody
from codehub.proxy.figures import ProxyReadings
from codehub.proxy.pool import Pool
from codehub.settings import Settings
from codehub.telemetry.readings import CoordinatorReadings
from tests.web.api.people import PASSWORD, People

DOCUMENT = Path(__file__).parents[3] / "docs" / "metrics.md"
TOKEN = "a-token-for-the-scraper"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "METRICS_TOKEN": TOKEN}, tmp_path)


@pytest.fixture
async def scraper(people: People) -> httpx.AsyncClient:
    return await people.client(headers={"Authorization": f"Bearer {TOKEN}"})


async def families(client: httpx.AsyncClient) -> dict[str, Metric]:
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    return {family.name: family for family in text_string_to_metric_families(answer.text)}


def value(family: Metric, **labels: str) -> float | None:
    """The newest value with these labels, whatever others it has."""
    found = [sample.value for sample in family.samples if labels.items() <= sample.labels.items()]
    return found[0] if found else None


async def test_administrators_and_the_scraper_may_read_and_nobody_else(
    people: People, scraper: httpx.AsyncClient
) -> None:
    administrator, somebody = await people.administrator(), await people.user()
    for allowed in (
        scraper,
        await people.browser(administrator),
        await people.program(administrator, Scope.READ, Scope.WORKSPACES, Scope.ADMIN),
    ):
        assert (await allowed.get("/metrics")).status_code == 200
    for refused, status in (
        (await people.client(), 401),
        (await people.client(headers={"Authorization": "Bearer another-token-for-it"}), 401),
        (await people.browser(somebody), 403),
        (await people.program(administrator, Scope.READ), 403),
    ):
        assert (await refused.get("/metrics")).status_code == status


async def test_without_a_token_that_is_set_no_empty_one_lets_anybody_in(people: People) -> None:
    for given in ("Bearer ", "Bearer None", "bearer", ""):
        nobody = await people.client(headers={"Authorization": given})
        assert (await nobody.get("/metrics")).status_code == 401


async def test_requests_are_counted_by_route_and_never_by_path(people: People, scraper: httpx.AsyncClient) -> None:
    reader = await people.program(await people.user(), Scope.READ)
    await reader.get("/api/v1/me")
    for invented in ("/invented/1", "/invented/2", "/static/missing-1", "/static/missing-2"):
        await reader.get(invented)
    await reader.request("BREW", "/api/v1/me")
    found = await families(scraper)
    requests = found["codehub_http_requests"]
    assert value(requests, route="/api/v1/me", method="GET", status="200") == 1
    assert value(requests, route="unmatched", method="GET", status="404") == 4
    assert value(requests, method="other") == 1
    assert value(found["codehub_http_request_seconds"], route="/api/v1/me", le="+Inf") == 1
    assert value(found["codehub_http_requests_in_flight"]) == 1


async def test_logins_are_counted_by_outcome_through_the_api_and_the_page(
    people: People, scraper: httpx.AsyncClient
) -> None:
    user = await people.user(password=PASSWORD)
    for password in (PASSWORD, "wrong", "wrong again"):
        answered = {"login": user.login, "password": password}
        await (await people.client()).post("/api/v1/auth/login", json=answered)
        await (await people.client()).post("/login", data=answered)
    logins = (await families(scraper))["codehub_logins"]
    assert (value(logins, outcome="let in"), value(logins, outcome="refused")) == (2, 4)


async def test_a_workspace_in_each_phase_is_counted(
    people: People, scraper: httpx.AsyncClient, pool: asyncpg.Pool
) -> None:
    owner = await people.user()
    for name, phase in (("one", "RUNNING"), ("two", "RUNNING"), ("three", "STANDBY")):
        await pool.execute(
            """INSERT INTO workspaces (id, owner_user_id, name, desired_state, phase)
               VALUES (gen_random_uuid(), $1, $2, 'RUNNING', $3)""",
            owner.id,
            name,
            phase,
        )
    workspaces = (await families(scraper))["codehub_workspaces"]
    counts = {sample.labels["phase"]: sample.value for sample in workspaces.samples}
    assert (counts["RUNNING"], counts["STANDBY"], counts["ARCHIVED"]) == (2, 1, 0)


async def test_the_use_of_the_database_and_the_process_is_told(scraper: httpx.AsyncClient) -> None:
    await scraper.get("/metrics")
    found = await families(scraper)
    assert value(found["codehub_database_connections"], pool="reads", state="idle") is not None
    assert value(found["codehub_database_connections"], pool="writes", state="used") == 0
    assert (value(found["process_resident_memory_bytes"]) or 0) > 10_000_000
    assert value(found["codehub_replica_answers"], replica="serve") == 1


async def test_the_document_lists_every_metric_as_it_is(scraper: httpx.AsyncClient) -> None:
    doors = ProxyReadings(Counts(), Everybody(1, TrustedProxies(())), Pool(1, 1))
    readings = [*CoordinatorReadings(dict).collect(), *doors.collect()]
    told = {**await families(scraper), **{each.name: each for each in readings}}
    text = DOCUMENT.read_text()
    documented = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.MULTILINE))
    assert documented == {_outside(each): each.type for each in told.values()}
    silent = [
        each.name for each in told.values() if each.name.startswith("codehub_") and each.documentation not in text
    ]
    assert silent == []


def _outside(family: Metric) -> str:
    return f"{family.name}_total" if family.type == "counter" else family.name
