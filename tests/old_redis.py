"""A real Redis that is too old for codehub: 5.0, which its wheel brings as a library.

`python -m tests.old_redis SOCKET` serves it until it is killed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.folders import short_folder

PASSWORD = "hunter2"


@contextmanager
def old_redis() -> Iterator[str]:
    """Its URL, for as long as the block lasts. Skips where there is no wheel of it for this Python and processor."""
    if find_spec("birdisle") is None:
        pytest.skip("there is no old Redis for this Python and processor")
    with short_folder() as folder:
        socket = folder / "redis.sock"
        with subprocess.Popen([sys.executable, "-m", "tests.old_redis", socket], stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout is not None
                assert server.stdout.readline() == b"ready\n"
                yield f"unix://:{PASSWORD}@{socket}"
            finally:
                server.kill()


def serve(socket: Path) -> None:
    from birdisle import Server

    _server = Server(f"port 0\nunixsocket {socket}\nrequirepass {PASSWORD}\n")  # it listens when this returns
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    signal.pause()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
