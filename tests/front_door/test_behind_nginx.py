"""Behind nginx as docs/front-door.md sets it up, with TLS and HTTP/2 in front."""

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.certificates import Certificate, make_certificate
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.faults.serving import DIES_WITH_US
from tests.folders import short_folder
from tests.front_door.house import House, house
from tests.front_door.test_https import TOLD

pytestmark = pytest.mark.skipif(shutil.which("nginx") is None, reason="needs the Debian package nginx-light")
DOCUMENT = Path(__file__).parents[2] / "docs" / "front-door.md"
AROUND = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1000; }}
http {{
access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/temp; fastcgi_temp_path {folder}/temp;
uwsgi_temp_path {folder}/temp; scgi_temp_path {folder}/temp;
{documented}
}}
"""
SECONDS = 30


@pytest.fixture
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder, 0, **TOLD) as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


def documented(port: int, codehub: House, certificate: Certificate) -> str:
    """The document's own words, with this machine's names, ports and files in them."""
    found: str
    (found,) = re.findall(r"\nnginx:\n\n```\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    for theirs, ours in {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "127.0.0.1:8080": f"127.0.0.1:{codehub.address[1]}",
        "codehub.example.org": "codehub.test",
        "dev.example.org": "dev.test",
        "/etc/codehub/fullchain.pem": str(certificate.file),
        "/etc/codehub/privkey.pem": str(certificate.key),
    }.items():
        assert theirs in found
        found = found.replace(theirs, ours)
    return found


@contextmanager
def nginx(folder: Path, port: int, configuration: str) -> Iterator[None]:
    written = folder / "nginx.conf"
    written.write_text(AROUND.format(folder=folder, documented=configuration))
    process = subprocess.Popen([*DIES_WITH_US, "nginx", "-c", str(written), "-e", str(folder / "nginx.log")])
    try:
        deadline = time.monotonic() + SECONDS
        with socket.socket() as probe:
            while probe.connect_ex(("127.0.0.1", port)) != 0:
                assert process.poll() is None, (folder / "nginx.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)


async def test_from_login_into_a_workspace_and_its_websocket(
    codehub: House, tmp_path: Path, unused_tcp_port: int
) -> None:
    certificate = make_certificate(tmp_path / "certificate", "codehub.test", "*.dev.test")
    ada = await codehub.person()
    garden = await ada.workspace("garden")
    with nginx(tmp_path, unused_tcp_port, documented(unused_tcp_port, codehub, certificate)):
        trusting = ssl.create_default_context(cafile=str(certificate.file))
        browser = replace(codehub.browser(), address=("127.0.0.1", unused_tcp_port), tls=trusting)
        await ada.log_in(browser)
        origin = browser.origin(garden)
        opened = await browser.open(f"{origin}/a%2Fb//c?d=%20")
        assert opened.status_code == 200
        told = opened.json()
        assert told["path"] == "/a%2Fb//c?d=%20"
        headers = dict(told["headers"])
        assert headers["X-Forwarded-For"] == "127.0.0.1"
        assert headers["X-Forwarded-Proto"] == "https"
        assert headers["Host"] == f"{garden.hex}.dev.test"
        assert all(name.startswith("__Host-codehub") for host in browser.jar.values() for name in host)
        async with browser.websocket(origin) as socket_through:
            await socket_through.told()
            await socket_through.say(b"hello")
            assert await socket_through.hear() == b"hello"
        async with browser.websocket(origin, origin="https://evil.test") as refused:
            assert refused.status == 403
