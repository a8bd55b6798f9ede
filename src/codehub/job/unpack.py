"""Read an archive back: download | SHA-256 | unzstd | index | tar, trusting nothing of it before the end."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from codehub.job.faults import Corrupt, Missing
from codehub.job.marker import Totals, parse_marker
from codehub.job.order import Order
from codehub.job.place import Place
from codehub.job.programs import PIPE_BYTES, ZSTD_DECOMPRESS, Program, write_all
from codehub.job.tar_index import TarIndex


def declared_totals(order: Order, place: Place) -> Totals:
    """What the archive should amount to, by its marker and by whoever sent it; they must agree."""
    marker = place.marker()
    size = place.size()
    if marker is None or size is None:
        raise Missing("There is no archive under this key, or none that was finished.")
    declared = parse_marker(marker)
    if declared.workspace_id != order.workspace_id:
        raise Corrupt("The archive is that of another workspace.")
    if order.expected is not None and declared.totals != order.expected:
        raise Corrupt("The archive's marker tells of other bytes than were sent.")
    if size != declared.totals.size:
        raise Corrupt(f"The archive should have {declared.totals.size} bytes and has {size}.")
    return declared.totals


class Unpacking:
    """One pass over the archive. The program at its end, if any, gets only what the index has let pass."""

    def __init__(self, order: Order, place: Place, declared: Totals, tell: Callable[[int, int], None]) -> None:
        self._place = place
        self._declared = declared
        self._tell = tell
        self._digest = hashlib.sha256()
        self._size = 0
        self._index = TarIndex(
            max_bytes=min(declared.uncompressed, order.limits.bytes),
            max_entries=min(declared.entries, order.limits.entries),
        )

    def run(self, tar_argv: Sequence[str] | None = None, folder: Path | None = None) -> None:
        """Pass everything through. Raises Corrupt unless every byte and entry is as declared, and what tar says."""
        with ExitStack() as stack:
            zstd = stack.enter_context(closing(Program(ZSTD_DECOMPRESS)))
            tar = stack.enter_context(closing(Program(tar_argv, folder, silent=True))) if tar_argv else None
            pool = stack.enter_context(ThreadPoolExecutor(1))
            stack.callback(zstd.kill)  # before the pool waits for its thread, which waits for zstd
            fetched = pool.submit(self._fetch, zstd)
            self._unpack(zstd, tar)
            status = zstd.status()
            fetched.result()
            if status != 0:
                raise Corrupt(f"The archive cannot be decompressed ({zstd.fault()}).")
            self._check()
            if tar and tar.status() != 0:
                raise tar.fault()

    def _fetch(self, zstd: Program) -> None:
        with zstd.input as packed:
            for piece in self._place.read():
                self._size += len(piece)
                if self._size > self._declared.size:
                    raise Corrupt("The archive goes on behind its last byte.")
                self._digest.update(piece)
                try:
                    write_all(packed, piece)
                except BrokenPipeError:  # zstd has ended; its status tells why
                    return

    def _unpack(self, zstd: Program, tar: Program | None) -> None:
        with ExitStack() as stack:
            files = stack.enter_context(tar.input) if tar else None
            while piece := zstd.output.read(PIPE_BYTES):
                self._index.feed(piece)
                if files:
                    try:
                        write_all(files, piece)
                    except BrokenPipeError:  # tar has ended; its status tells why, once the bytes are known to be right
                        files = None
                self._tell(self._index.bytes, self._index.entries)

    def _check(self) -> None:
        self._index.finish()
        found = replace(
            self._declared,  # its `content` is what the maker saw of the disk
            size=self._size,
            sha256=self._digest.hexdigest(),
            uncompressed=self._index.bytes,
            entries=self._index.entries,
            manifest_sha256=self._index.manifest_sha256,
        )
        if found != self._declared:
            raise Corrupt(f"The archive is not what was sent: {self._declared} was, {found} is there.")
