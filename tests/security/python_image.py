"""The image of `tests.runtimes.docker.tool_image` with the system's Python in it, for what is tried inside."""

import io
import os
import re
import subprocess
import tarfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.runtimes.docker.tool_image import COMMAND, HOST, SOCKET, root

PYTHON = Path("/usr/bin/python3")
NEEDED = re.compile(r"(?:=> )?(/\S+) \(0x")
LEFT_OUT = {"__pycache__", "test", "idlelib", "tkinter", "lib2to3", "distutils", "ensurepip", "pydoc_data", "unittest"}


@contextmanager
def python_image() -> Iterator[str]:
    """Its name, for as long as the block lasts. Skips where there is no engine."""
    if not os.access(SOCKET, os.R_OK | os.W_OK):
        pytest.skip("no Docker engine answers to this user")
    name = f"codehub-test:{uuid.uuid4().hex[:12]}"
    content = io.BytesIO(root())
    with tarfile.open(fileobj=content, mode="a", dereference=True) as archive:
        for path in files():
            archive.add(path, str(path).lstrip("/"), recursive=False)
    importing = ["docker", "--host", HOST, "import", "--change", f'CMD ["{COMMAND}"]', "-", name]
    subprocess.run(importing, input=content.getvalue(), check=True, capture_output=True)
    try:
        yield name
    finally:
        subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


def files() -> list[Path]:
    program = PYTHON.resolve()
    library = Path(f"/usr/lib/{program.name}")
    modules = [each for each in library.rglob("*") if each.is_file() and not LEFT_OUT & set(each.parts)]
    modules = [each for each in modules if not any(part.startswith("config-") for part in each.parts)]
    extensions = [each for each in modules if each.suffix == ".so"]
    return [PYTHON, *modules, *linked([program, *extensions])]


def linked(programs: Iterable[Path]) -> list[Path]:
    """The libraries that the loader will look for, under the names that it looks for."""
    listed = subprocess.run(["ldd", *programs], check=True, capture_output=True, text=True).stdout
    return sorted({Path(path) for path in NEEDED.findall(listed)})
