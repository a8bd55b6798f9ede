"""A tiny image made on the spot from a static busybox, because no registry can be relied on: an IDE for tests.

It adds a line to `starts` in its home, prints `listening`, and serves its home over HTTP; with EXIT_CODE it ends at
once instead."""

import io
import os
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from codehub.runtimes.docker.container import USER

SOCKET = Path("/var/run/docker.sock")
HOST = f"unix://{SOCKET}"
BUSYBOX = Path("/usr/bin/busybox")
PORT = 8080
COMMAND = "/bin/serve"
SCRIPT = f"""#!/bin/sh
[ -z "$EXIT_CODE" ] || exit "$EXIT_CODE"
echo started >> /home/coder/starts
echo listening
exec httpd -f -p {PORT} -h /home/coder
"""
APPLETS = ["cat", "dd", "grep", "head", "httpd", "id", "ls", "nc", "nslookup", "sh", "sleep", "tail", "touch", "wget"]


@contextmanager
def tool_image() -> Iterator[str]:
    """Its name, for as long as the block lasts. Skips where there is no engine that this user may use."""
    if not os.access(SOCKET, os.R_OK | os.W_OK):
        pytest.skip("no Docker engine answers to this user")
    if not BUSYBOX.exists():
        pytest.fail("the package busybox-static is needed for the tests on Docker")
    name = f"codehub-test:{uuid.uuid4().hex[:12]}"
    make(name)
    yield name
    subprocess.run(["docker", "rmi", "--force", name], check=True, capture_output=True)


def make(name: str, host: str = HOST) -> None:
    """On the engine that listens there."""
    change = ["--change", f'CMD ["{COMMAND}"]', "--change", "LABEL codehub.test=tool"]
    importing = ["docker", "--host", host, "import", *change, "-", name]
    subprocess.run(importing, input=root(), check=True, capture_output=True)


def root() -> bytes:
    """Its only layer. It lacks the home, which root gives its owner by itself; anybody else needs an image with it."""
    homes = [] if os.geteuid() == 0 else ["home/coder"]
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for folder, mode in {"bin": 0o755, "home": 0o755, "tmp": 0o1777, "proc": 0o555, "etc": 0o755}.items():
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            archive.addfile(entry)
        for home in homes:
            entry = tarfile.TarInfo(home)
            entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o755, USER, USER
            archive.addfile(entry)
        for name, program in {"bin/busybox": BUSYBOX.read_bytes(), "bin/serve": SCRIPT.encode()}.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(program), 0o755
            archive.addfile(entry, io.BytesIO(program))
        for applet in APPLETS:
            entry = tarfile.TarInfo(f"bin/{applet}")
            entry.type, entry.linkname = tarfile.SYMTYPE, "busybox"
            archive.addfile(entry)
    return content.getvalue()
