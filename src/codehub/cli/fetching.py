"""Fetches an archive: over broken connections, in bounded memory, and checked in the end."""

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

import typer

from codehub.cli.progress import moving
from codehub.cli.refusals import Refused
from codehub.cli.server import Document, Server
from codehub.cli.waiting import INTERRUPTED
from codehub.errors import CodehubError, DiskFull, NotRunning, ServiceError

ATTEMPTS = 5
"""How often in a row nothing may arrive before that is told."""
SILENCE_SECONDS = 60.0
PIECE_BYTES = 1024 * 1024

Write = Callable[[bytes], None]


class _Digested:
    def __init__(self, stream: BinaryIO) -> None:
        self.digest = hashlib.sha256()
        self._stream = stream

    def write(self, piece: bytes) -> None:
        self.digest.update(piece)
        self._stream.write(piece)


@dataclass(frozen=True)
class Fetch:
    server: Server
    path: str
    archive: Document

    def to_stream(self, stream: BinaryIO) -> None:
        """Raises where what was written is not the archive: whoever reads has to look at the exit code."""
        written = _Digested(stream)
        self._arrive(0, written.write)
        stream.flush()
        self._check(written.digest.hexdigest())

    def to_file(self, file: Path, *, replace: bool) -> None:
        """Under another name until it is whole and right; what has arrived before is not fetched again."""
        if file.exists() and not replace:
            raise Refused(f"{file} is there already.", "Name another file with --output, or replace it with --force.")
        part = file.with_name(f".{file.name}.{self.archive['id'][:8]}.part")
        with _explained(file), _opened(part) as written:
            try:
                digest = self._continued(written)
            except KeyboardInterrupt:
                typer.echo("\nWhat has arrived is kept: the same command goes on with it.", err=True)
                raise typer.Exit(INTERRUPTED) from None
            try:
                self._check(digest)
            except CodehubError:
                part.unlink()
                raise
            os.fsync(written.fileno())
            part.replace(file)

    def _continued(self, part: BinaryIO) -> str:
        """The SHA-256 of what was there and what arrives after it."""
        written = _Digested(part)
        while piece := part.read(PIECE_BYTES):
            written.digest.update(piece)
        self._arrive(part.tell(), written.write)
        part.flush()
        return written.digest.hexdigest()

    def _arrive(self, done: int, write: Write) -> None:
        """All bytes from this one on. A connection that breaks is followed by another, as long as something arrives."""
        size, failed = self.archive["size"], 0
        with moving(size) as show:
            while done < size:
                before = done
                try:
                    for piece in self._pieces(done):
                        write(piece)
                        done += len(piece)
                        show(done)
                except (NotRunning, ServiceError):
                    failed = failed + 1 if done == before else 1
                    if failed >= ATTEMPTS:
                        raise
                    time.sleep(0.25 * 2**failed)

    def _pieces(self, start: int) -> Iterator[bytes]:
        headers = {"Range": f"bytes={start}-", "If-Range": f'"{self.archive["sha256"]}"'} if start else {}
        with self.server.lines(self.path, SILENCE_SECONDS, headers) as response:
            if start and response.status_code != HTTPStatus.PARTIAL_CONTENT:
                raise CodehubError("The server does not send the rest of it alone.", "Repeat it into another file.")
            yield from response.iter_raw(PIECE_BYTES)

    def _check(self, found: str) -> None:
        if found != self.archive["sha256"]:
            raise CodehubError(
                f"What arrived is not the archive: its SHA-256 is {found}, not {self.archive['sha256']}.",
                "Repeat it; if it stays so, the archive is damaged.",
            )


@contextmanager
def _opened(part: Path) -> Iterator[BinaryIO]:
    """For one command at a time."""
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b") as written:
        try:
            fcntl.flock(written, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"Another command is downloading it already, into {part}.") from None
        yield written


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = DiskFull if error.errno in {errno.ENOSPC, errno.EDQUOT} else CodehubError
        raise kind(f"{file} cannot be written: {error.strerror}.") from error
