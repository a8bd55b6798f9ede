"""What a running instance uses at the moment."""

import os
from contextlib import suppress
from dataclasses import replace

from codehub.runtimes.local import limits
from codehub.runtimes.local.process import descendants, stat_fields
from codehub.runtimes.local.records import Record
from codehub.runtimes.protocols import Stats

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TIMES = slice(11, 15)
"""In /proc/PID/stat behind the program's name: its own time and that of its ended children, in two modes each."""
RESIDENT_PAGES = 21


def stats(record: Record) -> Stats:
    """From its control group where it has one. Else summed over its processes, which counts memory that several share
    several times; and there is no limit for all of them together. Blocks."""
    if limits.groups_obstacle() is None and (found := limits.Group(record.plan.name).stats()):
        return replace(found, cpus_limit=record.plan.cpus)
    first = record.life.others[:1] if record.life else ()
    ticks = pages = pids = 0
    for process in first:
        for pid in descendants(process.pid) if process.alive() else ():
            with suppress(OSError):
                fields = stat_fields(pid)
                ticks += sum(map(int, fields[TIMES]))
                pages += int(fields[RESIDENT_PAGES])
                pids += 1
    return Stats(ticks / TICKS_PER_SECOND, pages * PAGE_BYTES, None, pids)
