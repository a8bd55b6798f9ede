"""The web application: what answers on codehub's own origin."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from starlette.middleware import Middleware

from codehub.archives.object_store import ObjectStore
from codehub.coordinators.role import CoordinatorRole
from codehub.settings import Settings
from codehub.telemetry.health import check_archive_store, check_database, check_redis
from codehub.web import health, home, problems
from codehub.web.api import routes as api
from codehub.web.headers import SecurityHeaders
from codehub.web.parts import opened

# With parts that codehub can do without for a while: waiting longer would make whoever asks give up on all of it.
PATIENCE_SECONDS = 1.0

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Dependencies:
    """The services that the application stands on. It starts and answers whether or not they do."""

    database_url: str
    redis_url: str
    archive_store: ObjectStore


def create_app(settings: Settings, dependencies: Dependencies, coordinators: CoordinatorRole | None = None) -> FastAPI:
    """The application of this process; with the role `coordinators` it runs those beside the answers."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opened(settings, dependencies.database_url, dependencies.redis_url) as parts:
            app.state.parts, app.state.callers = parts, parts.callers
            if coordinators is None:
                yield
                return
            running = asyncio.create_task(coordinators.run(), name="coordinators")
            yield
            running.cancel()
            await asyncio.wait([running])

    readiness = health.Readiness(
        (
            partial(check_database, dependencies.database_url),
            partial(check_redis, dependencies.redis_url, seconds=PATIENCE_SECONDS),
            partial(check_archive_store, dependencies.archive_store, seconds=PATIENCE_SECONDS),
        )
    )
    app = FastAPI(
        title="codehub",
        version=version("codehub-server"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # the stock pages load scripts from elsewhere, which our content security policy forbids
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,  # what a generated client calls its methods
        middleware=[Middleware(SecurityHeaders)],
        lifespan=lifespan,
    )
    problems.install(app)
    app.include_router(health.routes(readiness))
    app.include_router(home.routes(readiness))
    api.install(app)
    if coordinators is not None:
        app.include_router(health.coordinator_routes(coordinators))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return app
