"""Follow a tar stream by its headers: count its entries, and stop it at the first thing that no home holds.

Every archive is looked at so before its home is given up, and whenever it is read: nothing reaches tar that was not
seen here.
"""

from codehub.job.faults import Corrupt
from codehub.job.manifest import Manifest
from codehub.job.tar_headers import (
    BLOCK,
    FOLDER,
    PAX,
    PAX_BYTES,
    ZERO_BLOCK,
    Header,
    block_size,
    parse_entry,
    parse_header,
    parse_pax,
)


class TarIndex:
    """Feed it the stream in pieces of any size; each is judged before `feed` returns.

    A folder comes before what it holds, and is done when something outside of it follows. No entry can therefore pass
    through a link, and the memory needed is that of one path.
    """

    def __init__(self, *, max_bytes: int, max_entries: int) -> None:
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        self.bytes = 0
        self.entries = 0
        self._manifest = Manifest()
        self._names: list[bytes] = []
        self._rest = b""
        self._skip = 0
        self._records: dict[bytes, bytes] | None = None
        self._folders = [b"."]
        self._zero_blocks = 0

    @property
    def manifest_sha256(self) -> str:
        return self._manifest.sha256

    def feed(self, piece: bytes) -> None:
        """Judge the next bytes. Raises Corrupt."""
        self.bytes += len(piece)
        if self.bytes > self._max_bytes:
            raise Corrupt(f"The archive unpacks to more than the {self._max_bytes} bytes that it may have.")
        if self._skip >= len(piece):
            self._skip -= len(piece)
            return
        buffer = self._rest + piece
        position = self._skip
        while (end := self._step(buffer, position)) is not None:
            position = end
        self._manifest.add(self._names)
        self._names.clear()
        self._rest, self._skip = buffer[position:], max(0, position - len(buffer))

    def finish(self) -> None:
        """The stream is over. Raises Corrupt unless it was over by its own account as well."""
        if self._zero_blocks < 2 or self._rest or self._skip:
            raise Corrupt("The archive ends before its end.")

    def _step(self, buffer: bytes, position: int) -> int | None:
        """Where the entry that begins here ends; None as long as too little of it is there."""
        block = buffer[position : position + BLOCK]
        if len(block) < BLOCK:
            return None
        if block == ZERO_BLOCK or self._zero_blocks:
            return self._end(block, position)
        header = parse_header(block)
        if header.kind == PAX:
            return self._pax(buffer, position, header)
        kind, name, size = parse_entry(header, self._records or {})
        self._names.append(name)
        self._records = None
        self._place(kind, name)
        return position + BLOCK + block_size(size)

    def _pax(self, buffer: bytes, position: int, header: Header) -> int | None:
        size = header.size
        if self._records is not None or size > PAX_BYTES:
            raise Corrupt("The archive has an extended header that is too long, or two of one entry.")
        end = position + BLOCK + block_size(size)
        if end > len(buffer):
            return None
        body = buffer[position + BLOCK : position + BLOCK + size]
        self._records = parse_pax(body)
        return end

    def _place(self, kind: bytes, name: bytes) -> None:
        self.entries += 1
        if self.entries > self._max_entries:
            raise Corrupt(f"The archive has more than the {self._max_entries} entries that it may have.")
        if name == b".":
            if kind != FOLDER or self.entries > 1:
                raise Corrupt("The archive replaces the home itself.")
            return
        parent = name.rpartition(b"/")[0]
        while self._folders[-1] != parent:
            self._folders.pop()
            if not self._folders:
                raise Corrupt(f"The archive has an entry outside of the folders before it: {ascii(name[:200])[1:]}.")
        if kind == FOLDER:
            self._folders.append(name)

    def _end(self, header: bytes, position: int) -> int:
        """Two blocks of zeros end a tar; nothing but more of them may follow, since tar would not look at it."""
        if header != ZERO_BLOCK or self._records is not None:
            raise Corrupt("The archive goes on after its end.")
        self._zero_blocks += 1
        return position + BLOCK
