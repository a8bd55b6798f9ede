"""Real `codehub serve` processes: as many replicas as a test wants, each of which can be killed."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.coordinators.house import House, until
from tests.runtimes.docker.tool_image import HOST
from tests.stack.installation import COMMAND

DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
QUICK = {
    "COORDINATOR_IDLE_INTERVAL": "1",
    "COORDINATOR_ACTIVE_INTERVAL": "0.2",
    "COORDINATOR_INITIAL_DELAY_MAX": "0",
    "COORDINATOR_RETRY_INTERVAL": "0.2",
    "COORDINATOR_LEASE_SECONDS": "2",
    "RECONCILER_RETRY_BACKOFF": "0.2",
}


@dataclass(frozen=True)
class Served:
    """One process; its name is what the holder of a lock is called."""

    name: str
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def said(self) -> list[dict[str, Any]]:
        """Its log so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    async def until_ready(self) -> None:
        """Its coordinators are up: they lead, or wait for their turn."""

        async def up() -> bool | None:
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            return any(line["event"] == "coordinators ready" for line in self.said()) or None

        await until(up, 60)

    async def health(self) -> dict[str, Any]:
        async with httpx.AsyncClient() as client:
            found: dict[str, Any] = (await client.get(f"{self.url}/health/coordinator", timeout=10)).json()
        return found


@dataclass
class Replicas:
    house: House
    folder: Path
    environment: dict[str, str]
    within: Sequence[str] = ()
    """A command that starts another one somewhere else, such as in a network namespace."""
    served: list[Served] = field(default_factory=list)

    def start(self, **environment: str) -> Served:
        name = f"replica-{len(self.served)}"
        log = self.folder / f"{name}.log"
        with socket.create_server(("127.0.0.1", 0)) as listener, log.open("wb") as output:
            process = subprocess.Popen(
                [
                    *DIES_WITH_US,
                    *self.within,
                    COMMAND,
                    "serve",
                    "--roles",
                    "api,coordinators",
                    "--fd",
                    str(listener.fileno()),
                ],
                env=self.environment | {"COORDINATOR_NODE_ID": name} | environment,
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.served.append(Served(name, process, url, log))
        return self.served[-1]

    def alive(self) -> list[Served]:
        return [each for each in self.served if each.process.poll() is None]


@contextmanager
def replicas(house: House, redis_url: str, folder: Path, **environment: str) -> Iterator[Replicas]:
    """A place to start them in. None of them outlives the block."""
    data = folder / "data"
    data.mkdir()
    base = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(folder),
        "DATABASE_URL": house.database_url,
        "REDIS_URL": redis_url,
        "REDIS_CHANNEL_WAKE_PREFIX": f"{house.prefix}:wake",
        "REDIS_CHANNEL_SSE_PREFIX": f"{house.prefix}:sse",
        "REDIS_CHANNEL_ACTIVITY_PREFIX": f"{house.prefix}:activity",
        "CODEHUB_DATA_DIR": str(data),
        "CODEHUB_LOG_FORMAT": "json",
        "RUNTIME": "docker",
        "RUNTIME_DOCKER_HOST": HOST,
        "RUNTIME_PREPARE": "false",
    }
    made = Replicas(house, folder, base | QUICK | environment)
    try:
        yield made
    finally:
        for each in made.served:
            each.kill()
