"""One job from its order to its exit code."""

import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from codehub.job.archive import archive
from codehub.job.faults import ExitCode, JobFault
from codehub.job.marker import Totals
from codehub.job.order import Kind, Order, read_order
from codehub.job.progress import Progress
from codehub.job.restore import restore
from codehub.job.verify import verify

JOBS: dict[Kind, Callable[[Order, Progress], Totals]] = {
    Kind.ARCHIVE: archive,
    Kind.RESTORE: restore,
    Kind.VERIFY: verify,
}


def main(arguments: Sequence[str]) -> int:
    """`archive|restore|verify ORDER`, for a program that has nothing but the standard library."""
    if len(arguments) != 2 or arguments[0] not in list(Kind):
        sys.stderr.write(f"usage: codehub job {{{','.join(Kind)}}} ORDER\n")
        return ExitCode.BAD_ORDER
    return run(Kind(arguments[0]), Path(arguments[1]))


def run(kind: Kind, order: Path) -> ExitCode:
    """Do what the order says. The last line on stdout is the result or the fault; the fault is said on stderr, too."""
    progress = Progress(sys.stdout)
    signal.signal(signal.SIGTERM, _end)
    try:
        totals = JOBS[kind](read_order(order, kind), progress)
    except JobFault as fault:
        progress.failed(fault)
        sys.stderr.write(f"codehub job {kind}: {fault}\n")
        return fault.exit_code
    progress.done(totals)
    return ExitCode.DONE


def _end(_signal: int, _frame: FrameType | None) -> None:
    """A job that is called off leaves as after a fault: its programs ended, its drafts removed."""
    sys.exit(ExitCode.TRY_AGAIN)
