"""The web application: what answers on codehub's own origin."""

import asyncio
from asyncio import TaskGroup
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

from fastapi import FastAPI
from starlette.middleware import Middleware
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from codehub.archives.object_store import ObjectStore
from codehub.coordinators.role import CoordinatorRole
from codehub.settings import Settings
from codehub.settings.groups import CodehubConfig
from codehub.telemetry.health import ArchiveStoreCheck, check_database, check_database_disk, check_redis
from codehub.telemetry.readings import CoordinatorReadings, DatabaseReadings
from codehub.web import health, metrics, problems
from codehub.web.api import routes as api
from codehub.web.application import Application
from codehub.web.body_limit import BodyLimit
from codehub.web.drain import Drain
from codehub.web.front_door import BehindFrontDoor
from codehub.web.hosts import KnownHosts
from codehub.web.inside.app import create_inside, open_inside
from codehub.web.leading import Leading
from codehub.web.pages import (
    account,
    actions,
    admin,
    choices,
    cli_login,
    create,
    dashboard,
    deleting,
    exits,
    fragments,
    in_place,
    login,
    opening,
    palette,
    reading,
    status,
    workspace,
    workspace_archives,
    workspace_holds,
    workspace_logs,
)
from codehub.web.pages.problem import problem_page
from codehub.web.parts import opened
from codehub.web.process import Process
from codehub.web.short_way import ShortWay
from codehub.web.static_files import OurFiles

# With parts that codehub can do without for a while: waiting longer would make whoever asks give up on all of it.
PATIENCE_SECONDS = 1.0

PAGES = (
    *(dashboard, fragments, palette, actions, create, deleting, exits, account, reading),
    *(workspace, workspace_archives, workspace_holds, workspace_logs),
    *(login, cli_login, opening, choices, in_place),
)


@dataclass(frozen=True)
class Dependencies:
    """The services that the application stands on. It starts and answers whether or not they do."""

    database_url: str
    redis_url: str
    archive_store: ObjectStore


def create_app(
    settings: Settings,
    dependencies: Dependencies,
    coordinators: CoordinatorRole | None = None,
    process: Process | None = None,
) -> FastAPI:
    """The application of this process; with the role `coordinators` it runs those beside the answers."""
    process = process or Process()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            opened(settings, dependencies.database_url, dependencies.redis_url, dependencies.archive_store) as parts,
            TaskGroup() as tasks,
        ):
            app.state.parts, app.state.callers = parts, parts.callers
            open_inside(app.state.inside, parts)
            process.metrics.registry.register(DatabaseReadings(partial(metrics.pool_use, parts)))
            if coordinators is not None:
                tasks.create_task(_run_until(process.drain, coordinators), name="coordinators")
            try:
                yield
            finally:
                process.drain.begin()

    readiness = health.Readiness(
        (
            partial(check_database, dependencies.database_url),
            partial(check_database_disk, dependencies.database_url, seconds=PATIENCE_SECONDS),
            partial(check_redis, dependencies.redis_url, seconds=PATIENCE_SECONDS),
            ArchiveStoreCheck(dependencies.archive_store, seconds=PATIENCE_SECONDS),
        ),
        process.siblings,
    )
    app = Application(
        process,
        title="codehub",
        version=version("codehub-server"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the stock pages load scripts from elsewhere, which our content security policy forbids
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # ours is around all of it, and costs less
        generate_unique_id_function=lambda route: route.name,  # what a generated client calls its methods
        middleware=list(_guards(settings.codehub)),
        lifespan=lifespan,
    )
    app.state.inside = create_inside(process)
    app.state.leading = Leading(process.siblings, coordinators.reports if coordinators is not None else {})
    problems.install(app, problem_page)
    api.install(app)
    app.include_router(health.routes(readiness))
    app.include_router(metrics.routes(process.metrics.registry, process.siblings, settings.metrics.token))
    app.include_router(status.routes(readiness))
    app.include_router(admin.routes(readiness))
    for page in PAGES:
        app.include_router(page.router)
    if coordinators is not None:
        process.metrics.registry.register(CoordinatorReadings(lambda: coordinators.reports))
        app.include_router(health.coordinator_routes(coordinators))
    app.mount("/static", OurFiles(), name="static")
    return app


def _guards(config: CodehubConfig) -> Iterator[Middleware]:
    """What stands before all routes: how much may come, whom a proxy speaks for, and which names are ours; and behind
    those, the short way to one of them."""
    yield Middleware(BodyLimit)
    if config.trusted_proxies:
        yield Middleware(ProxyHeadersMiddleware, trusted_hosts=config.trusted_proxies)
    yield Middleware(BehindFrontDoor)
    if config.public_url is not None:
        yield Middleware(KnownHosts, public_url=config.public_url)
    yield Middleware(ShortWay)


async def _run_until(drain: Drain, coordinators: CoordinatorRole) -> None:
    """Leadership is handed on as soon as this process begins to end, while it still answers."""
    running = asyncio.ensure_future(coordinators.run())
    try:
        await drain.begun()
    finally:
        running.cancel()
        await asyncio.wait([running])
