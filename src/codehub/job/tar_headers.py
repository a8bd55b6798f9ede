"""Read one entry's headers of a tar stream, as strictly as GNU tar writes them for us.

Everything that GNU tar would also accept, but never writes here, is refused. Two programs that read the same bytes
differently are how an archive escapes: what this file let pass, tar must understand in the same way.
"""

import re
from typing import NamedTuple
from zlib import adler32

from codehub.job.faults import Corrupt

BLOCK = 512
ZERO_BLOCK = bytes(BLOCK)
PAX_BYTES = 4 * 1024 * 1024  # attributes of one file; ext4 keeps 4 KiB, XFS some times 64 KiB
PATH_BYTES = 4095  # the longest path that a system call takes
# Size, checksum, kind and link; a name in one part. Everything else may be as it likes.
_HEADER = re.compile(rb".{124}([0-7]{11})\0.{12}([0-7]{6})\0 (.)(.{100})ustar\x0000.{80}\0{155}.{12}", re.DOTALL)
_PATH = re.compile(rb"\.(?:/(?!\.{1,2}(?:/|\Z))[^/\0]{1,255})*", re.DOTALL)
_NUMBER = re.compile(rb"[0-9]{1,19}")
_ONLY_TIME = re.compile(rb"([0-9]{2}) mtime=-?[0-9]{1,19}(?:\.[0-9]{1,9})?\n")
_RECORD = re.compile(rb"([1-9][0-9]{0,7}) ([^=\0]+)=")
_PAX_NAMES = {
    b"path", b"linkpath", b"size", b"mtime", b"uid", b"gid",
    b"GNU.sparse.major", b"GNU.sparse.minor", b"GNU.sparse.name", b"GNU.sparse.realsize",
    b"SCHILY.acl.access", b"SCHILY.acl.default",
}  # fmt: skip
_ATTRIBUTE = b"SCHILY.xattr.user."

REGULAR, HARD_LINK, SYMLINK, FOLDER, FIFO, PAX = b"0", b"1", b"2", b"5", b"6", b"x"
_KINDS = {REGULAR, HARD_LINK, SYMLINK, FOLDER, FIFO}
_FORBIDDEN = {b"3": "a device", b"4": "a device", b"g": "a global header", b"S": "an old sparse file"}


class Header(NamedTuple):
    """What one header block says; a tuple, since there are two for each file."""

    kind: bytes
    size: int
    link: bytes
    name: bytes


class Entry(NamedTuple):
    kind: bytes
    name: bytes
    size: int  # of the content that follows in the stream


def block_size(size: int) -> int:
    """How many bytes of the stream a content of this size takes."""
    return -(-size // BLOCK) * BLOCK


def parse_header(block: bytes) -> Header:
    """A header whose checksum is right; GNU tar skips those where it is not, and reads on elsewhere."""
    found = _HEADER.fullmatch(block)
    if found is None:
        raise Corrupt("The archive has a broken header.")
    size, checksum, kind, link = found.groups()
    # Adler's lower half is one more than the sum of the bytes, exactly, as long as that stays below 65,521.
    total = (adler32(block[:256]) & 0xFFFF) + (adler32(block[256:]) & 0xFFFF) - 2
    if int(checksum, 8) != total - sum(block[148:156]) + 8 * 32:
        raise Corrupt("The archive has a header with a wrong checksum.")
    return Header(kind, int(size, 8), link.partition(b"\0")[0], block[:100].partition(b"\0")[0])


def parse_pax(body: bytes) -> dict[bytes, bytes]:
    """The records of an extended header."""
    records: dict[bytes, bytes] = {}
    if (alone := _ONLY_TIME.fullmatch(body)) and int(alone[1]) == len(body):  # of most files, and nobody asks for it
        return records
    position = 0
    while position < len(body):
        begin = _RECORD.match(body, position)
        end = position + int(begin[1]) if begin else 0
        if begin is None or end > len(body) or end <= begin.end() or body[end - 1] != 10:
            raise Corrupt("The archive has a broken extended header.")
        name = begin[2]
        if name in records or not (name in _PAX_NAMES or name.startswith(_ATTRIBUTE)):
            raise Corrupt(f"The archive has an extended header that no home needs: {_shown(name)}.")
        records[name] = body[begin.end() : end - 1]
        position = end
    return records


def parse_entry(header: Header, records: dict[bytes, bytes]) -> Entry:
    """The entry that a header and the records before it describe. Raises Corrupt for whatever no home holds."""
    kind, size, link, name = header
    if kind not in _KINDS:
        raise Corrupt(f"The archive holds {_FORBIDDEN.get(kind, 'an unknown kind of entry')}.")
    if records:
        size = _number(records[b"size"]) if b"size" in records else size
        link = records.get(b"linkpath", link)
        name = records.get(b"path", name)
        if any(record.startswith(b"GNU.") for record in records):
            name = _sparse_name(kind, records)
    if kind == FOLDER:
        name = name.removesuffix(b"/")
    check_path(name)
    if kind != REGULAR:
        if size or b"\0" in link:
            raise Corrupt(f"The archive has an entry that is no file, with content or a broken link: {_shown(name)}.")
        if kind == HARD_LINK:
            check_path(link)
    return Entry(kind, name, size)


def check_path(path: bytes) -> None:
    """Only the one spelling that leads below the home: `.` itself, or `./` and plain names."""
    if len(path) > PATH_BYTES or _PATH.fullmatch(path) is None:
        raise Corrupt(f"The archive has a path that no home has, or that could lead out of it: {_shown(path)}.")


def _sparse_name(kind: bytes, records: dict[bytes, bytes]) -> bytes:
    """The name of a file with holes, which wins over `path`, where only a name for older programs stands."""
    form = [records.get(b"GNU.sparse." + name) for name in (b"major", b"minor")]
    if kind != REGULAR or form != [b"1", b"0"]:
        raise Corrupt("The archive has a sparse file of another form than 1.0.")
    _number(records.get(b"GNU.sparse.realsize", b""))
    return records.get(b"GNU.sparse.name", b"")


def _number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise Corrupt("The archive has an extended header without its number.")
    return int(text)


def _shown(name: bytes) -> str:
    return ascii(name[:200])[1:]
