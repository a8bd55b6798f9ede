"""Reaching what tests made on the engine, and leaving none of it behind."""

from pathlib import Path

import aiodocker
import aiohttp
from aiodocker.exceptions import DockerError

from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.protocols import Instance
from tests.runtimes.docker import tool_image


async def clear(installation: str, host: str = tool_image.HOST, homes_folder: Path | None = None) -> None:
    """All that the installation has on the engine, its rules on the host, and its disks if it had a folder for them."""
    runtime = DockerRuntime(installation, host, homes_folder=homes_folder)
    for instance in await runtime.instances.list():
        await runtime.instances.stop(instance.id, 0)
    for job in await runtime.jobs.list():
        await runtime.jobs.remove(job.name)
    for volume in await runtime.volumes.list():
        await runtime.volumes.delete(volume.name)
    await runtime.teardown()
    await runtime.close()


async def forget_image(image: str) -> None:
    async with aiodocker.Docker(url=tool_image.HOST) as client:
        try:
            await client.images.delete(image, force=True)
        except DockerError as error:
            if error.status != 404:
                raise


async def fetch(instance: Instance, path: str) -> bytes:
    """A file as the tool in it serves it."""
    assert instance.endpoint is not None
    url = f"http://{instance.endpoint.address}:{instance.endpoint.port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url, raise_for_status=True) as answer:
        return await answer.read()
