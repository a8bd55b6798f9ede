"""The edge to the operating system: its errors told in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from codehub.runtimes.errors import RuntimeAway


@contextmanager
def translated() -> Iterator[None]:
    """Around work in the data folder. A disk that fails, is full or went away is a fault of everyone."""
    try:
        yield
    except OSError as error:
        raise RuntimeAway(f"the data folder cannot be used: {error}") from error
