"""Building on a real engine, with images of a few megabytes in place of the IDEs'."""

import io
import os
from pathlib import Path
from uuid import uuid4

import pytest
from aiodocker import Docker

from codehub.errors import DiskFull, ServiceError
from codehub.images.base import ensure_base, pack_root
from codehub.images.dockerfile import Recipe, pack
from codehub.images.engine import build, find_image, open_engine, require_room
from codehub.images.faults import BuildFailed, NoNetwork
from codehub.images.host_access import HostAccess
from codehub.images.image import ensure_image
from codehub.images.progress import Progress
from codehub.images.templates import on_engine
from codehub.images.tools import CODE_SERVER
from codehub.model.states import ImageState
from tests.images.tiny import make_root


def ignore(_: Progress) -> None:
    pass


def context(dockerfile: str, **files: bytes) -> io.BytesIO:
    return io.BytesIO(pack({"Dockerfile": dockerfile.encode(), **files}))


@pytest.fixture
async def tiny(docker: Docker, tag: str, tmp_path: Path) -> str:
    """A base image, made the way that one of debootstrap's is."""
    make_root(tmp_path / "root")
    await pack_root(tmp_path / "root", tmp_path / "context.tar")
    with (tmp_path / "context.tar").open("rb") as stream:
        await build(docker, tag, stream, ignore)
    return tag


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
async def test_a_root_tree_becomes_a_base_with_owners_kept_through_the_stages(docker: Docker, tiny: str) -> None:
    name = f"codehub-test/staged:{uuid4().hex}"
    seen: list[Progress] = []
    dockerfile = (
        f"ARG BASE\nFROM $BASE AS system\nLABEL stage={name}\nRUN echo made > /home/coder/file\n"
        'FROM scratch\nCOPY --from=system / /\nUSER 1000:1000\nENTRYPOINT ["/bin/sh", "-c"]\n'
    )
    built = await build(docker, name, context(dockerfile), seen.append, base=tiny)
    try:
        assert built.size_bytes > 0
        assert {progress.stage for progress in seen if progress.step} == {"codehub-test/staged", "system", "image"}
        assert (
            await output(docker, name, "[ -w /home/coder ] && [ ! -w / ] && read line < /home/coder/file; echo $line")
            == "made"
        )
        assert await labels(docker, name) == {"codehub.image": "codehub-test/staged"}
    finally:
        await docker.images.delete(name, force=True)
        for stage in await docker.images.list(filters={"label": [f"stage={name}"]}):
            await docker.images.delete(stage["Id"], force=True)


async def output(docker: Docker, image: str, command: str) -> str:
    container = await docker.containers.create({"Image": image, "Cmd": [command]})
    try:
        await container.start()
        await container.wait()
        return "".join(await container.log(stdout=True, stderr=True)).strip()
    finally:
        await container.delete(force=True)


async def labels(docker: Docker, image: str) -> object:
    return (await docker.images.inspect(image))["Config"]["Labels"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("write: no space left on device", DiskFull),
        ("Temporary failure resolving mirror.example", NoNetwork),
        ("a compiler's complaint", BuildFailed),
    ],
)
async def test_a_step_that_fails_is_explained(docker: Docker, tiny: str, words: str, kind: type[Exception]) -> None:
    name = f"codehub-test/failing:{uuid4().hex}"
    with pytest.raises(kind, match=words) as caught:
        await build(docker, name, context(f"ARG BASE\nFROM $BASE\nRUN echo '{words}'; exit 1\n"), ignore, base=tiny)
    assert type(caught.value) is kind
    assert await find_image(docker, name) is None


async def test_an_image_that_is_there_is_found_at_once(docker: Docker, tiny: str) -> None:
    recipe = Recipe(CODE_SERVER, base=tiny)
    assert (await on_engine(docker, CODE_SERVER, recipe)).state is ImageState.BUILDING
    await docker.images.tag(tiny, recipe.repository, tag=recipe.tag.partition(":")[2])
    try:
        built = await ensure_image(docker, recipe, HostAccess(), ignore)
        assert built.was_there
        assert built.tag == recipe.tag
        assert (await on_engine(docker, CODE_SERVER, recipe)).state is ImageState.READY
    finally:
        await docker.images.delete(recipe.tag, force=True)


async def test_a_base_that_is_there_is_taken_and_one_that_is_nowhere_is_named(docker: Docker, tiny: str) -> None:
    assert await ensure_base(docker, tiny, HostAccess(), ignore, registry=False) == tiny
    with pytest.raises(BuildFailed, match="nowhere:1 is not on the engine"):
        await ensure_base(docker, "codehub-test/nowhere:1", HostAccess(), ignore, registry=False)
    with pytest.raises(NoNetwork, match=r"registry\.invalid/debian:12 is not on the engine"):
        await ensure_base(docker, "registry.invalid/debian:12", HostAccess(), ignore, registry=True)


async def test_too_little_room_is_said_before_anything_is_built(docker: Docker) -> None:
    with pytest.raises(DiskFull, match="GB free"):
        await require_room(docker, 10**18)


async def test_an_engine_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="does not answer"):
        async with open_engine(f"unix://{tmp_path}/nobody.sock"):
            pass
