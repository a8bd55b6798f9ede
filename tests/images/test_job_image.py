"""The image that jobs run in: its recipe, and what is in the real one."""

import io
import tarfile
from collections.abc import AsyncIterator

import pytest
from aiodocker import Docker, DockerError
from aiodocker.containers import DockerContainer

from codehub.images.engine import find_image
from codehub.images.host_access import HostAccess
from codehub.images.job_image import DOCKERFILE, JobRecipe
from tests.runtimes.docker.job_image import job_image

MOST_BYTES = 80 * 10**6
NEEDED = ("/bin/tar", "/bin/sync", "/usr/bin/ionice", "/usr/bin/python3", "/usr/bin/zstd")
NOT_NEEDED = ("/bin/sh", "/bin/bash", "/usr/bin/apt-get", "/usr/bin/dpkg", "/usr/bin/perl", "/usr/bin/pip3")
HOST = HostAccess(ca=b"certificates")


def files(recipe: JobRecipe) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(recipe.context(HOST.files()))) as tar:
        return {entry.name: entry for entry in tar}


def test_its_context_holds_the_job_program_and_nothing_else_of_codehub() -> None:
    found = files(JobRecipe())
    assert {"Dockerfile", "host/environment", "build/job/packages", "codehub/job/run.py"} <= set(found)
    assert found["build/job/install"].mode == 0o755
    program = {name for name in found if name.startswith("codehub/")}
    assert {name for name in program if not name.startswith("codehub/job/")} == {"codehub/__init__.py"}


def test_its_last_stage_takes_nothing_of_the_host() -> None:
    assert "host" not in DOCKERFILE.split("FROM scratch")[1]


def test_its_tag_changes_with_every_input() -> None:
    recipes = [JobRecipe(), JobRecipe(base="registry.example/debian:12"), JobRecipe(trusted_ca=b"certificates")]
    assert len({recipe.tag for recipe in recipes}) == len(recipes)
    assert all(recipe.tag.startswith("codehub/job:1-") for recipe in recipes)


@pytest.fixture
async def container(docker: Docker) -> AsyncIterator[DockerContainer]:
    """One that is only looked into."""
    made = await docker.containers.create({"Image": await job_image()})
    yield made
    await made.delete(force=True)


async def test_it_is_small_and_has_neither_a_shell_nor_a_package_manager(
    docker: Docker, container: DockerContainer
) -> None:
    image = await find_image(docker, await job_image())
    assert image is not None
    assert image.size_bytes < MOST_BYTES
    there = {program: await has(container, program) for program in (*NEEDED, *NOT_NEEDED)}
    assert there == dict.fromkeys(NEEDED, True) | dict.fromkeys(NOT_NEEDED, False)


async def has(container: DockerContainer, path: str) -> bool:
    try:
        await container.get_archive(path)
    except DockerError as error:
        if error.status != 404:
            raise
        return False
    return True


async def test_what_a_job_imports_is_compiled_there(container: DockerContainer) -> None:
    """Its root is read-only, so that nothing could be compiled for the next start."""
    tar = await container.get_archive("/usr/lib/python3/dist-packages/codehub/job")
    compiled = {name.rpartition("/")[2].partition(".")[0] for name in tar.getnames() if name.endswith(".pyc")}
    assert {"run", "order", "archive", "restore", "verify", "s3_place"} <= compiled
