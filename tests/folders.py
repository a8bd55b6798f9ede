"""Folders for services under test, and what those leave behind outside of them."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "codehub-tests-"


@contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose path is short, as sockets need it, and that the services' own user can pass through.

    Unlike pytest's, which are private. Folders of test runs that were killed are removed here, by the next one.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        owner = re.match(rf"{_PREFIX}(\d+)-", left.name)
        if owner is not None and not Path(f"/proc/{owner[1]}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def remove_seaweedfs_sockets(ports: Iterable[int]) -> None:
    """Those that SeaweedFS makes in the temporary folder and leaves there when it is killed."""
    for port in ports:
        for left in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            left.unlink()
