"""Bytes that are handed to another program and are nowhere else."""

import os
from typing import BinaryIO


def in_memory(data: bytes) -> BinaryIO:
    """A file that is on no disk and has no name, to be read from its beginning."""
    file = os.fdopen(os.memfd_create("order"), "w+b", buffering=0)
    file.write(data)
    file.seek(0)
    return file
