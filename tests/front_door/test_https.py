"""Over TLS, by a proxy in front or by its own certificate: cookies that no other origin can set, and addresses that
people use."""

import asyncio
import ssl
from collections.abc import Iterator

import pytest

from tests.certificates import Certificate, make_certificate
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.browser import PERSON
from tests.front_door.chromium import chromium, needs_chromium, open_workspace
from tests.front_door.house import House, house
from tests.front_door.test_in_chromium import IDE

pytestmark = pytest.mark.timeout(300)
TOLD = {
    "CODEHUB_PUBLIC_URL": "https://codehub.test",
    "PROXY_DOMAIN": "dev.test",
    "CODEHUB_TRUSTED_PROXIES": "127.0.0.1",
}


@pytest.fixture(scope="module")
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder, 0, **TOLD) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


async def test_from_login_to_a_woken_workspace(codehub: House) -> None:
    ada = await codehub.person()
    garden = await ada.workspace("garden", running=False)
    browser = await ada.log_in()
    browser.headers = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https"}
    origin = browser.origin(garden)
    assert origin == f"https://{garden.hex}.dev.test"
    assert (await ada.call("GET", f"/workspaces/{garden}")).json()["url"] == f"{origin}/"
    page = await browser.open(origin)
    assert page.status_code == 503
    kept = browser.jar[f"{garden.hex}.dev.test"]
    assert kept.keys() == {"__Host-codehub-visit", "__Host-codehub-entering"}
    assert (await browser.fetch(f"{origin}/.codehub/static/waking.js")).status_code == 200
    assert (await browser.fetch(f"{origin}/.codehub/wake", "POST")).status_code == 202
    await ada.until_phase(garden, "RUNNING")
    told = dict((await browser.open(origin)).json()["headers"])
    assert told["X-Forwarded-For"] == "198.51.100.7"
    assert told["X-Forwarded-Proto"] == "https"
    async with browser.websocket(origin) as socket:
        assert socket.status == 101
    async with browser.websocket(origin, origin=origin.replace("https:", "http:")) as socket:
        assert socket.status == 403


async def test_a_name_that_is_not_ours_gets_nothing(codehub: House) -> None:
    browser = codehub.browser()
    for host in ("evil.test", "dev.test.evil.test"):
        assert (await browser.send("GET", f"http://{host}/login", PERSON)).status_code == 421


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("https") / "certificate", "codehub.test", "*.dev.test")


@pytest.fixture(scope="module")
def with_certificate(
    postgres_url: str, migrated_template: str, redis_url: str, certificate: Certificate
) -> Iterator[House]:
    files = {"PROXY_CERTIFICATE": str(certificate.file), "PROXY_KEY": str(certificate.key)}
    told = {"CODEHUB_PUBLIC_URL": TOLD["CODEHUB_PUBLIC_URL"], "PROXY_DOMAIN": TOLD["PROXY_DOMAIN"], **files}
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder, 0, **told) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


async def test_with_a_certificate_of_its_own_it_needs_nobody_in_front(with_certificate: House) -> None:
    ada = await with_certificate.person()
    garden = await ada.workspace("garden")
    browser = await ada.log_in()
    origin = browser.origin(garden)
    browser.headers = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "http"}
    told = dict((await browser.open(origin)).json()["headers"])
    assert told["X-Forwarded-For"] == "127.0.0.1"
    assert told["X-Forwarded-Proto"] == "https"
    assert all(name.startswith("__Host-codehub") for host in browser.jar.values() for name in host)
    async with browser.websocket(origin) as socket:
        await socket.told()
        await socket.say(b"hello")
        assert await socket.hear() == b"hello"
    reader, writer = await asyncio.open_connection(*with_certificate.address)
    writer.write(b"GET /login HTTP/1.1\r\nHost: codehub.test\r\n\r\n")
    assert b"200" not in await reader.read()  # nothing is told in clear
    writer.close()
    await writer.wait_closed()
    trusting = with_certificate.tls
    assert trusting is not None
    trusting.set_alpn_protocols(["h2", "http/1.1"])
    _, secure = await asyncio.open_connection(*with_certificate.address, ssl=trusting, server_hostname="codehub.test")
    chosen: ssl.SSLObject = secure.get_extra_info("ssl_object")
    assert chosen.selected_alpn_protocol() == "http/1.1"
    secure.transport.abort()
    await secure.wait_closed()


ECHO = """
() => new Promise((told, failed) => {
  const socket = new WebSocket(location.origin.replace("https", "wss"));
  socket.onmessage = () => { socket.onmessage = (heard) => told(heard.data); socket.send("hello"); };
  socket.onerror = failed;
})
"""


@needs_chromium
async def test_in_chromium_a_workspace_is_entered_and_used(with_certificate: House, certificate: Certificate) -> None:
    eve = await with_certificate.person()
    shed = await eve.workspace("shed")
    here = f"127.0.0.1:{with_certificate.address[1]}"
    async with chromium(
        f"--host-resolver-rules=MAP codehub.test {here}, MAP *.dev.test {here}",
        f"--ignore-certificate-errors-spki-list={certificate.fingerprint()}",
    ) as browser:
        page = await browser.new_page()
        await open_workspace(page, eve, f"https://{shed.hex}.dev.test/folder")
        await page.wait_for_selector(IDE, timeout=90_000)
        assert page.url == f"https://{shed.hex}.dev.test/folder"
        assert await page.evaluate("isSecureContext") is True
        assert await page.evaluate(ECHO) == "hello"
        assert await page.evaluate("document.cookie") == ""
        kept = await page.context.cookies()
    assert "__Host-codehub-visit" in {cookie["name"] for cookie in kept}
    assert all(cookie["name"].startswith("__Host-codehub") and cookie["secure"] for cookie in kept)
