"""Build an image on an engine, unless it is there."""

import io
import time
from dataclasses import dataclass

from aiodocker import Docker

from codehub.images.base import ensure_base
from codehub.images.dockerfile import Recipe
from codehub.images.engine import build, find_image, require_room
from codehub.images.host_access import HostAccess
from codehub.images.job_image import JobRecipe
from codehub.images.progress import Report


@dataclass(frozen=True, slots=True)
class Built:
    tag: str
    size_bytes: int
    seconds: float
    was_there: bool


async def ensure_image(
    docker: Docker,
    recipe: Recipe | JobRecipe,
    access: HostAccess,
    report: Report,
    *,
    registry: bool = True,
    fresh: bool = False,
) -> Built:
    """Have the image on the engine. One that is there is found by its tag; `fresh` builds it anew nevertheless, with
    today's packages of Debian."""
    began = time.monotonic()
    image = None if fresh else await find_image(docker, recipe.tag)
    was_there = image is not None
    if image is None:
        await require_room(docker, recipe.needed_bytes)
        base = await ensure_base(docker, recipe.base, access, report, registry=registry)
        context = recipe.context(access.files(trust_ca=recipe.trusted_ca is not None))
        image = await build(docker, recipe.tag, io.BytesIO(context), report, base=base, fresh=fresh)
    return Built(recipe.tag, image.size_bytes, time.monotonic() - began, was_there)
