"""What a campaign stands on: services of its own that are started again whenever they die, ways to them on which there
can be trouble, and a whole `codehub serve` at their end."""

import asyncio
import json
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from codehub.archives.object_store import ObjectStore
from codehub.archives.open import ensure_bucket, open_store
from codehub.stack import binaries
from codehub.stack.account import Account, current_account, service_account
from codehub.stack.data_folder import DataFolder
from codehub.stack.parts import Kept, State
from codehub.stack.postgres import DATABASE, ROLE, Postgres
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports
from codehub.stack.service import Service
from codehub.stack.valkey import Valkey
from codehub.store import migrate
from codehub.telemetry.health import Check, Unfit, examine
from tests.chaos.disk import Disk, disk
from tests.chaos.relay import TroubledWay, way
from tests.coordinators.house import until
from tests.faults.gate import to_engine, to_port
from tests.faults.serving import QUICK
from tests.folders import remove_seaweedfs_sockets, short_folder
from tests.runtimes.docker.job_image import job_image
from tests.stack.installation import COMMAND

BUCKET = "chaos"
DISKS = ("postgres", "seaweedfs")
"""Services with one of their own, where one can be made."""
START_SECONDS = 120
OPERATION_SECONDS = 120
BACKOFF_SECONDS = 2
SETTINGS = QUICK | {
    "CODEHUB_REPLICAS": "2",
    "PROXY_PROCESSES": "2",
    "RECONCILER_RETRY_BACKOFF": str(BACKOFF_SECONDS),
    "COORDINATOR_GC_INTERVAL": "10",
    "ARCHIVE_GC_GRACE_SECONDS": "30",  # the volume of a restore that was given up is gone before all is looked at
    "ARCHIVE_GC_MAX_SHARE": "1",  # who is there to be asked?
    "TTL_STANDBY_SECONDS": "86400",  # nobody sleeps who was not asked to
    "LIMITS_MAX_RUNNING_PER_USER": "20",
    **{
        f"RECONCILER_{operation}_TIMEOUT": str(OPERATION_SECONDS)
        for operation in ("STARTING", "STOPPING", "ARCHIVING", "RESTORING", "PROVISIONING", "DELETING")
    },
}


@dataclass(frozen=True)
class Codehub:
    """`codehub serve`, which keeps its replicas and front doors alive itself."""

    folder: Path
    account: Account
    listener: socket.socket
    settings: Mapping[str, str] = field(repr=False)
    log: Path

    name = "codehub"
    stop_signal = signal.SIGTERM
    stop_seconds = 60.0
    death_signal = signal.SIGKILL

    @property
    def inherited(self) -> Sequence[int]:
        return (self.listener.fileno(),)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def prepare(self) -> None:
        DataFolder(self.folder, self.account).prepare()

    def argv(self) -> Sequence[str]:
        return [COMMAND, "serve", "--fd", str(self.listener.fileno())]

    def environment(self) -> Mapping[str, str]:
        return self.settings

    async def check(self) -> Check:
        return await examine(self.name, self._ask())

    async def _ask(self) -> str:
        async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
            answer = await client.get(f"{self.url}/healthz")
        if answer.status_code != 200:
            raise Unfit(f"answered {answer.status_code}")
        return "answers"


@dataclass
class Ground:
    folder: Path
    codehub: Codehub
    database_url: str
    redis_url: str
    """Both past the trouble, for those who look."""
    store: ObjectStore
    services: Mapping[str, Service]
    kept: dict[str, Kept]
    """Who starts them again, and codehub itself."""
    ways: dict[str, TroubledWay]
    disks: Mapping[str, Disk]
    hurry: asyncio.Event

    async def stop_codehub(self) -> None:
        """For good, so that nobody makes anew what is removed from the engine."""
        self.hurry.set()
        await self.kept["codehub"].stop()

    def pid(self, name: str) -> int | None:
        """Of a service or of one of codehub's processes, where it lives at the moment."""
        if name in self.kept:
            return self.kept[name].status.pid
        return next((part["pid"] for part in self._processes() if part["name"] == name), None)

    def _processes(self) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = json.loads((self.codehub.folder / "state.json").read_text())["parts"]
        except FileNotFoundError:  # it is being started
            return []
        return found

    async def until_ready(self) -> None:
        """Everything is up, whatever happened to it."""

        async def ready() -> bool | None:
            kept = all(part.status.state is State.READY for part in self.kept.values())
            return (kept and all(part["state"] == "ready" for part in self._processes())) or None

        try:
            await until(ready, START_SECONDS)
        except TimeoutError:
            states = {name: part.status for name, part in self.kept.items()}
            raise AssertionError(f"{states} {self._processes()} {self.codehub.log.read_text()[-2000:]}") from None


def _services(folder: Path) -> tuple[Postgres, Valkey, SeaweedFS]:
    account = service_account()

    def place(name: str) -> dict[str, Any]:
        programs = {"postgres": binaries.postgres, "valkey": binaries.valkey, "seaweedfs": binaries.seaweedfs}[name]()
        return {
            "folder": folder / name,
            "sockets": folder / f"{name}-sockets",
            "programs": binaries.reachable(programs, account, folder / "bin"),
            "account": account,
            "log": folder / f"{name}.log",
        }

    ports = remembered_ports(folder / "ports.json")
    return (
        Postgres(**place("postgres"), password=uuid4().hex),  # durable: what is acknowledged must survive a kill
        Valkey(**place("valkey"), password=uuid4().hex),
        SeaweedFS(**place("seaweedfs"), access_key=uuid4().hex, secret_key=uuid4().hex, ports=ports),
    )


@asynccontextmanager
async def ground(disks: Sequence[str] = (), **differing: str) -> AsyncIterator[Ground]:
    """Settings may differ. Nothing is left afterwards but what codehub has made on the engine."""
    await job_image()
    with short_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        postgres, valkey, seaweedfs = _services(folder)
        hurry = asyncio.Event()
        async with AsyncExitStack() as stack:
            made_disks = {name: stack.enter_context(disk(folder / name)) for name in disks}
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            kept = {each.name: _begun(each, tasks, hurry) for each in (postgres, valkey, seaweedfs)}
            stack.push_async_callback(_end, kept, hurry)
            async with asyncio.timeout(START_SECONDS):
                await asyncio.gather(*(part.started for part in kept.values()))
            await postgres.create_database()
            await migrate.upgrade(postgres.url())
            await ensure_bucket(f"s3://{BUCKET}", **seaweedfs.access)
            ways, settings = await _ways(stack, folder, postgres, valkey, seaweedfs)
            codehub = Codehub(
                folder / "data", current_account(), listener, settings | differing, folder / "codehub.log"
            )
            store = open_store(f"s3://{BUCKET}", **seaweedfs.access)
            services = {each.name: each for each in (postgres, valkey, seaweedfs)}
            made = Ground(folder, codehub, postgres.url(), valkey.url, store, services, kept, ways, made_disks, hurry)
            kept["codehub"] = _begun(codehub, tasks, hurry)
            await made.until_ready()
            yield made
        remove_seaweedfs_sockets(seaweedfs.ports.values())


def _begun(service: Service, tasks: asyncio.TaskGroup, hurry: asyncio.Event) -> Kept:
    told = {"is_stuck": service.is_stuck} if isinstance(service, SeaweedFS) else {}
    kept = Kept(service, lambda _before, _after: None, hurry=hurry, needed=False, **told)
    tasks.create_task(kept.run())
    return kept


async def _end(kept: Mapping[str, Kept], hurry: asyncio.Event) -> None:
    hurry.set()
    await asyncio.gather(*(part.stop() for part in kept.values()))


async def _ways(
    stack: AsyncExitStack, folder: Path, postgres: Postgres, valkey: Valkey, seaweedfs: SeaweedFS
) -> tuple[dict[str, TroubledWay], dict[str, str]]:
    """And how codehub is told to take them."""
    open_way = stack.enter_async_context
    database, database_port = await open_way(way(to_engine(postgres.sockets / ".s.PGSQL.5432")))
    redis, redis_port = await open_way(way(to_engine(valkey.socket)))
    store, store_port = await open_way(way(to_port(seaweedfs.ports["s3.port"])))
    engine, _ = await open_way(way(to_engine(), folder / "engine.sock"))
    settings = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(folder),
        "CODEHUB_DATA_DIR": str(folder / "data"),
        "CODEHUB_LOG_FORMAT": "json",
        "DATABASE_URL": f"postgresql://{ROLE}:{postgres.password}@127.0.0.1:{database_port}/{DATABASE}",
        "REDIS_URL": f"redis://:{valkey.password}@127.0.0.1:{redis_port}",
        "ARCHIVE_URL": f"s3://{BUCKET}/archives",
        **{f"ARCHIVE_{name.upper()}": value for name, value in seaweedfs.access.items()},
        "ARCHIVE_S3_ENDPOINT": f"http://127.0.0.1:{store_port}",
        "RUNTIME": "docker",
        "RUNTIME_DOCKER_HOST": f"unix://{folder / 'engine.sock'}",
        "RUNTIME_PREPARE": "false",
        **SETTINGS,
    }
    return {"postgres": database, "valkey": redis, "seaweedfs": store, "engine": engine}, settings
