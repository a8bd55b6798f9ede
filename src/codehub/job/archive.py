"""Send a home to its place: tar | zstd | SHA-256 | upload, streamed, and committed only if every stage did its part."""

import fcntl
import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from itertools import islice

from codehub.job.faults import Corrupt, TryAgain
from codehub.job.home import Home, Survey
from codehub.job.manifest import Manifest
from codehub.job.marker import Marker, Totals, parse_marker
from codehub.job.order import Order
from codehub.job.place import Place, Upload, open_place
from codehub.job.programs import PIPE_BYTES, TAR_CREATE, Program, write_all, zstd_compress
from codehub.job.progress import Progress, Stage
from codehub.job.read_ahead import ReadAhead

_AT_ONCE = 32  # names that tar is told together
_NAMES_BYTES = 64 * 1024  # some hundred names: so far the reading is ahead of tar, and no further


def archive(order: Order, progress: Progress) -> Totals:
    """Make the archive, unless it is there, and say what it amounts to. Fails without having committed anything."""
    with closing(open_place(order)) as place:
        if (marker := place.marker()) is not None:
            return _already_there(order, place, parse_marker(marker))
        with closing(Home(order.home)) as home, place.upload() as upload:
            totals = Pipe(home, upload, order.level, progress).run()
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
    """The stages. Each hands on what it has, so that the slowest sets the pace and memory stays bounded.

    The home is surveyed beside them, which tells how far they are; a home that could not be restored ends them."""

    def __init__(self, home: Home, upload: Upload, level: int, progress: Progress) -> None:
        self._home = home
        self._upload = upload
        self._level = level
        self._progress = progress
        self._manifest = Manifest()
        self._entries = 0

    def run(self) -> Totals:
        """Send everything. Raises the fault that was the cause, not one that followed from it."""
        with ExitStack() as stack:
            tar = stack.enter_context(closing(Program(TAR_CREATE, self._home.folder)))
            zstd = stack.enter_context(closing(Program(zstd_compress(self._level), source=tar)))
            pool = stack.enter_context(ThreadPoolExecutor(2))
            for program in (tar, zstd):
                stack.callback(program.kill)  # before the pool waits for its threads, one of which waits for tar
            self._progress.begin(Stage.SURVEY)
            surveyed = pool.submit(self._home.survey, self._progress.tell)
            named = pool.submit(self._name, tar)
            size, sha256 = self._send(zstd, tar, surveyed)
            if zstd.status() != 0:
                raise zstd.fault()
            survey = surveyed.result()
            self._check_tar(tar, survey)
            named.result()
            uncompressed = tar.total()
        if self._entries != survey.entries:
            raise TryAgain(f"The home had {survey.entries} entries, and then {self._entries}.")
        return Totals(size, sha256, uncompressed, survey.content, self._entries, self._manifest.sha256)

    def _name(self, tar: Program) -> None:
        """Tell tar what to take, and have the files among it read shortly before."""
        walk = self._home.walk()
        with (
            self._home.explained(),
            closing(ReadAhead(self._home.descriptor)) as ahead,
            tar.input as names,
            suppress(BrokenPipeError),  # tar has ended; its status tells why
        ):
            fcntl.fcntl(names, fcntl.F_SETPIPE_SZ, _NAMES_BYTES)
            while batch := list(islice(walk, _AT_ONCE)):
                ahead.add([found.path for found in batch if found.is_file])
                paths = [found.path for found in batch]
                self._manifest.add(paths)
                self._entries += len(paths)
                write_all(names, b"\0".join(paths) + b"\0")

    def _send(self, zstd: Program, tar: Program, surveyed: "Future[Survey]") -> tuple[int, str]:
        """What was sent, and its hash. Raises at once what the survey has found to be wrong."""
        digest = hashlib.sha256()
        size = 0
        is_known = False
        while piece := zstd.output.read(PIPE_BYTES):
            digest.update(piece)
            size += len(piece)
            self._upload.write(piece)
            if not is_known and surveyed.done():
                self._progress.begin(Stage.ARCHIVE, surveyed.result().bytes)
                is_known = True
            if is_known:
                self._progress.tell(tar.written(), self._entries)
        if not is_known:
            self._progress.begin(Stage.ARCHIVE, surveyed.result().bytes)
        return size, digest.hexdigest()

    def _check_tar(self, tar: Program, survey: Survey) -> None:
        status = tar.status()
        if status == 0:
            return
        if status == 1 or self._has_changed(survey):
            raise TryAgain(f"The home changed while it was read: {tar.fault()}")
        raise tar.fault()

    def _has_changed(self, survey: Survey) -> bool:
        with suppress(TryAgain):
            return self._home.survey(lambda *_: None) != survey
        return True
