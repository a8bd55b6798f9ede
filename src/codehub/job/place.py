"""Where an archive lies: what a job needs of a store, and nothing else of it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol, assert_never

from codehub.job.directory_place import Directory
from codehub.job.order import DirectoryPlace, Order, S3Place
from codehub.job.s3_place import S3


class Upload(Protocol):
    """The archive on its way. Nothing is visible before `complete`, and nothing stays of it without."""

    def write(self, data: bytes) -> None:
        """Append. Waits while the store is slower than the writer."""
        ...

    def complete(self) -> None:
        """Make it visible, whole and durable, in place of an archive that was never committed."""
        ...


class Place(Protocol):
    """One archive and its marker. Every failure is a JobFault."""

    def size(self) -> int | None:
        """The size of the archive; None if there is none."""
        ...

    def read(self) -> Iterator[bytes]:
        """The archive from its first byte to its last. An early end is never taken for the end."""
        ...

    def marker(self) -> bytes | None:
        """The marker; None if there is none."""
        ...

    def create_marker(self, data: bytes) -> None:
        """Write the marker if there is none; one that is there stays as it is, so read it afterwards."""
        ...

    def upload(self) -> AbstractContextManager[Upload]: ...

    def close(self) -> None:
        """Nothing of it stays open."""
        ...


def open_place(order: Order) -> Place:
    match order.place:
        case DirectoryPlace():
            return Directory(order.place, order.key.rpartition("/")[2])
        case S3Place():
            return S3(order.place)
        case _:
            assert_never(order.place)
