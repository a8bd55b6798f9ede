"""A container that keeps itself awake: over the socket that it is shown, with the token of its start, and no more."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from codehub.images.templates import BUILT_IN
from codehub.images.tools import CODE_SERVER
from codehub.model.inside import FOLDER, SOCKET
from codehub.model.states import Desired, Phase
from tests.faults.real_house import DockerHouse
from tests.faults.serving import replicas
from tests.faults.test_life import require_vs_code

pytestmark = pytest.mark.timeout(300)
HELD = text("SELECT hold_reason FROM workspaces WHERE id = :id AND held_until > now()")

# The tests' image has no program that speaks over unix sockets: this one goes into the container's view of files, as
# its user, and asks from there.
ASK = """
import ctypes, json, os, socket, sys, encodings.idna
process, path, request = sys.argv[1:]
if ctypes.CDLL(None, use_errno=True).setns(os.open(f"/proc/{process}/ns/mnt", os.O_RDONLY), 0x20000) != 0:
    raise OSError(ctypes.get_errno(), "setns")
os.setgroups([])
os.setgid(1000)
os.setuid(1000)
asking = socket.socket(socket.AF_UNIX)
asking.settimeout(60)
asking.connect(path)
asking.sendall(request.encode())
said = b""
while piece := asking.recv(65536):
    said += piece
print(said.decode())
"""


async def ask(house: DockerHouse, workspace_id: UUID, token: str, method: str, path: str, body: Any = None) -> int:  # noqa: ANN401
    """The status of what is answered to the container."""
    container = house.docker.containers.container((await house.instance(workspace_id)).id)
    process = (await container.show())["State"]["Pid"]
    content = json.dumps(body) if body is not None else ""
    request = (
        f"{method} {path} HTTP/1.1\r\nHost: codehub\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n{content}"
    )
    command = [sys.executable, "-I", "-c", ASK, str(process), f"{FOLDER}/{SOCKET}", request]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, check=True)
    return int(done.stdout.split()[1])


async def reason_to_be_awake(house: DockerHouse, workspace_id: UUID) -> str | None:
    async with house.pool.connect() as connection:
        reason: str | None = await connection.scalar(HELD, {"id": workspace_id})
        return reason


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_a_container_holds_itself_with_the_token_of_its_start(
    house: DockerHouse, redis_url: str, tmp_path: Path
) -> None:
    with replicas(house, redis_url, tmp_path) as codehub:
        codehub.start()
        workspace_id, other_id = await house.create(), await house.create()
        for each in (workspace_id, other_id):
            await house.until_phase(each, Phase.RUNNING)
        earlier = await house.inside(workspace_id, "echo $CODEHUB_TOKEN")
        other = await house.inside(other_id, "echo $CODEHUB_TOKEN")
        holds = f"/api/v1/workspaces/{workspace_id}/holds"
        assert await ask(house, workspace_id, earlier, "POST", holds, {"reason": "build", "seconds": 600}) == 201
        assert await reason_to_be_awake(house, workspace_id) == "build"
        assert await ask(house, other_id, other, "GET", holds) == 401, "it is another one's"
        assert await ask(house, workspace_id, earlier, "GET", "/api/v1/me") == 404, "there is nothing else"
        for change in ("touch /codehub/new", "touch /codehub/socket", "touch /usr/local/bin/codehub"):
            assert await house.inside(workspace_id, f"{change} 2>/dev/null || echo refused") == "refused"

        await house.wish(workspace_id, Desired.STANDBY)
        await house.until_phase(workspace_id, Phase.STANDBY)
        await house.wish(workspace_id, Desired.RUNNING)
        await house.until_phase(workspace_id, Phase.RUNNING)
        assert await ask(house, workspace_id, earlier, "GET", holds) == 401, "it was started anew"
        present = await house.inside(workspace_id, "echo $CODEHUB_TOKEN")
        assert await ask(house, workspace_id, present, "GET", holds) == 200


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
async def test_a_container_outlives_the_codehub_that_listened_to_it(
    house: DockerHouse, redis_url: str, tmp_path: Path
) -> None:
    with replicas(house, redis_url, tmp_path) as codehub:
        first = codehub.start()
        workspace_id = await house.create()
        await house.until_phase(workspace_id, Phase.RUNNING)
        token = await house.inside(workspace_id, "echo $CODEHUB_TOKEN")
        first.kill()
        await codehub.start().until_ready()
        assert await ask(house, workspace_id, token, "GET", f"/api/v1/workspaces/{workspace_id}/holds") == 200


async def test_vs_code_offers_the_command(house: DockerHouse, redis_url: str, tmp_path: Path) -> None:
    await require_vs_code(house.docker)
    house.template = BUILT_IN[CODE_SERVER.name].id
    with replicas(house, redis_url, tmp_path) as codehub:
        codehub.start()
        await house.until_offered()
        workspace_id = await house.create()
        await house.until_phase(workspace_id, Phase.RUNNING)
        said = await house.inside(workspace_id, "bash -lc 'codehub hold --reason build -- codehub holds'")
        assert said.endswith("build")
        assert await reason_to_be_awake(house, workspace_id) is None
        await house.wish(workspace_id, Desired.DELETED)  # with its home, which has a file system of its own
        await house.until_phase(workspace_id, Phase.DELETED)
