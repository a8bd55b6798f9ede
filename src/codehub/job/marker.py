"""The commit marker: a small JSON object beside the archive, written last and once. With it, the archive exists."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from codehub.job.faults import Corrupt

FORMAT = 1
MARKER_SUFFIX = ".meta"
MARKER_BYTES = 64 * 1024  # a marker has some 500; nobody may fill a reader's memory with one
_WHOLE_NUMBERS = ("size", "uncompressed", "content", "entries")
_DIGESTS = ("sha256", "manifest_sha256")


@dataclass(frozen=True, slots=True)
class Totals:
    """What an archive amounts to, counted while it was sent. Two archives with equal totals hold the same bytes."""

    size: int
    sha256: str  # of the compressed bytes, as they lie in the store
    uncompressed: int
    content: int  # of files, holes left out; a volume needs at least so much room
    entries: int
    manifest_sha256: str  # of the names of all entries in their order, see Manifest


@dataclass(frozen=True, slots=True)
class Marker:
    """Totals, and whose archive it is."""

    workspace_id: str
    made_at: str
    codehub_version: str
    totals: Totals

    def encode(self) -> bytes:
        head = {"format": FORMAT, "workspace_id": self.workspace_id}
        tail = {"made_at": self.made_at, "codehub_version": self.codehub_version}
        return json.dumps(head | asdict(self.totals) | tail, indent=1).encode() + b"\n"


def parse_marker(data: bytes) -> Marker:
    """Raises Corrupt for whatever is no marker of a format that this program can read."""
    try:
        said = json.loads(data)
        if said["format"] != FORMAT:
            raise Corrupt(f"The archive has the format {said['format']!r}; this program reads {FORMAT}.")
        return Marker(str(said["workspace_id"]), str(said["made_at"]), str(said["codehub_version"]), parse_totals(said))
    except (ValueError, TypeError, LookupError) as error:
        raise Corrupt(f"The archive's marker cannot be read ({error}).") from error


def parse_totals(said: dict[str, Any]) -> Totals:
    """The totals in a JSON object. Raises ValueError, TypeError or LookupError where they are not there."""
    for name in _WHOLE_NUMBERS:
        if type(said[name]) is not int or said[name] < 0:
            raise ValueError(f"{name} is no number")
    for name in _DIGESTS:
        if not isinstance(said[name], str) or len(said[name]) != 64:
            raise ValueError(f"{name} is no SHA-256")
    return Totals(**{field.name: said[field.name] for field in fields(Totals)})
