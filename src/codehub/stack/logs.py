"""The logs of the parts: one file each, cut when it grows too large, with the part before the cut kept."""

import shutil
from pathlib import Path

LARGEST_BYTES = 10 * 2**20


def trim(folder: Path, largest: int = LARGEST_BYTES) -> None:
    """Copy each log that has grown too large to `NAME.log.1` and empty it.

    Its writer keeps the same open file, appending, and notices nothing; what it writes between copy and cut is lost.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > largest:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            with log.open("r+b") as file:
                file.truncate()


def last_words(log: Path, since: int = 0) -> str:
    """The line after position `since` that tells best why the program ended: the first fatal one, else the last."""
    with log.open("rb") as file:
        file.seek(since)
        lines = [line.strip() for line in file.read()[-20_000:].decode(errors="replace").splitlines() if line.strip()]
    fatal = [line for line in lines if any(word in line for word in ("FATAL", "PANIC", "Error", "ERROR", "F1"))]
    return (fatal or lines or ["it said nothing"])[-1 if not fatal else 0]
