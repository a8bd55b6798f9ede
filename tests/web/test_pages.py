"""The page that tells how each part does, errors, and the headers that everything carries."""

import httpx
import pytest
from starlette.requests import Request

from codehub.settings import Settings
from codehub.telemetry.health import Check
from codehub.web.app import Dependencies, create_app
from codehub.web.health import Report
from codehub.web.pages.render import form_page
from tests.web.switch import Switch


async def test_the_status_page_tells_what_runs(client: httpx.AsyncClient) -> None:
    answer = await client.get("/status")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "every part of it answers" in answer.text
    for part in ("database", "redis", "archive store"):
        assert f'<tr class="ok"><th scope="row">{part}</th>' in answer.text


async def test_the_status_page_is_there_without_the_database(
    client: httpx.AsyncClient, database_switch: Switch
) -> None:
    await database_switch.close()
    answer = await client.get("/status", headers={"Accept-Language": "ko"})
    assert answer.status_code == 200
    assert "데이터베이스를 쓸 수 있을 때까지" in answer.text


async def test_without_the_database_the_first_page_says_so_and_leads_to_the_status(
    client: httpx.AsyncClient, database_switch: Switch
) -> None:
    await database_switch.close()
    answer = await client.get("/", headers={"Accept": "text/html", "Cookie": "codehub=somebody"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert 'href="/status"' in answer.text
    assert "try again in a moment" in answer.text


async def test_the_page_needs_nothing_that_its_policy_forbids(client: httpx.AsyncClient) -> None:
    answer = await client.get("/status")
    assert "default-src 'none'; style-src 'self'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text
    assert "style=" not in answer.text
    assert (await client.get("/static/style.css")).headers["content-type"] == "text/css; charset=utf-8"


def test_what_a_service_answers_cannot_become_markup() -> None:
    report = Report((Check("database", ok=False, latency_ms=1, detail="<script>alert(1)</script>"),))
    request = Request({"type": "http", "method": "GET", "path": "/status", "query_string": b"", "headers": []})
    html = bytes(form_page(request, "status.html", report=report).body).decode()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/workspaces/x/fork", 422), ("/broken", 500)])
async def test_a_person_gets_a_page_in_their_language_for_what_goes_wrong(
    settings: Settings, unused_dependencies: Dependencies, path: str, status: int
) -> None:
    app = create_app(settings, unused_dependencies)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("hunter2")

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://codehub.test") as client:
        said = {"Accept": "text/html", "Accept-Language": "fr, ko-KR;q=0.8, en;q=0.5"}
        answer = await client.get(path, headers=said)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert '<html lang="ko"' in answer.text
    assert "모든 워크스페이스" in answer.text
    assert "hunter2" not in answer.text
    assert "script-src" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/healthz", "/readyz", "/static/style.css", "/nowhere"])
async def test_every_answer_carries_the_security_headers(client: httpx.AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/nowhere", "/static/nothing.css", "/static/../app.py", "/docs"])
async def test_an_unknown_address_is_a_problem_document(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {"type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found"}


async def test_the_interface_describes_itself(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/openapi.json")
    assert (answer.status_code, answer.json()["info"]["title"]) == (200, "codehub")


async def test_a_wrong_method_is_a_problem_document_that_says_which_are_right(client: httpx.AsyncClient) -> None:
    answer = await client.post("/healthz")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


async def test_a_mistake_of_ours_is_a_problem_document_without_its_details(
    settings: Settings, unused_dependencies: Dependencies
) -> None:
    app = create_app(settings, unused_dependencies)

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("hunter2")

    @app.get("/numbered")
    async def numbered(number: int) -> int:
        return number

    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://codehub.test") as client:
        mistake = await client.get("/broken")
        invalid = await client.get("/numbered", params={"number": "x"})
    assert (mistake.status_code, mistake.json()["code"]) == (500, "internal_server_error")
    assert "hunter2" not in mistake.text
    assert mistake.headers["x-content-type-options"] == "nosniff"
    assert (invalid.status_code, invalid.json()["code"]) == (422, "invalid_request")
    assert invalid.json()["errors"][0]["at"] == "query.number"
