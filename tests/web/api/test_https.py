"""Behind a proxy that speaks https: cookies, origins and addresses."""

from pathlib import Path

import httpx
import pytest

from codehub.settings import Settings
from tests.web.api.people import PASSWORD, People, User

PUBLIC = "https://codehub.test"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    variables = {
        "CODEHUB_DATA_DIR": str(tmp_path),
        "CODEHUB_PUBLIC_URL": PUBLIC,
        "CODEHUB_TRUSTED_PROXIES": "10.0.0.0/24",
    }
    return Settings.load(variables, tmp_path)


@pytest.fixture
async def ada(people: People) -> User:
    return await people.user("ada", password=PASSWORD)


async def log_in(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/api/v1/auth/login", json={"login": "ada", "password": PASSWORD})


@pytest.mark.usefixtures("ada")
async def test_cookies_belong_to_this_host_alone_and_travel_encrypted(people: People) -> None:
    answer = await log_in(await people.client(headers={"Origin": PUBLIC}))
    session, device = answer.headers.get_list("set-cookie")
    assert session.startswith("__Host-codehub=")
    assert device.startswith("__Host-codehub-device=")
    for cookie in (session, device):
        assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
        assert "Domain" not in cookie


@pytest.mark.usefixtures("ada")
@pytest.mark.parametrize("origin", ["http://codehub.test", "https://codehub.test:8443", "https://x.codehub.test"])
async def test_only_the_public_origin_is_ours(people: People, origin: str) -> None:
    assert (await log_in(await people.client(headers={"Origin": origin}))).status_code == 403


@pytest.mark.parametrize(
    ("peer", "forwarded", "told"),
    [
        ("10.0.0.7", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.7", "1.2.3.4, 203.0.113.5", "203.0.113.5"),
        ("198.51.100.9", "203.0.113.5", "198.51.100.9"),
    ],
)
async def test_an_address_is_believed_from_a_trusted_proxy_alone(
    people: People, ada: User, peer: str, forwarded: str, told: str
) -> None:
    client = await people.client(address=peer, headers={"X-Forwarded-For": forwarded})
    assert (await log_in(client)).status_code == 200
    assert await people.pool.fetchval("SELECT address FROM sessions WHERE user_id = $1", ada.id) == told
