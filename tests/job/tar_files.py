"""Tar archives made block by block, so that they can be anything; GNU tar itself would not write most of them."""

import hashlib
import subprocess
from pathlib import Path

from codehub.job.marker import Marker, Totals
from tests.job.orders import NAME, Desk

END = bytes(1024)


def header(name: bytes, kind: bytes = b"0", *, size: int = 0, link: bytes = b"", **fields: bytes) -> bytes:
    """A header whose checksum is right, whatever else is wrong with it."""
    block = bytearray(512)
    parts = {
        0: name[:100],
        100: b"0000644\x00" + b"0000000\x00" * 2,
        124: fields.get("size_field", b"%011o\0" % size),
        136: b"00000000000\x00",
        156: kind,
        157: link[:100],
        257: fields.get("magic", b"ustar\x0000"),
        329: b"0000000\x00" * 2,
        345: fields.get("prefix", b""),
    }
    for offset, value in parts.items():
        block[offset : offset + len(value)] = value
    return sealed(bytes(block))


def sealed(block: bytes) -> bytes:
    spaced = block[:148] + b" " * 8 + block[156:]
    return spaced[:148] + b"%06o\0 " % sum(spaced) + spaced[156:]


def entry(name: bytes, kind: bytes = b"0", data: bytes = b"", link: bytes = b"") -> bytes:
    return header(name, kind, size=len(data), link=link) + padded(data)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def record(name: bytes, value: bytes) -> bytes:
    length = len(name) + len(value) + 3
    while len(b"%d" % length) + len(name) + len(value) + 3 != length:
        length += 1
    return b"%d %b=%b\n" % (length, name, value)


def pax(**records: bytes) -> bytes:
    """An extended header; dots in its names are written as double underscores."""
    return raw_pax(b"".join(record(name.replace("__", ".").encode(), value) for name, value in records.items()))


def raw_pax(body: bytes) -> bytes:
    return entry(b"./PaxHeaders/x", b"x", body)


def offer(desk: Desk, folder: Path, tar: bytes, **said: int) -> None:
    """Put it into the archive folder as a finished archive, with a marker that says what was asked, or is honest.

    Its manifest is that of an archive without entries.
    """
    packed = subprocess.run(["zstd", "-q", "-c"], input=tar, capture_output=True, check=True).stdout
    sha256 = hashlib.sha256(packed).hexdigest()
    uncompressed, entries = said.get("uncompressed", len(tar)), said.get("entries", 1000)
    totals = Totals(len(packed), sha256, uncompressed, 0, entries, hashlib.sha256().hexdigest())
    (folder / NAME).write_bytes(packed)
    (folder / f"{NAME}.meta").write_bytes(Marker(desk.workspace_id, "now", "1.2.3", totals).encode())
