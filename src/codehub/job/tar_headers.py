"""Read one entry's headers of a tar stream, as strictly as GNU tar writes them for us.

Everything that GNU tar would also accept, but never writes here, is refused. Two programs that read the same bytes
differently are how an archive escapes: what this file let pass, tar must understand in the same way.
"""

import re
from dataclasses import dataclass
from zlib import adler32

from codehub.job.faults import Corrupt

BLOCK = 512
ZERO_BLOCK = bytes(BLOCK)
PAX_BYTES = 4 * 1024 * 1024  # attributes of one file; ext4 keeps 4 KiB, XFS some times 64 KiB
PATH_BYTES = 4095  # the longest path that a system call takes
_MAGIC = b"ustar\x0000"
_SIZE = re.compile(rb"[0-7]{11}\0")
_CHECKSUM = re.compile(rb"[0-7]{6}\0 ")
_NUMBER = re.compile(rb"[0-9]{1,19}")
_RECORD = re.compile(rb"([1-9][0-9]{0,7}) ([^=\n\0]+)=")
_PAX_NAMES = {
    b"path", b"linkpath", b"size", b"mtime", b"uid", b"gid",
    b"GNU.sparse.major", b"GNU.sparse.minor", b"GNU.sparse.name", b"GNU.sparse.realsize",
    b"SCHILY.acl.access", b"SCHILY.acl.default",
}  # fmt: skip
_ATTRIBUTE = b"SCHILY.xattr.user."

REGULAR, HARD_LINK, SYMLINK, FOLDER, FIFO, PAX = b"0", b"1", b"2", b"5", b"6", b"x"
_KINDS = {REGULAR, HARD_LINK, SYMLINK, FOLDER, FIFO}
_FORBIDDEN = {b"3": "a device", b"4": "a device", b"g": "a global header", b"S": "an old sparse file"}


@dataclass(frozen=True, slots=True)
class Entry:
    kind: bytes
    name: bytes
    link: bytes
    size: int  # of the content that follows in the stream


def block_size(size: int) -> int:
    """How many bytes of the stream a content of this size takes."""
    return -(-size // BLOCK) * BLOCK


def raw_size(header: bytes) -> int:
    field = header[124:136]
    if not _SIZE.fullmatch(field):
        raise Corrupt("The archive has an entry without a size.")
    return int(field[:11], 8)


def check_header(header: bytes) -> bytes:
    """The kind of a header whose checksum is right; GNU tar skips those where it is not, and reads on elsewhere."""
    field = header[148:156]
    # Adler's lower half is one more than the sum of the bytes, exactly, as long as that stays below 65,521.
    found = (adler32(header[:256]) & 0xFFFF) + (adler32(header[256:]) & 0xFFFF) - 2 - sum(field) + 8 * 32
    if not _CHECKSUM.fullmatch(field) or int(field[:6], 8) != found or header[257:265] != _MAGIC:
        raise Corrupt("The archive has a broken header.")
    return header[156:157]


def parse_pax(body: bytes) -> dict[bytes, bytes]:
    """The records of an extended header."""
    records: dict[bytes, bytes] = {}
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


def parse_entry(kind: bytes, header: bytes, records: dict[bytes, bytes]) -> Entry:
    """The entry that a header and the records before it describe. Raises Corrupt for whatever no home holds."""
    if kind not in _KINDS:
        raise Corrupt(f"The archive holds {_FORBIDDEN.get(kind, 'an unknown kind of entry')}.")
    if any(header[345:500]):
        raise Corrupt("The archive has a name in two parts.")
    size = _number(records[b"size"]) if b"size" in records else raw_size(header)
    name = records[b"path"] if b"path" in records else header[:100].partition(b"\0")[0]
    if any(record.startswith(b"GNU.") for record in records):
        name = _sparse_name(kind, records)
    link = records[b"linkpath"] if b"linkpath" in records else header[157:257].partition(b"\0")[0]
    if b"\0" in link:
        raise Corrupt(f"The archive has a link to nowhere: {_shown(name)}.")
    if size and kind != REGULAR:
        raise Corrupt(f"The archive has content in an entry that is no file: {_shown(name)}.")
    if kind == HARD_LINK:
        check_path(link)
    check_path(name[:-1] if kind == FOLDER and name.endswith(b"/") else name)
    return Entry(kind, name.removesuffix(b"/"), link, size)


def check_path(path: bytes) -> None:
    """Only the one spelling that leads below the home: `.` itself, or `./` and plain names."""
    if path == b".":
        return
    names = path.split(b"/")
    if names[0] != b"." or len(names) == 1 or b"" in names or b".." in names or b"." in names[1:] or b"\0" in path:
        raise Corrupt(f"The archive has a path that could lead out of the home: {_shown(path)}.")
    if len(path) > PATH_BYTES or max(map(len, names)) > 255:
        raise Corrupt("The archive has a path that no file system takes.")


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
