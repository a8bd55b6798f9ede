"""The Dockerfile, the context and the tag: pure functions of what goes into an image."""

import io
import json
import tarfile
from dataclasses import replace

import pytest

from codehub.images.dockerfile import Recipe, render
from codehub.images.host_access import HostAccess
from codehub.images.tools import CODE_SERVER, TOOLS, Tool

HOST = HostAccess(ca=b"certificates", npm=("registry=https://mirror.example/npm/",))


def names(context: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(context)) as tar:
        return {entry.name: entry for entry in tar}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_the_last_stage_takes_results_and_nothing_of_the_host(tool: Tool) -> None:
    last = render(tool).split("FROM scratch")[1]
    assert "host" not in last.replace("localhost", "")
    assert "USER 1000:1000" in last
    assert f"EXPOSE {tool.port}" in last
    [entry] = [line for line in last.splitlines() if line.startswith("ENTRYPOINT ")]
    assert json.loads(entry.removeprefix("ENTRYPOINT "))[0].startswith(f"/opt/{tool.name}/bin/")


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_each_step_is_a_layer_of_its_own_so_that_a_failed_build_goes_on(tool: Tool) -> None:
    for step in tool.steps:
        assert f"/build/install {step.name} /opt/{tool.name}\n" in render(tool)


def test_the_context_holds_what_the_dockerfile_copies() -> None:
    found = names(Recipe(CODE_SERVER).context(HOST.files()))
    assert {"Dockerfile", "host/environment", "host/ca.crt", "host/npmrc", "build/system/packages"} <= set(found)
    assert found["build/code-server/install"].mode == 0o755
    assert found["build/code-server/node.txt"].mode == 0o644
    assert {(entry.uid, entry.mtime) for entry in found.values()} == {(0, 0)}


def test_the_same_input_gives_the_same_bytes() -> None:
    assert Recipe(CODE_SERVER).context(HOST.files()) == Recipe(CODE_SERVER).context(HOST.files())


def test_a_tag_says_version_and_content() -> None:
    repository, _, tag = Recipe(CODE_SERVER).tag.partition(":")
    version, _, content = tag.partition("-")
    assert (repository, version) == ("codehub/code-server", "4.139.1")
    assert len(content) == 12


def test_a_tag_changes_with_every_input_of_the_image() -> None:
    recipes = [
        Recipe(CODE_SERVER),
        Recipe(CODE_SERVER, base="registry.example/debian:12"),
        Recipe(CODE_SERVER, trusted_ca=b"certificates"),
        Recipe(replace(CODE_SERVER, options=())),
        Recipe(replace(CODE_SERVER, build_packages=())),
    ]
    assert len({recipe.tag for recipe in recipes}) == len(recipes)
