"""Keeps the built-in templates true: says which IDE is there, and makes the one that is not, once for all replicas; the
image of jobs, too."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import structlog
from aiodocker import Docker
from sqlalchemy.ext.asyncio import AsyncEngine

from codehub import clock
from codehub.coordinators.leadership import Leadership
from codehub.coordinators.supervisor import Report
from codehub.errors import CodehubError
from codehub.images.dockerfile import Recipe
from codehub.images.engine import open_engine
from codehub.images.host_access import find_host_access
from codehub.images.image import ensure_image
from codehub.images.job_image import NAME as JOB
from codehub.images.job_image import JobRecipe
from codehub.images.local_ide import install
from codehub.images.packages import SANDBOX, require
from codehub.images.progress import Progress
from codehub.images.templates import Availability, ensure_templates, on_engine, on_this_machine
from codehub.images.tools import TOOLS, Tool
from codehub.model.states import ImageState
from codehub.settings import Settings

log = structlog.get_logger()

LOOK_AGAIN_SECONDS = 60.0
TRY_AGAIN_SECONDS = 3600.0
"""After an IDE could not be made: what is missing takes a person, and trying costs minutes of compiling."""


@dataclass
class TemplateKeeper:
    settings: Settings
    pool: AsyncEngine
    on_docker: bool
    wake_controller: Callable[[], Awaitable[None]]
    elapsed: Callable[[], float] = clock.elapsed
    name: str = "templates"
    lock_name: str = "coordinator:templates"
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict)
    """When the making of an IDE, or of the image of jobs, failed last, and why."""

    async def run(self, leadership: Leadership, report: Report) -> None:
        if not self.on_docker and self.settings.runtime.prepare:
            await self._have_sandboxes()
        while True:
            await leadership.verify()
            if self.on_docker and self.settings.runtime.prepare and self.settings.runtime.job_image is None:
                await self._have_job_image()
            for tool in TOOLS.values():
                await self._keep(tool)
            report.passed()
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _keep(self, tool: Tool) -> None:
        found = await self._look(tool)
        if found.state is ImageState.BUILDING and not self.settings.runtime.prepare:
            found = Availability(
                found.image, ImageState.FAILED, f"It is not there. Run: codehub image build {tool.name}"
            )
        elif found.state is ImageState.BUILDING and (why := self._recent_failure(tool.name)):
            found = Availability(found.image, ImageState.FAILED, why)
        await self._say(tool, found)
        if found.state is not ImageState.BUILDING:
            return
        log.info("making an IDE", ide=tool.name)
        try:
            await self._make(tool)
        except (CodehubError, OSError) as error:
            log.warning("an IDE could not be made", ide=tool.name, error=str(error))
            self._failed[tool.name] = self.elapsed(), str(error)
            await self._say(tool, Availability(found.image, ImageState.FAILED, str(error)))
        else:
            await self._say(tool, await self._look(tool))

    async def _have_sandboxes(self) -> None:
        try:
            await require(SANDBOX, "Running workspaces without an engine", lambda _: None)
        except (CodehubError, OSError) as error:
            log.warning("workspaces lack something on this machine; see codehub doctor", error=str(error))

    async def _have_job_image(self) -> None:
        """Before the IDEs: it takes seconds, and without it no home can be archived or restored."""
        if self._recent_failure(JOB):
            return
        try:
            async with self._engine() as docker:
                await ensure_image(docker, JobRecipe(), find_host_access(), lambda _: None)
        except (CodehubError, OSError) as error:
            log.warning("the image of jobs could not be made", error=str(error))
            self._failed[JOB] = self.elapsed(), str(error)

    def _recent_failure(self, name: str) -> str | None:
        failed_at, why = self._failed.get(name, (0.0, ""))
        return why if why and self.elapsed() - failed_at < TRY_AGAIN_SECONDS else None

    async def _look(self, tool: Tool) -> Availability:
        if not self.on_docker:
            return on_this_machine(tool, self.settings.ide_folder)
        async with self._engine() as docker:
            return await on_engine(docker, tool)

    async def _make(self, tool: Tool) -> None:
        def report(progress: Progress) -> None:
            log.debug("making an IDE", ide=tool.name, progress=str(progress))

        if not self.on_docker:
            await install(tool, self.settings.ide_folder, report)
            return
        async with self._engine() as docker:
            await ensure_image(docker, Recipe(tool), find_host_access(), report)

    async def _say(self, tool: Tool, found: Availability) -> None:
        async with self.pool.begin() as connection:
            await ensure_templates(connection, {tool.name: found})
        await self.wake_controller()

    def _engine(self) -> AbstractAsyncContextManager[Docker]:
        return open_engine(self.settings.runtime.docker_host)
