"""The names that codehub answers to, and what https changes."""

from pathlib import Path

import httpx
import pytest

from codehub.settings import Settings
from codehub.web.app import Dependencies, create_app
from codehub.web.hosts import same_origin


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    variables = {"CODEHUB_DATA_DIR": str(tmp_path), "CODEHUB_PUBLIC_URL": "https://codehub.example.org"}
    return Settings.load(variables, tmp_path)


async def ask(settings: Settings, dependencies: Dependencies, host: str, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(settings, dependencies), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.get(path, headers={"Host": host})


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("codehub.example.org", True),
        ("CODEHUB.example.org:443", True),
        ("127.0.0.1:8080", True),
        ("[::1]:8080", True),
        ("localhost", True),
        ("evil.test", False),
        ("evil.test:8080", False),
        ("codehub.example.org.evil.test", False),
        ("[", False),
    ],
)
async def test_a_name_that_is_not_ours_gets_nothing(
    settings: Settings, unused_dependencies: Dependencies, host: str, *, known: bool
) -> None:
    answer = await ask(settings, unused_dependencies, host, "/static/style.css")
    assert answer.status_code == (200 if known else 421)
    assert known or answer.json()["code"] == "unknown_host"


async def test_load_balancers_may_call_us_as_they_like(settings: Settings, unused_dependencies: Dependencies) -> None:
    assert (await ask(settings, unused_dependencies, "10-0-0-7.internal", "/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.test", "https://A.test:443", True),
        ("http://a.test:80", "http://a.test", True),
        ("https://a.test", "http://a.test", False),
        ("https://a.test", "https://a.test:8443", False),
        ("https://a.test", "https://b.a.test", False),
        ("https://a.test", "null", False),
        ("https://a.test", "https://a.test:x", False),
    ],
)
def test_an_origin_is_scheme_name_and_port(one: str, other: str, *, same: bool) -> None:
    assert same_origin(one, other) is same
