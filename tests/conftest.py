"""Real services for the tests: each started at its first use, once per worker, in a folder that goes with it."""

import asyncio
import inspect
import os
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog
import uvloop

from codehub.stack import binaries
from codehub.stack.account import Account, service_account
from codehub.stack.postgres import Postgres
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports
from codehub.stack.service import Service, ended, launch
from codehub.stack.valkey import Valkey
from tests.databases import create_database, drop_database, execute, with_database
from tests.folders import remove_seaweedfs_sockets, short_folder
from tests.old_redis import old_redis

# The pretty form of a traceback, with every local variable, takes seconds in which no lease is renewed.
plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])

# What tests start as commands runs no containers and builds no IDEs, unless a test says so itself.
os.environ.update({"RUNTIME": "local", "RUNTIME_PREPARE": "false"})

START_SECONDS = 60.0
MIGRATED = "migrated"


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop that codehub is run on: it differs from asyncio's own in what it lets a subprocess be told."""
    return {"uvloop": uvloop.new_event_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that may take long begin first, so that none of them is what one worker does alone in the end."""
    marks = [(item, item.get_closest_marker("timeout")) for item in items]
    seconds = {item: mark.args[0] if mark is not None else 0 for item, mark in marks}
    items.sort(key=lambda item: seconds[item], reverse=True)


@pytest.fixture(scope="session")
def account() -> Account:
    return service_account()


@pytest.fixture(scope="session")
def services_folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_url(services_folder: Path, account: Account) -> Iterator[str]:
    """A superuser's URL of the maintenance database; tests make databases of their own beside it."""
    service = Postgres(
        folder=services_folder / "postgres",
        sockets=services_folder / "postgres-sockets",
        programs=binaries.reachable(binaries.postgres(), account, services_folder / "bin"),
        account=account,
        password=uuid.uuid4().hex,
        log=services_folder / "postgres.log",
        durable=False,
    )
    with running(service):
        yield service.url("postgres")


@pytest.fixture(scope="session")
def migrated_template(postgres_url: str) -> str:
    """The name of a database that the migrations made; nothing ever connects to it again."""

    from codehub.store import migrate  # brings Alembic, which tests without a database should not wait for

    async def make() -> None:
        await execute(postgres_url, f"CREATE DATABASE {MIGRATED}")
        await migrate.upgrade(with_database(postgres_url, MIGRATED))

    asyncio.run(make())
    return MIGRATED


@pytest.fixture
async def database_url(postgres_url: str, migrated_template: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url, migrated_template)
    yield url
    await drop_database(postgres_url, url)


@pytest.fixture
async def empty_database_url(postgres_url: str) -> AsyncIterator[str]:
    url = await create_database(postgres_url)
    yield url
    await drop_database(postgres_url, url)


@pytest.fixture(scope="session")
def redis_url(services_folder: Path, account: Account) -> Iterator[str]:
    service = Valkey(
        folder=services_folder / "valkey",
        sockets=services_folder / "valkey-sockets",
        programs=binaries.reachable(binaries.valkey(), account, services_folder / "bin"),
        account=account,
        password=uuid.uuid4().hex,
        log=services_folder / "valkey.log",
    )
    with running(service):
        yield service.url


@pytest.fixture(scope="session")
def old_redis_url() -> Iterator[str]:
    with old_redis() as url:
        yield url


@pytest.fixture(scope="session")
def s3_server(services_folder: Path, account: Account) -> Iterator[SeaweedFS]:
    """A real S3 server; `access` says how to open it. Slow to start: ask only where it is needed."""
    service = SeaweedFS(
        folder=services_folder / "seaweedfs",
        sockets=services_folder / "seaweedfs-sockets",
        programs=binaries.reachable(binaries.seaweedfs(), account, services_folder / "bin"),
        account=account,
        access_key=uuid.uuid4().hex,
        secret_key=uuid.uuid4().hex,
        ports=remembered_ports(services_folder / "seaweedfs-ports.json"),
        log=services_folder / "seaweedfs.log",
    )
    with running(service, politely=False):  # a polite end takes 15 s
        yield service
    remove_seaweedfs_sockets(service.ports.values())


@pytest.fixture
def redis_prefix() -> Callable[[], str]:
    """Makes prefixes for Redis keys and channels that no other test uses."""
    return lambda: f"test-{uuid.uuid4().hex}"


@contextmanager
def running(service: Service, *, politely: bool = True) -> Iterator[None]:
    """The service, ready, for as long as the block lasts. It dies with this process whatever happens."""
    service.prepare()
    process = launch(service)
    loop = asyncio.new_event_loop()  # a private one: the test's own loop must not see what happens here
    try:
        loop.run_until_complete(asyncio.wait_for(_until_ready(service, process.poll), START_SECONDS))
        yield
    finally:
        process.send_signal(service.stop_signal if politely else service.death_signal)
        loop.run_until_complete(ended(process))
        loop.close()


async def _until_ready(service: Service, exit_code: Callable[[], int | None]) -> None:
    while not (await service.check()).ok:
        if exit_code() is not None:
            pytest.fail(f"{service.name} ended at once: {service.log.read_text()[-2000:]}")
        await asyncio.sleep(0.02)


@pytest.fixture(autouse=True)
def leaks_fail_the_test(request: pytest.FixtureRequest) -> None:
    """Watch every asynchronous test. Asked for first, the watch ends last, after the test's own fixtures."""
    if inspect.iscoroutinefunction(getattr(request.node, "function", None)):
        request.getfixturevalue("no_leaked_tasks")


@pytest.fixture
async def no_leaked_tasks() -> AsyncIterator[None]:
    """Every task has an owner: one that is still there when the test is over fails it."""
    yield
    await asyncio.sleep(0)  # tasks that were cancelled or have just finished end in this turn of the loop
    leaked = asyncio.all_tasks() - {asyncio.current_task()}
    assert not leaked, f"tasks left behind: {leaked}"
