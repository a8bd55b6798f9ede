"""Having an image at hand: pulled only where it is not there, and a missing one told from a registry that is away."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiodocker.exceptions import DockerError

from codehub.runtimes.docker.api import DockerApi, fault_of, translated
from codehub.runtimes.errors import ImageUnavailable, NotFound, RegistryAway, RuntimeAway, RuntimeFault
from codehub.runtimes.protocols import PullProgress

REFUSED = (400, 401, 403, 404)
SENTENCES_OF_REFUSAL = (
    "manifest unknown",
    "not found",
    "does not exist",
    "denied",
    "unauthorized",
    "no matching manifest",
    "invalid reference",
    "no basic auth",
)
"""How registries say that an image is not to be had. The engine passes their words on, often under status 500 or inside
a stream that began well, and there is nothing else to go by."""
FULL = "no space left on device"


async def pull(api: DockerApi, image: str, on_progress: Callable[[PullProgress], None]) -> None:
    """Nothing to do where it is there. A stream that is cut off ends like one that is complete: only the image itself
    shows that it arrived."""
    if await is_present(api, image):
        return
    async with translated():
        try:
            await _follow(api.client.images.pull(image, stream=True), on_progress)
        except DockerError as error:
            raise fault_of_pull(image, error) from error
    if not await is_present(api, image):
        raise RegistryAway(f"the pull of {image} broke off")


async def is_present(api: DockerApi, image: str) -> bool:
    try:
        async with translated():
            await api.client.images.inspect(image)
    except NotFound:
        return False
    return True


async def _follow(steps: AsyncIterator[Mapping[str, Any]], on_progress: Callable[[PullProgress], None]) -> None:
    """Layers are announced one by one, so the total grows while it goes on."""
    sizes: dict[str, tuple[int, int]] = {}
    async for step in steps:
        detail = step.get("progressDetail") or {}
        if step.get("status") == "Downloading" and "total" in detail:
            sizes[step["id"]] = (detail["current"], detail["total"])
        elif step.get("status") == "Download complete" and step["id"] in sizes:
            sizes[step["id"]] = (sizes[step["id"]][1],) * 2
        else:
            continue
        on_progress(PullProgress(sum(done for done, _ in sizes.values()), sum(size for _, size in sizes.values())))


def fault_of_pull(image: str, error: DockerError) -> RuntimeFault:
    fault = fault_of(error)
    said = error.message.lower()
    if isinstance(fault, RuntimeAway):
        return fault
    if FULL in said:
        return RuntimeFault(f"there is no room for the image {image}: {error.message}")
    if error.status in REFUSED or any(sentence in said for sentence in SENTENCES_OF_REFUSAL):
        return ImageUnavailable(f"the image {image} is not to be had: {error.message}")
    return RegistryAway(f"the registry of {image} does not answer: {error.message}")
