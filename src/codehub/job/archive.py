"""Send a home to its place: tar | zstd | SHA-256 | upload, streamed, and committed only if every stage did its part."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from codehub.job.faults import Corrupt, JobFault, TryAgain
from codehub.job.home import Home, Survey
from codehub.job.marker import Marker, Totals, parse_marker
from codehub.job.order import Order
from codehub.job.place import Place, Upload, open_place
from codehub.job.programs import PIPE_BYTES, TAR_CREATE, Program, write_all, zstd_compress
from codehub.job.progress import Progress, Stage
from codehub.job.read_ahead import ReadAhead
from codehub.job.tar_index import TarIndex

if TYPE_CHECKING:
    from hashlib import _Hash

_ANY = 1 << 62
_NAMES_BYTES = 64 * 1024  # some hundred names: so far the reading ahead is ahead of tar


def archive(order: Order, progress: Progress) -> Totals:
    """Make the archive, unless it is there, and say what it amounts to. Fails without having committed anything."""
    place = open_place(order)
    if (marker := place.marker()) is not None:
        return _already_there(order, place, parse_marker(marker))
    with closing(Home(order.home)) as home:
        progress.begin(Stage.SURVEY)
        survey = home.survey(progress.tell)
        progress.begin(Stage.ARCHIVE, survey.bytes)
        with place.upload() as upload:
            totals = Pipe(home, survey, upload, order.level, progress.tell).run()
            progress.begin(Stage.COMMIT)
            upload.complete()
    _commit(order, place, totals)
    return totals


def _already_there(order: Order, place: Place, marker: Marker) -> Totals:
    if marker.workspace_id != order.workspace_id:
        raise Corrupt("Under this key lies the archive of another workspace.")
    size = place.size()
    if size != marker.totals.size:
        raise Corrupt(f"The archive has a marker of {marker.totals.size} bytes, but {size} bytes are there.")
    return marker.totals


def _commit(order: Order, place: Place, totals: Totals) -> None:
    """Write the marker, last. Where one is there, it is that of an attempt whose answer was lost, or of a rival."""
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    place.create_marker(Marker(order.workspace_id, made_at, order.codehub_version, totals).encode())
    marker = place.marker()
    if marker is None:
        raise TryAgain("The archive store took the marker and does not show it.")
    if parse_marker(marker).totals != totals:
        raise Corrupt("Another archive was written under this key at the same time.")


class Pipe:
    """The stages. Each hands on what it has, so that the slowest sets the pace and memory stays bounded."""

    def __init__(
        self, home: Home, survey: Survey, upload: Upload, level: int, tell: Callable[[int, int], None]
    ) -> None:
        self._home = home
        self._survey = survey
        self._upload = upload
        self._level = level
        self._tell = tell
        self._index = TarIndex(max_bytes=_ANY, max_entries=_ANY)
        self._digest: _Hash = hashlib.sha256()
        self._size = 0

    def run(self) -> Totals:
        """Send everything. Raises the fault that was the cause, not one that followed from it."""
        with ExitStack() as stack:
            tar = stack.enter_context(closing(Program(TAR_CREATE, self._home.folder, input_bytes=_NAMES_BYTES)))
            zstd = stack.enter_context(closing(Program(zstd_compress(self._level))))
            pool = stack.enter_context(ThreadPoolExecutor(2))
            for program in (tar, zstd):
                stack.callback(program.kill)  # before the pool waits for its threads, which wait for these
            named = pool.submit(self._name, tar)
            sent = pool.submit(self._send, zstd)
            self._pack(tar, zstd)
            sent.result()
            if zstd.status() != 0:
                raise zstd.fault()
            self._check_tar(tar)
            named.result()
        self._index.finish()
        if self._index.entries != self._survey.entries:
            raise TryAgain(f"The home had {self._survey.entries} entries, and {self._index.entries} were archived.")
        return self._index.totals(self._size, self._digest.hexdigest())

    def _name(self, tar: Program) -> None:
        """Tell tar what to take, name by name, and have each file read shortly before."""
        with (
            self._home.explained(),
            closing(ReadAhead(self._home.descriptor)) as ahead,
            tar.input as names,
            suppress(BrokenPipeError),  # tar has ended; its status tells why
        ):
            for found in self._home.walk():
                if found.is_file:
                    ahead.add(found.path)
                write_all(names, found.path + b"\0")

    def _pack(self, tar: Program, zstd: Program) -> None:
        """Hand tar's stream to zstd, looking at it on the way: what could not be restored is refused here."""
        with zstd.input as packed, suppress(BrokenPipeError):  # zstd has ended; its status tells why
            while piece := tar.output.read(PIPE_BYTES):
                try:
                    self._index.feed(piece)
                except Corrupt as error:
                    raise JobFault(f"The home could be archived, but not restored. {error}") from error
                write_all(packed, piece)
                self._tell(self._index.bytes, self._index.entries)

    def _send(self, zstd: Program) -> None:
        with zstd.output as stream:  # closed in any case: zstd must not wait for a sender that has failed
            while piece := stream.read(PIPE_BYTES):
                self._digest.update(piece)
                self._size += len(piece)
                self._upload.write(piece)

    def _check_tar(self, tar: Program) -> None:
        status = tar.status()
        if status == 0:
            return
        if status == 1 or self._has_changed():
            raise TryAgain(f"The home changed while it was read: {tar.fault()}")
        raise tar.fault()

    def _has_changed(self) -> bool:
        with suppress(TryAgain):
            return self._home.survey(lambda *_: None) != self._survey
        return True
