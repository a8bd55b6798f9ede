"""What passes through tunnels, kept to learn from, where an operator asks for it (docs/activity.md). A recording holds
what people type and see.

An xz file for each tunnel: one line of JSON with the target of the upgrade, then for each piece of bytes its time in
seconds, its direction, its length, and the bytes as they passed."""

import json
import lzma
import os
import struct
from concurrent.futures import Future, ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path
from uuid import UUID, uuid4

import structlog

from codehub.clock import elapsed
from codehub.proxy.doorkeeper import Forward, Watcher

PIECE = struct.Struct(">dBI")
QUICK = 1
"""Of the ways to compress, the one that costs least."""
MOST_BYTES = 64 * 1024**2
"""Of one tunnel. What comes after is not kept."""
MOST_TUNNELS = 1000
"""Of one process, from its start on."""

log = structlog.get_logger()


class Direction(IntEnum):
    FROM_CLIENT = 0
    FROM_SERVER = 1


class Recorder:
    """Writes one tunnel, and is compressed by whoever calls it."""

    def __init__(self, file: Path, target: bytes, began: float, preset: int = QUICK) -> None:
        self._began = began
        private = os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
        self._private, self._file = private, lzma.open(private, "wb", preset=preset)  # noqa: SIM115 - see `close`
        self._file.write(json.dumps({"target": target.decode("latin-1")}).encode() + b"\n")

    def write(self, direction: Direction, data: bytes | memoryview, now: float) -> None:
        self._file.write(PIECE.pack(now - self._began, direction, len(data)))
        self._file.write(data)

    def close(self) -> None:
        self._file.close()
        self._private.close()


class Recordings:
    """All of one process. Compressed and written in a thread of its own, which ends when all is written: no visitor
    waits for a disk."""

    def __init__(self, folder: Path, workspace_id: UUID | None) -> None:
        """Of one workspace's tunnels, or of all where none is named."""
        self._folder = folder
        self._workspace_id = workspace_id
        self._began = elapsed()
        self._count = 0
        self._writer = ThreadPoolExecutor(1, "recordings")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log.warning("what passes through tunnels is recorded", folder=str(folder))

    def beside(self, watcher: Watcher, forward: Forward) -> Watcher:
        """One that also keeps what it sees, where this tunnel is to be kept."""
        if self._workspace_id not in {None, forward.workspace_id} or self._count >= MOST_TUNNELS:
            return watcher
        self._count += 1
        file = self._folder / f"{forward.workspace_id.hex}-{uuid4().hex[:12]}.xz"
        return _Recording(watcher, self._writer, self._began, file, forward.target)


class _Recording:
    def __init__(self, watcher: Watcher, writer: ThreadPoolExecutor, began: float, file: Path, target: bytes) -> None:
        self._watcher = watcher
        self._writer = writer
        self._left = MOST_BYTES
        self._recorder = writer.submit(Recorder, file, target, began)
        self._recorder.add_done_callback(_tell)

    def from_visitor(self, data: bytes) -> None:
        self._keep(Direction.FROM_CLIENT, data)
        self._watcher.from_visitor(data)

    def from_workspace(self, data: bytes) -> None:
        self._keep(Direction.FROM_SERVER, data)
        self._watcher.from_workspace(data)

    def ended(self) -> None:
        self._writer.submit(self._close)
        self._watcher.ended()

    def _keep(self, direction: Direction, data: bytes) -> None:
        self._left -= len(data)
        if self._left >= 0:
            self._writer.submit(self._write, direction, bytes(data), elapsed())

    def _write(self, direction: Direction, data: bytes, now: float) -> None:
        self._recorder.result().write(direction, data, now)

    def _close(self) -> None:
        self._recorder.result().close()


def _tell(opened: Future[Recorder]) -> None:
    if (error := opened.exception()) is not None:
        log.warning("a tunnel cannot be recorded", reason=str(error))
