"""Kills, freezes and cuts a whole installation for as long as is wanted, and proves that nothing was lost.

    python -m tests.chaos --minutes 20 --seed 1 --report docs/chaos-report.md

People work meanwhile: they make, start, stop, archive, fork, rename and delete workspaces, write into them and visit
them. All that happens is told line by line to a history in a folder; the report sums up all histories that are there,
so that a long campaign can be run in parts, each with a seed of its own. Ends with 1 where anything was lost. SIGINT
and SIGTERM end it early, with all that it has made; its history is set aside, for it says nothing about the end."""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import uvloop

from codehub.telemetry import logs
from tests.chaos.campaign import campaign
from tests.chaos.checker import breaches
from tests.chaos.faults import SHARES, Kind, endless
from tests.chaos.history import History, Under
from tests.chaos.report import write_report

WORKERS = 4
ENDED_EARLY = 130


def say(words: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {words}\n")
    sys.stdout.flush()


async def run(history: History, seed: int, minutes: float) -> None:
    _end_when_asked()
    history.tell(circumstances())
    async with campaign(history, seed, say) as made:
        deadline = time.monotonic() + 60 * minutes
        shares = SHARES if made.ground.disks else SHARES | {Kind.FILL: 0}
        await made.run(endless(Random(seed), shares), WORKERS, lambda: time.monotonic() < deadline)  # noqa: S311
        say("the last fault is over")
        await made.look()
    history.tell(circumstances())


def circumstances() -> Under:
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True).stdout
    return Under(time.time(), commit.strip(), os.cpu_count() or 1, round(os.getloadavg()[2], 1))


def _end_when_asked() -> None:
    """Once: whoever is impatient must not keep it from cleaning up."""
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _cancel_once, task)


def _cancel_once(task: asyncio.Task[None]) -> None:
    if not task.cancelling():
        say("asked to end: everything is removed first")
        task.cancel()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.chaos", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20, help="how long faults strike (default: 20)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="decides which ones (default: the time)")
    parser.add_argument(
        "--histories", type=Path, default=Path("chaos"), help="the folder of histories (default: chaos)"
    )
    parser.add_argument("--report", type=Path, help="a page that sums up all histories in the folder")
    chosen = parser.parse_args()
    logs.configure("error", "console")
    chosen.histories.mkdir(parents=True, exist_ok=True)
    history = History(chosen.histories / f"seed-{chosen.seed}.jsonl")
    history.path.unlink(missing_ok=True)
    try:
        uvloop.run(run(history, chosen.seed, chosen.minutes))
    except asyncio.CancelledError:
        history.path.rename(history.path.with_suffix(".partial"))
        sys.exit(ENDED_EARLY)
    found = breaches(history.events)
    for breach in found:
        say(f"LOST: {breach}")
    if chosen.report is not None:
        write_report(chosen.histories, chosen.report)
    say(f"{len(history.events)} events, {len(found)} breaches: {history.path}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
