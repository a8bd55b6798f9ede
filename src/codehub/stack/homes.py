"""The workspaces that an installation has outside its data folder, for `codehub reset` to count and remove."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from codehub.coordinators.runtime import open_runtimes
from codehub.runtimes.docker.runtime import DockerRuntime
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.settings import Settings
from codehub.stack.data_folder import DataFolder


async def count_homes(settings: Settings, folder: DataFolder) -> int:
    """How many homes would be lost."""
    count = 0
    async with aclosing(_runtimes(settings, folder)) as runtimes:
        async for runtime in runtimes:
            count += len(await runtime.volumes.list())
    return count


async def remove_homes(settings: Settings, folder: DataFolder) -> None:
    """End every instance and job, remove every home, and what held them together."""
    async with aclosing(_runtimes(settings, folder)) as runtimes:
        async for runtime in runtimes:
            for instance in await runtime.instances.list():
                await runtime.instances.stop(instance.id, 0)
            for job in await runtime.jobs.list():
                await runtime.jobs.remove(job.name)
            for volume in await runtime.volumes.list():
                await runtime.volumes.delete(volume.name)
            if isinstance(runtime, DockerRuntime):
                await runtime.teardown()


async def _runtimes(settings: Settings, folder: DataFolder) -> AsyncGenerator[DockerRuntime | LocalRuntime, None]:
    """Every runtime that this installation may have used. None where no coordinator has ever run here."""
    if not folder.installation.exists():
        return
    for runtime in await open_runtimes(settings, folder.installation.read_text().strip()):
        try:
            yield runtime
        finally:
            await runtime.close()
