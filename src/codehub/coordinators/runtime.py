"""The runtime of this installation: the one that is set, or the one that this machine can do."""

from collections.abc import Callable
from pathlib import Path

from codehub.errors import ServiceError
from codehub.images.job_image import JobRecipe
from codehub.images.local_ide import LocalTool, installed
from codehub.images.tools import TOOLS
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.errors import RuntimeAway
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.settings import Settings

Fence = Callable[[], None]


async def open_runtime(settings: Settings, installation: str, fence: Fence) -> DockerRuntime | LocalRuntime:
    """With `auto`, Docker where an engine answers, and sandboxed processes where none does."""
    config = settings.runtime
    if config.kind != "local":
        away = await _engine_away(installation, config.docker_host)
        if away is None:
            return _docker(settings, installation, fence)
        if config.kind == "docker":
            raise ServiceError(
                f"No Docker engine answers on {config.docker_host}: {away}.",
                "Start one, or set RUNTIME=local to run workspaces without.",
            )
    return _local(settings, installation, fence)


async def open_runtimes(settings: Settings, installation: str) -> list[DockerRuntime | LocalRuntime]:
    """Every runtime that the installation may have used, for whoever removes it. Nobody leads then: no fence."""
    local = _local(settings, installation, lambda: None)
    docker = _docker(settings, installation, lambda: None)
    try:
        await docker.instances.list()
    except RuntimeAway:
        await docker.close()
        return [local]
    return [docker, local]


def _docker(settings: Settings, installation: str, fence: Fence) -> DockerRuntime:
    return DockerRuntime(
        installation,
        settings.runtime.docker_host,
        fence,
        homes_folder=settings.homes_folder,
        job_image=settings.runtime.job_image or JobRecipe().tag,
        inside_folder=_shown(settings),
    )


def _local(settings: Settings, installation: str, fence: Fence) -> LocalRuntime:
    def find(name: str) -> LocalTool | None:
        return installed(TOOLS[name], settings.ide_folder) if name in TOOLS else None

    return LocalRuntime(settings.codehub.data_dir, installation, find, fence, inside_folder=_shown(settings))


def _shown(settings: Settings) -> Path | None:
    """What workspaces are shown, where it was laid out."""
    return settings.inside_folder if settings.inside_folder.is_dir() else None


async def _engine_away(installation: str, host: str) -> RuntimeAway | None:
    """Ask the engine for its identity, which it is given the first time: before anybody leads, so without a fence."""
    docker = DockerRuntime(installation, host)
    try:
        await docker.engine()
    except RuntimeAway as away:
        return away
    finally:
        await docker.close()
    return None
