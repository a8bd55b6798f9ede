"""What instances and jobs have in common, being containers."""

from collections.abc import AsyncGenerator
from contextlib import suppress

import aiohttp

from codehub.runtimes.docker.api import ACT_SECONDS, DockerApi, translated
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import InUse, NotFound

NAME_TRIES = 100
NAME_PAUSE_SECONDS = 0.05
FRAME_HEADER_BYTES = 8


async def hold_home(api: DockerApi, volumes: DockerVolumes, container_id: str, volume: str) -> None:
    """The engine makes a volume that it does not find, and would hand out an empty home: so the home is looked for
    before, and here again, when the container holds it and nobody can remove it any more (contract 6)."""
    try:
        await volumes.require(volume)
    except NotFound:
        await remove(api, container_id)
        await volumes.remove_stand_in(volume)
        raise


async def remove(api: DockerApi, container_id: str) -> None:
    """Also where another caller is at it: back when it is gone. Unnamed volumes go with it, the home stays."""
    doomed = api.client.containers.container(container_id)
    with suppress(NotFound):
        try:
            async with translated():
                await doomed.delete(force=True, v=True)
        except InUse:
            async with translated():
                await doomed.wait(condition="removed", timeout=aiohttp.ClientTimeout(total=ACT_SECONDS))


async def printed(content: aiohttp.StreamReader) -> AsyncGenerator[bytes, None]:
    """The pieces of a log, each in a frame whose header ends with its length."""
    while len(header := await content.read(FRAME_HEADER_BYTES)) == FRAME_HEADER_BYTES:
        yield await content.readexactly(int.from_bytes(header[4:]))
