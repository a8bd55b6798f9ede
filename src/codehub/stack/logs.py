"""The logs of the parts: one file each, cut when it grows too large, with the part before the cut kept."""

import re
import shutil
from pathlib import Path

LARGEST_BYTES = 10 * 2**20
# What a program says that ends; not what PostgreSQL answers to those who come while it starts or stops.
_FATAL = re.compile(r"(?:FATAL|PANIC|Fatal error|codehub): ++(?!the database system is)(.+)")


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
    """What tells best why the program ended, after position `since`: its first fatal line, else its last one."""
    with log.open("rb") as file:
        file.seek(since)
        lines = [line.strip() for line in file.read()[-20_000:].decode(errors="replace").splitlines() if line.strip()]
    fatal = (found[1] for line in lines if (found := _FATAL.search(line)))
    return next(fatal, lines[-1] if lines else "it said nothing")
