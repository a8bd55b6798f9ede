"""What a job is told: one line of JSON, readable by the job alone, since it may hold URLs that open one archive.

docs/archive-format.md lists every field.
"""

import json
import select
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from codehub.job.faults import BadOrder, TryAgain
from codehub.job.marker import FORMAT, Totals, parse_totals

RETRY_WAITS = (1.0, 5.0, 20.0)  # together longer than a change of leader, whose relay leads to the store
_LEVELS = range(1, 20)
_UNLIMITED = 1 << 62
_END = b"\n"
_PIECE_BYTES = 1 << 20
ORDER_SECONDS = 60.0
"""Whoever gives an order through a pipe does so at once, or is frozen: then another one is to begin the job anew."""


class Kind(StrEnum):
    ARCHIVE = "archive"
    RESTORE = "restore"
    VERIFY = "verify"


class Proof(StrEnum):
    """How an archive is proven whole: by its checksum and entry list, or by comparing it with the home as well."""

    CHECKSUM = "checksum"
    EXTRACT = "extract"


@dataclass(frozen=True, slots=True)
class DirectoryPlace:
    """The archive's own folder, which holds the archive and its marker and is all that the job sees of the store."""

    folder: Path


@dataclass(frozen=True, slots=True)
class Parts:
    """One open multipart upload: an URL per part, in their order, each part but the last of exactly `part_bytes`."""

    part_bytes: int
    put: tuple[str, ...]
    complete: str


@dataclass(frozen=True, slots=True)
class S3Place:
    """Presigned URLs for this one archive. `socket` is a unix socket that leads to the store, where there is no other
    way; TLS and the Host header are the URLs' own in any case.
    """

    head: str
    get: str
    get_marker: str
    put_marker: str | None  # for a PUT with the header If-None-Match: *, which is signed too
    parts: Parts | None
    socket: str | None = None
    retry_waits: tuple[float, ...] = RETRY_WAITS


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a restore may unpack, whatever the archive's marker declares."""

    bytes: int = _UNLIMITED
    entries: int = _UNLIMITED


@dataclass(frozen=True, slots=True)
class Order:
    kind: Kind
    key: str
    workspace_id: str
    codehub_version: str
    home: Path
    place: DirectoryPlace | S3Place
    level: int = 1
    proof: Proof = Proof.CHECKSUM
    expected: Totals | None = None  # what was sent, as far as whoever gives the order knows it
    limits: Limits = Limits()


def read_order(path: Path, kind: Kind) -> Order:
    """The order in this file. Raises BadOrder for one that is not to be read, or is of another kind, and TryAgain for
    one that does not end or does not come: whoever wrote it into a pipe has died over it, or stands still."""
    try:
        said = _read(path)
        if not said.endswith(_END):
            raise TryAgain("The order did not come whole.")
        order = parse_order(json.loads(said))
    except OSError as error:
        raise BadOrder(f"The order cannot be read ({error.strerror}).") from error
    except (ValueError, TypeError, LookupError) as error:
        raise BadOrder(f"The order is not complete: {type(error).__name__} {error}.") from error
    if order.kind is not kind:
        raise BadOrder(f"The order is one to {order.kind}, not to {kind}.")
    return order


def _read(path: Path) -> bytes:
    """All of it, if it comes in time."""
    ends = time.monotonic() + ORDER_SECONDS
    said = bytearray()
    with path.open("rb", buffering=0) as file:
        while select.select([file], [], [], max(0.0, ends - time.monotonic()))[0]:
            piece = file.read(_PIECE_BYTES)
            if not piece:
                return bytes(said)
            said += piece
    raise TryAgain("The order did not come in time.")


def encode_order(order: Order) -> bytes:
    """The order as `read_order` reads it."""
    kind = "s3" if isinstance(order.place, S3Place) else "directory"
    said = asdict(order) | {"format": FORMAT, "place": {"type": kind} | asdict(order.place)}
    return json.dumps(said, default=str).encode() + _END


def parse_order(said: dict[str, Any]) -> Order:
    if said["format"] != FORMAT:
        raise ValueError(f"the format {said['format']!r} is not known here")
    level = said.get("level", 1)
    if level not in _LEVELS:
        raise ValueError(f"there is no level {level!r}")
    return Order(
        kind=Kind(said["kind"]),
        key=said["key"],
        workspace_id=said["workspace_id"],
        codehub_version=said["codehub_version"],
        home=Path(said["home"]),
        place=_PLACES[said["place"]["type"]](said["place"]),
        level=level,
        proof=Proof(said.get("proof", Proof.CHECKSUM)),
        expected=parse_totals(said["expected"]) if said.get("expected") else None,
        limits=Limits(**(said.get("limits") or {})),
    )


def _directory(said: dict[str, Any]) -> DirectoryPlace:
    return DirectoryPlace(Path(said["folder"]))


def _s3(said: dict[str, Any]) -> S3Place:
    parts = said.get("parts")
    return S3Place(
        head=said["head"],
        get=said["get"],
        get_marker=said["get_marker"],
        put_marker=said.get("put_marker"),
        parts=Parts(int(parts["part_bytes"]), tuple(parts["put"]), parts["complete"]) if parts else None,
        socket=said.get("socket"),
        retry_waits=tuple(said.get("retry_waits", RETRY_WAITS)),
    )


_PLACES: dict[str, Callable[[dict[str, Any]], DirectoryPlace | S3Place]] = {"directory": _directory, "s3": _s3}
