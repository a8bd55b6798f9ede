"""The application on real services, reached without a network, with a switch between it and its database."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from codehub.archives.open import open_store
from codehub.settings import Settings
from codehub.web.app import Dependencies, create_app
from tests.web.switch import Switch


@pytest.fixture
async def database_switch(database_url: str) -> AsyncIterator[Switch]:
    [folder] = parse_qs(urlsplit(database_url).query)["host"]
    async with Switch(f"{folder}/.s.PGSQL.5432") as switch:
        yield switch


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    folder = tmp_path / "archives"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path)}, tmp_path)


@pytest.fixture
async def client(
    settings: Settings, database_url: str, database_switch: Switch, redis_url: str, archives: Path
) -> AsyncIterator[httpx.AsyncClient]:
    parts = urlsplit(database_url)
    through_switch = parts._replace(netloc=f"{parts.netloc}127.0.0.1:{database_switch.port}", query="").geturl()
    app = create_app(settings, Dependencies(through_switch, redis_url, open_store(archives.as_uri())))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://codehub.test") as client,
    ):
        yield client


@pytest.fixture
def unused_dependencies(archives: Path) -> Dependencies:
    """For routes that use no service."""
    return Dependencies("postgresql://127.0.0.1:1/none", "redis://127.0.0.1:1", open_store(archives.as_uri()))
