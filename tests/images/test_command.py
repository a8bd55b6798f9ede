"""`codehub image build` as a person runs it."""

import json
from pathlib import Path

import pytest
from aiodocker import Docker

from codehub.errors import ExitCode
from codehub.images.dockerfile import Recipe
from codehub.images.engine import build
from codehub.images.tools import JUPYTERLAB
from tests.cli.command import Command
from tests.images.test_engine import context


@pytest.fixture
def codehub(tmp_path: Path) -> Command:
    return Command(tmp_path)


async def test_an_image_that_is_there_is_told_and_not_built(docker: Docker, tag: str, codehub: Command) -> None:
    recipe = Recipe(JUPYTERLAB, base=tag)
    await build(docker, recipe.tag, context("FROM scratch\nCOPY file /\n", file=b"1"), lambda _: None)
    try:
        told = await codehub("image", "build", "jupyterlab", "--base", tag)
        assert (told.code, told.stderr) == (ExitCode.OK, "")
        assert told.stdout == f"{recipe.tag} is there already, 0 MB\n"
        shown = json.loads((await codehub("image", "build", "jupyterlab", "--base", tag, "--json")).stdout)
        assert (shown["tag"], shown["was_there"], shown["size_bytes"]) == (recipe.tag, True, 1)
    finally:
        await docker.images.delete(recipe.tag, force=True)


@pytest.mark.usefixtures("docker")
async def test_a_base_that_cannot_be_had_is_one_sentence(codehub: Command) -> None:
    told = await codehub("image", "build", "--base", "codehub-test/nowhere:1", "--no-registry")
    assert told.code == ExitCode.FAILED
    assert "The base image codehub-test/nowhere:1 is not on the engine and cannot be pulled." in told.stderr
    assert "Traceback" not in told.stderr


async def test_an_engine_that_does_not_answer_has_its_own_exit_code(codehub: Command) -> None:
    told = await codehub("image", "build", "--engine", "unix:///nowhere/docker.sock")
    assert told.code == ExitCode.SERVICE
    assert "does not answer" in told.stderr
