"""JupyterHub beside us: its hub alone, in an environment of its own, asked for a user over its API."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

TOKEN = "only-for-the-benchmark"  # noqa: S105
USER = "ada"
PATH = f"/hub/api/users/{USER}"
START_SECONDS = 60

# The proxy that people reach is another program, which has no part in an answer of the hub's own API.
CONFIGURATION = """
from jupyterhub.proxy import Proxy

class NoProxy(Proxy):
    should_start = False
    async def add_route(self, routespec, target, data): pass
    async def delete_route(self, routespec): pass
    async def get_all_routes(self): return {{}}

c.JupyterHub.proxy_class = NoProxy
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {{"{user}"}}
c.JupyterHub.services = [{{"name": "benchmark", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "benchmark", "scopes": ["admin:users"], "services": ["benchmark"]}}]
c.JupyterHub.log_level = "WARN"
"""


@dataclass(frozen=True)
class Hub:
    port: int
    pid: int


async def installed(folder: Path) -> Path:
    """Its interpreter; installed from PyPI the first time, which takes a minute."""
    python = folder / "bin" / "python"
    if not python.exists():
        await _run(sys.executable, "-m", "venv", str(folder))
        await _run(str(python), "-m", "pip", "install", "--quiet", "jupyterhub")
    return python


async def _run(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command)
    if await process.wait() != 0:
        sys.exit(f"failed: {' '.join(command)}")


@asynccontextmanager
async def hub(environment: Path, folder: Path) -> AsyncIterator[Hub]:
    """While it runs."""
    python, port = await installed(environment), free_port()
    configuration = folder / "jupyterhub_config.py"
    configuration.write_text(CONFIGURATION.format(port=port, user=USER, token=TOKEN))
    process = await asyncio.create_subprocess_exec(
        str(python), "-m", "jupyterhub", "-f", str(configuration), cwd=folder
    )
    try:
        async with asyncio.timeout(START_SECONDS), httpx.AsyncClient() as client:
            while not await _answers(client, port):
                await asyncio.sleep(0.1)
        yield Hub(port, process.pid)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def _answers(client: httpx.AsyncClient, port: int) -> bool:
    try:
        answer = await client.get(f"http://127.0.0.1:{port}{PATH}", headers={"Authorization": f"token {TOKEN}"})
    except httpx.TransportError:
        return False
    return answer.status_code == 200
