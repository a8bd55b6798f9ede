"""Simulates very many histories and reports: `python -m tests.simulation --schedules 1000000 --histories 10000`.
What was stopped goes on with the number that it told last, by `--from`."""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from tests.simulation.cases import run
from tests.simulation.faults import Case
from tests.simulation.history import HISTORIES
from tests.simulation.operations import OPERATIONS
from tests.simulation.schedules import MOST, Number, all_numbers, case_of, count
from tests.simulation.shrink import shrink
from tests.simulation.silence import in_silence, memory
from tests.simulation.tally import Tally

AT_A_TIME = 200
"""A process ends after so many short histories, or after one tenth of that many long ones, and all that they left with
it."""
TELL_SECONDS = 30.0


def try_out(chunk: list[Number | Case]) -> Tally:
    tally = Tally()
    for each in chunk:
        case = each if isinstance(each, Case) else case_of(each)
        outcome = run(case)
        tally.count(outcome)
        if outcome.failure is not None:
            tally.troubles.append(f"{shrink(outcome).case}  (found as {case}): {outcome.failure}")
    return tally


def chunks(planned: Iterable[Number | Case], size: int) -> Iterator[list[Number | Case]]:
    left = iter(planned)
    while chunk := list(islice(left, size)):
        yield chunk


def campaign(asked: argparse.Namespace) -> Tally:
    """Tells of trouble at once, and of how far it is: it takes an hour, and may be cut short."""
    histories = [Case(name, asked.seed + each, None) for each in range(asked.histories) for name in HISTORIES]
    schedules = islice(all_numbers(), asked.first, asked.first + asked.schedules)
    planned = chain(chunks(schedules, AT_A_TIME), chunks(histories, AT_A_TIME // 10))
    total, began, told_at = Tally(), time.monotonic(), time.monotonic()
    with multiprocessing.get_context("fork").Pool(asked.workers, memory.keep_all, maxtasksperchild=1) as pool:
        for tally in pool.imap(try_out, planned):
            total.add(tally)
            for trouble in tally.troubles:
                _say(trouble)
            if time.monotonic() - told_at > TELL_SECONDS:
                told_at = time.monotonic()
                schedules_done = min(total.done, asked.schedules)
                _say(f"{total.so_far(told_at - began)}; go on with --from {asked.first + schedules_done}")
    _say(total.report(time.monotonic() - began))
    return total


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--schedules", type=int, default=10_000, help="of operations with up to three faults")
    parser.add_argument("--from", type=int, default=0, dest="first", help="the schedule to begin with")
    parser.add_argument("--histories", type=int, default=100, help="long ones, of many workspaces")
    parser.add_argument("--seed", type=int, default=1, help="where the long ones begin")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    asked = parser.parse_args(arguments)
    with in_silence():
        there = [sum(count(name, faults) for name in OPERATIONS) for faults in range(MOST + 1)]
        _say(
            f"there are {sum(there):,}: "
            + ", ".join(f"{each:,} of {faults} faults" for faults, each in enumerate(there))
        )
        return 1 if campaign(asked).troubles else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (a command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
