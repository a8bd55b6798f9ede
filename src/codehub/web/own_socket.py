"""A unix socket on which one process alone is reached: by whoever keeps it alive, its siblings, the front door."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def reached_alone(path: Path) -> Iterator[socket.socket]:
    """It is there for as long as the block lasts, for this user only."""
    path.unlink(missing_ok=True)  # of an earlier life, which was killed
    with socket.socket(socket.AF_UNIX) as alone:
        alone.bind(str(path))
        path.chmod(0o600)
        alone.listen(1024)
        alone.setblocking(False)
        try:
            yield alone
        finally:
            path.unlink(missing_ok=True)
