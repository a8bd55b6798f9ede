"""Live events behind nginx with TLS, as it comes: nothing is held back, over HTTP/1.1 and HTTP/2."""

import asyncio
import os
import shutil
import subprocess
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI

from codehub.bus.connect import connect
from codehub.bus.page_events import PageEvents
from codehub.settings import Settings
from tests.decide.shown import IDLE_POLICY
from tests.web.api.people import People
from tests.web.api.served import served

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
PATIENCE_SECONDS = 20.0

pytestmark = pytest.mark.skipif(NGINX is None or shutil.which("curl") is None, reason="needs nginx and curl")

_CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl http2;
        ssl_certificate {folder}/certificate;
        ssl_certificate_key {folder}/key;
        location / {{
            proxy_pass {upstream};
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
        }}
    }}
}}
"""
_CERTIFICATE = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -keyout key -out certificate"


@pytest.fixture
def prefix(redis_prefix: Callable[[], str]) -> str:
    return redis_prefix()


@pytest.fixture
def settings(tmp_path: Path, prefix: str) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "REDIS_CHANNEL_SSE_PREFIX": prefix}, tmp_path)


@asynccontextmanager
async def nginx(upstream: str, folder: Path, port: int) -> AsyncIterator[str]:
    (folder / "nginx.conf").write_text(_CONFIGURATION.format(folder=folder, port=port, upstream=upstream))
    process = await asyncio.create_subprocess_exec(
        *("setpriv", "--pdeathsig=KILL", "--", str(NGINX), "-e", "stderr", "-p", str(folder)),
        *("-c", str(folder / "nginx.conf")),
    )
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await _answers(port):
                await asyncio.sleep(0.05)
        yield f"https://127.0.0.1:{port}"
    finally:
        await _ended(process)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """For nginx, with a certificate."""
    made = tmp_path / "nginx"
    made.mkdir()
    subprocess.run(_CERTIFICATE.split(), cwd=made, check=True, capture_output=True)
    return made


@pytest.fixture
async def address(app: FastAPI, folder: Path, unused_tcp_port: int) -> AsyncIterator[str]:
    async with served(app) as upstream, nginx(upstream, folder, unused_tcp_port) as address:
        yield address


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionRefusedError:
        return False
    writer.close()
    return True


async def _ended(process: Process) -> None:
    if process.returncode is None:
        process.terminate()
    await process.wait()


async def _until(process: Process, words: str) -> None:
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (line := await process.stdout.readline()) and words not in line.decode():
            pass
    assert line, f"the stream ended before {words}"


@pytest.mark.parametrize(("option", "version"), [("--http1.1", "HTTP/1.1 200"), ("--http2", "HTTP/2 200")])
async def test_events_pass_a_proxy_as_they_happen(
    address: str, people: People, redis_url: str, prefix: str, option: str, version: str
) -> None:
    user = await people.user()
    bearer = f"Authorization: Bearer {(await people.token(user)).value}"
    redis = connect(redis_url)
    pages = PageEvents(redis, prefix, IDLE_POLICY)
    reader = await asyncio.create_subprocess_exec(
        *("curl", option, "--insecure", "--silent", "--no-buffer", "--include", "--noproxy", "*"),
        *("--header", bearer, f"{address}/api/v1/events"),
        stdout=PIPE,
    )
    try:
        await _until(reader, version)
        await _until(reader, "event: snapshot")
        for _ in range(3):
            workspace_id = uuid4()
            await pages.deleted(user.id, workspace_id)
            await _until(reader, str(workspace_id))
    finally:
        await _ended(reader)
        await redis.aclose()
