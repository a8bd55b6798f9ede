"""How long somebody waits who opens a workspace that sleeps, until the first byte of the IDE, beside the same container
made, started and probed by hand and asked once.

    python -m benchmarks.navigation --pairs 10

On Docker, through a whole `codehub serve`, the two in turn, with code-server and with a tiny server that is there at
once. The visitor does what the waking page does: opens the address, is sent the page and its script, wakes the
workspace, follows it, and opens the address again when it is told so. The image of code-server has to be there
(`codehub image build code-server`).
"""

import asyncio
import json
import secrets
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import aiodocker
import aiohttp
from benchmarks.jupyterhub import free_port
from benchmarks.replicas import HEALTH_PATH, Replicas, replicas
from benchmarks.stage import Figure, arguments, progress, run, wish
from benchmarks.standby_start import LAST_OCTETS, network_of, started_by_hand, until_healthy
from tests.front_door.browser import PERSON, SCRIPT, Browser
from tests.runtimes.docker.tool_image import HOST, PORT

from codehub.decide.origins import Origins
from codehub.images.dockerfile import Recipe
from codehub.images.engine import find_image
from codehub.images.tools import CODE_SERVER
from codehub.runtimes.protocols import InstanceSpec, VolumeSpec
from codehub.store.callers import hashed

TIMES_BY_HAND = 1.15
LONGEST_SECONDS = 60
SEEN_SECONDS = 1.0
"""Until the front door has seen that it sleeps: whoever comes before that waits for a container that is gone."""
OFFER = """
    INSERT INTO templates (id, name, image_ref, status, port, health_path) VALUES ($1, 'ide', $2, 'ready', $3, $4)
"""
SESSION = """
    INSERT INTO sessions (id, user_id, secret_hash, address, expires_at)
    VALUES ($1, $2, $3, '127.0.0.1', now() + interval '1 hour')
"""


@dataclass(frozen=True)
class Ide:
    called: str
    image: str
    health_path: str
    page: str
    """What a person opens first."""


@dataclass(frozen=True)
class Visitor:
    """A browser that has opened the workspace before. It keeps its connections, as browsers do."""

    session: aiohttp.ClientSession
    there: str
    said: dict[str, str]

    async def first_byte(self, page: str) -> float:
        """Milliseconds from the navigation to the beginning of the IDE's answer."""
        began = time.perf_counter()
        async with asyncio.timeout(LONGEST_SECONDS):
            while not await self._opens(page):
                await self._wakes()
        return (time.perf_counter() - began) * 1000

    async def _opens(self, page: str) -> bool:
        async with self._asks("GET", page, PERSON) as answer:
            if answer.status < 400:
                return True
            await answer.read()
        return False

    async def _wakes(self) -> None:
        async with self._asks("GET", "/.codehub/static/waking.js", SCRIPT) as answer:
            await answer.read()
        following = asyncio.ensure_future(self._follows())
        async with self._asks("POST", "/.codehub/wake", SCRIPT | {"Origin": f"http://{self.said['Host']}"}) as answer:
            if answer.status != 202:
                sys.exit(f"not woken: {answer.status} {await answer.text()}")
        await following

    async def _follows(self) -> None:
        """Until it runs."""
        async with self._asks("GET", "/.codehub/events", SCRIPT) as answer:
            async for line in answer.content:
                if line.startswith(b"data: ") and json.loads(line.removeprefix(b"data: "))["is_ready"]:
                    return

    def _asks(self, method: str, path: str, headers: dict[str, str]) -> Any:  # noqa: ANN401 (aiohttp's own)
        return self.session.request(method, f"{self.there}{path}", headers=self.said | headers, allow_redirects=False)


async def benchmark(pairs: int) -> Sequence[Figure]:
    port = free_port()
    async with (
        replicas(1, ("--listen", f"127.0.0.1:{port}")) as installation,
        aiodocker.Docker(url=HOST) as docker,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
    ):
        tag = Recipe(CODE_SERVER).tag
        if await find_image(docker, tag) is None:
            sys.exit("The image of code-server is missing: codehub image build code-server")
        small = Ide("a tiny server", installation.image, HEALTH_PATH, HEALTH_PATH)
        large = Ide("code-server", tag, CODE_SERVER.health_path, "/")
        template = uuid4()
        await installation.person.execute(OFFER, template, tag, PORT, large.health_path)
        figures: list[Figure] = []
        for ide, template_id in ((small, installation.template), (large, template)):
            installation.template = template_id
            figures += await compared(installation, docker, session, (ide, port, pairs))
        return figures


async def compared(
    installation: Replicas, docker: aiodocker.Docker, session: aiohttp.ClientSession, task: tuple[Ide, int, int]
) -> Sequence[Figure]:
    ide, port, pairs = task
    through, by_hand = [], []
    workspace_id = await installation.create("RUNNING")
    await installation.until_phase(workspace_id, "RUNNING")
    visitor = await somebody(installation, session, port, workspace_id)
    network, subnet = await network_of(installation, docker)
    volume = f"by-hand-{uuid4().hex[:8]}"
    await installation.runtime.volumes.create(VolumeSpec(volume, uuid4(), uuid4(), 1))
    for number in range(pairs + 1):
        await wish(installation.person, workspace_id, "STANDBY")
        await installation.until_phase(workspace_id, "STANDBY")
        await asyncio.sleep(SEEN_SECONDS)
        through.append(await visitor.first_byte(ide.page))
        spec = InstanceSpec(
            f"{volume}-{uuid4().hex[:8]}", uuid4(), uuid4(), 1, volume, ide.image, PORT, ide.health_path
        )
        address = f"{subnet}.{LAST_OCTETS - number % 100}"
        began = time.perf_counter()
        async with started_by_hand(installation, docker, spec, network, address):
            await until_healthy(session, spec, address)
            async with session.get(f"http://{address}:{PORT}{ide.page}", allow_redirects=False):
                by_hand.append((time.perf_counter() - began) * 1000)
        progress(f"{ide.called}, {number} of {pairs}: {through[-1]:.0f} ms by a visit, {by_hand[-1]:.0f} ms by hand")
    del through[0], by_hand[0]  # a home that is new is filled, and all is warm afterwards
    await wish(installation.person, workspace_id, "STANDBY")
    await installation.until_phase(workspace_id, "STANDBY")
    visited, made = statistics.median(through), statistics.median(by_hand)
    target = TIMES_BY_HAND if ide.image != installation.image else None
    return [
        Figure(f"{ide.called}: by hand, median", made, "ms"),
        Figure(f"{ide.called}: from the navigation, median", visited, "ms"),
        Figure(f"{ide.called}: ratio of the medians", visited / made, "", at_most=target),
    ]


async def somebody(installation: Replicas, session: aiohttp.ClientSession, port: int, workspace_id: UUID) -> Visitor:
    """Logged in, and let into the workspace once."""
    secret = secrets.token_urlsafe(32)
    await installation.person.execute(SESSION, uuid4(), installation.owner, hashed(secret))
    there = f"http://127.0.0.1:{port}"
    browser = Browser(("127.0.0.1", port), Origins(there, "localhost", None))
    browser.jar["127.0.0.1"] = {"codehub": (secret, "/")}
    origin = browser.origin(workspace_id)
    await browser.open(origin)
    said = {"Host": origin.removeprefix("http://"), "Cookie": browser.cookies(origin)}
    return Visitor(session, there, said)


if __name__ == "__main__":
    run(benchmark(arguments(__doc__, pairs=10).pairs))
