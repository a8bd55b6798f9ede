"""The Docker engine that images are built on."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import aiohttp
from aiodocker import Docker, DockerError

from codehub.errors import DiskFull, ServiceError
from codehub.images.faults import explain
from codehub.images.progress import BuildLog, Report

NOT_FOUND = 404
REMEDY = "Start it, or name its address with --engine or DOCKER_HOST. Without an engine codehub runs workspaces itself."


@dataclass(frozen=True, slots=True)
class Image:
    id: str
    size_bytes: int


@asynccontextmanager
async def open_engine(url: str | None = None) -> AsyncIterator[Docker]:
    """An engine that answers; by default the one that the docker command would use. Whatever it fails at that nobody
    has explained better is a fault of the engine."""
    try:
        docker = Docker(url)
    except (AssertionError, ValueError) as error:  # how aiodocker says that it finds no socket, or a bad address
        raise ServiceError("No Docker engine was found.", REMEDY) from error
    try:
        await docker.version()
        yield docker
    except (aiohttp.ClientError, DockerError) as error:
        what = f"The Docker engine at {docker.docker_host} does not answer as it should: {error}."
        raise ServiceError(what, REMEDY) from error
    finally:
        await docker.close()


async def find_image(docker: Docker, name: str) -> Image | None:
    try:
        found = await docker.images.inspect(name)
    except DockerError as error:
        if error.status == NOT_FOUND:
            return None
        raise
    return Image(id=found["Id"], size_bytes=found["Size"])


async def require_room(docker: Docker, needed_bytes: int) -> None:
    """Refuse what would fill the disk half-way. An engine on another machine is taken at its word."""
    folder = Path((await docker.system.info())["DockerRootDir"])
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # the engine's folder is not one of this machine
        return
    if free < needed_bytes:
        raise DiskFull(
            f"There are {free / 1e9:.1f} GB free in {folder}, and building needs {needed_bytes / 1e9:.0f} GB.",
            "Make room; docker system prune frees what no container uses.",
        )


async def build(
    docker: Docker,
    tag: str,
    context: IO[bytes],
    report: Report,
    *,
    base: str | None = None,
    fresh: bool = False,
) -> Image:
    """Build what the context describes and give it the tag. The engine keeps each step that succeeded, and stops when
    the caller goes away, so that the next attempt goes on from there."""
    name = tag.partition(":")[0]
    log = BuildLog(name, report)
    failed = f"Building {tag} failed."
    try:
        async for message in docker.images.build(
            fileobj=context,
            encoding="identity",
            tag=tag,
            buildargs={"BASE": base} if base else None,
            labels={"codehub.image": name},
            nocache=fresh,
            forcerm=True,
            stream=True,
        ):
            log.read(message)
    except DockerError as error:
        raise explain(failed, [*log.tail, error.message]) from error
    built = await find_image(docker, tag)
    if built is None:
        raise explain(failed, log.tail)
    return built
