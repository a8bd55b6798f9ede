"""What a job sees, wherever it runs: one home and the way to one archive; and what it may use."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

from codehub.job.order import DirectoryPlace, Kind, Order, S3Place

HOME = Path("/job/home")
ARCHIVE = Path("/job/archive")
RELAY = Path("/job/relay")
MEMORY_BYTES = 1024**3
"""zstd takes most of it at its highest level on four processors; at the usual ones a job stays below 100 MB."""
PIDS = 64
LOG_BYTES = 64 * 1024**2
"""A day of progress, and more. Kept in one piece, since it is read from its first line."""


@dataclass(frozen=True, slots=True)
class Way:
    """The folder that leads to the archive: its own, or that of the socket which leads to the store. Not the socket
    itself: a new leader's is another one, under the same name."""

    folder: Path
    inside: Path
    writable: bool


def way_to_archive(order: Order) -> Way:
    match order.place:
        case DirectoryPlace(folder):
            return Way(folder, ARCHIVE, writable=order.kind is Kind.ARCHIVE)
        case S3Place(socket=str(socket)):
            return Way(Path(socket).parent, RELAY, writable=False)
        case S3Place():
            raise ValueError("a job has no network: it reaches an S3 store through a socket only")
        case _:
            assert_never(order.place)


def as_seen_inside(order: Order) -> Order:
    """The same order with the paths that it has there."""
    match order.place:
        case DirectoryPlace():
            return replace(order, home=HOME, place=DirectoryPlace(ARCHIVE))
        case S3Place():
            socket = RELAY / Path(order.place.socket or "").name
            return replace(order, home=HOME, place=replace(order.place, socket=str(socket)))
        case _:
            assert_never(order.place)


def writes_home(kind: Kind) -> bool:
    return kind is Kind.RESTORE
