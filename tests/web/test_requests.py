"""Around every request: its id, what is said of one that fails or is slow, and that no secret is among it."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from fastapi import APIRouter, FastAPI, Request
from prometheus_client import generate_latest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from codehub.archives.open import open_store
from codehub.settings import Settings
from codehub.store.engine import pool
from codehub.web.app import Dependencies, create_app
from codehub.web.process import Process
from tests.logged import logged

SECRET = "canary-7f3a9c"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with logged() as said:
        yield said


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
def process() -> Process:
    return Process()


@pytest.fixture
async def app(
    settings: Settings, database_url: str, redis_url: str, archives: Path, process: Process
) -> AsyncIterator[FastAPI]:
    app = create_app(settings, Dependencies(database_url, redis_url, open_store(archives.as_uri())), process=process)
    router = APIRouter()

    @router.post("/broken/{workspace_id}")
    async def broken(workspace_id: str, request: Request) -> None:
        await request.body()
        raise RuntimeError(f"unforeseen in {workspace_id}")

    @router.get("/slow")
    async def slow() -> None:
        await asyncio.sleep(1.05)

    app.include_router(router)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
def client(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://codehub.test")


async def test_an_answer_carries_the_id_that_it_was_asked_with(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"X-Request-ID": "from-the-proxy.1"})
    assert answer.headers["x-request-id"] == "from-the-proxy.1"


@pytest.mark.parametrize("given", ["", "short", "with space in it", "x" * 65, "line\\x0abreak", "né-à-paris-1"])
async def test_an_id_that_could_fool_a_reader_of_logs_is_replaced(client: httpx.AsyncClient, given: str) -> None:
    answer = await client.get("/healthz", headers={b"X-Request-ID": given.encode("latin-1")})
    assert answer.headers["x-request-id"] not in {given, ""}


async def test_two_requests_have_two_ids(client: httpx.AsyncClient) -> None:
    one, other = await client.get("/healthz"), await client.get("/healthz")
    assert one.headers["x-request-id"] != other.headers["x-request-id"]


async def test_a_request_that_fails_is_told_once_with_its_id_and_workspace(
    client: httpx.AsyncClient, stream: io.StringIO
) -> None:
    answer = await client.post("/broken/w-1", headers={"X-Request-ID": "request-1"})
    assert answer.status_code == 500
    assert (answer.headers["x-request-id"], "content-security-policy" in answer.headers) == ("request-1", True)
    [line] = [line for line in lines(stream) if line["level"] == "error"]
    assert (line["event"], line["request_id"], line["workspace_id"]) == ("request failed", "request-1", "w-1")
    assert (line["route"], line["method"], line["status"]) == ("/broken/{workspace_id}", "POST", 500)
    assert "RuntimeError: unforeseen" in line["exception"]


async def test_a_slow_request_is_told_and_a_quick_one_only_to_developers(
    client: httpx.AsyncClient, stream: io.StringIO
) -> None:
    await client.get("/healthz")
    await client.get("/slow")
    assert [(line["event"], line["level"], line["route"]) for line in lines(stream)] == [
        ("request", "debug", "/healthz"),
        ("slow request", "warning", "/slow"),
    ]


async def test_a_secret_that_a_request_carries_appears_nowhere(
    client: httpx.AsyncClient, stream: io.StringIO, process: Process
) -> None:
    carried: dict[str, Any] = {
        "headers": {
            "Authorization": f"Bearer {SECRET}",
            "X-Request-ID": f"{SECRET} {SECRET}",
            "User-Agent": SECRET,
            "Cookie": f"codehub={SECRET}",
            "Referer": f"http://codehub.test/?{SECRET}",
        },
        "params": {"code": SECRET, "password": SECRET},
        "content": json.dumps({"password": SECRET}),
    }
    answers = [
        await client.request(method, path, **carried)
        for method in ("GET", "POST")
        for path in ("/broken/w-1", "/healthz", "/api/v1/me", "/api/v1/auth/login", f"/{SECRET}", "/metrics")
    ]
    assert {500, 404, 401} <= {answer.status_code for answer in answers}
    assert all(SECRET not in answer.text + str(answer.headers) for answer in answers)
    assert SECRET not in stream.getvalue()
    assert SECRET not in generate_latest(process.metrics.registry).decode()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM users WHERE id = CAST(:sent AS uuid)",
        "INSERT INTO users (id, login) VALUES (gen_random_uuid(), :sent)",
    ],
)
async def test_a_statement_that_fails_is_logged_without_what_people_sent(
    database_url: str, stream: io.StringIO, statement: str
) -> None:
    engine = pool(database_url, "test")
    try:
        async with engine.connect() as connection:
            await connection.execute(text(statement), {"sent": SECRET})
    except DBAPIError:
        structlog.get_logger().exception("failed")
    finally:
        await engine.dispose()
    assert "users" in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_what_the_server_says_is_plain(stream: io.StringIO, tmp_path: Path) -> None:
    logging.getLogger("uvicorn.error").info("Started [%d]", 1, extra={"color_message": f"\x1b[1m{tmp_path}"})
    [line] = lines(stream)
    assert "color_message" not in line
