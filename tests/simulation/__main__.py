"""Simulates very many histories and reports: `python -m tests.simulation --schedules 1000000 --histories 10000`."""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from random import Random

from tests.simulation.cases import run
from tests.simulation.faults import Case, Fault
from tests.simulation.history import HISTORIES
from tests.simulation.operations import OPERATIONS, cases, count, drawn
from tests.simulation.shrink import shrink
from tests.simulation.silence import in_silence

AT_A_TIME = 100
TELL_SECONDS = 30.0


@dataclass
class Tally:
    """What came of some of the cases, or of all of them."""

    cases: Counter[str] = field(default_factory=Counter)
    """By what they are: an operation and how many faults, or a history."""
    faults: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    seconds: float = 0.0
    troubles: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.cases.update(other.cases)
        self.faults.update(other.faults)
        self.steps += other.steps
        self.seconds += other.seconds
        self.troubles += other.troubles


def planned(schedules: int, histories: int, seed: int) -> Iterator[Case]:
    """Histories by their seeds; of the operations all that goes wrong once and twice, then what goes wrong three times,
    in an order of chance and none of them twice."""
    for number in range(seed, seed + histories):
        for name in HISTORIES:
            yield Case(name, number, None)
    fewer = chain.from_iterable(cases(name, faults) for faults in range(3) for name in OPERATIONS)
    yield from islice(chain(fewer, _distinct(Random(seed))), schedules)


def _distinct(chance: Random) -> Iterator[Case]:
    known: set[Case] = set()
    most = sum(count(name, 3) for name in OPERATIONS)
    while len(known) < most:
        case = drawn(chance)
        if case not in known:
            known.add(case)
            yield case


def try_out(tried: list[Case]) -> Tally:
    tally = Tally()
    with in_silence():
        for case in tried:
            outcome = run(case)
            kind = f"{case.name}, {len(case.faults)} faults" if case.faults is not None else case.name
            tally.cases[kind] += 1
            tally.faults.update(str(fault) for _, fault in outcome.fired)
            tally.steps += outcome.steps
            tally.seconds += outcome.seconds
            if outcome.failure is not None:
                tally.troubles.append(f"{shrink(outcome).case}  (found as {case}): {outcome.failure}")
    return tally


def chunks(tried: Iterable[Case]) -> Iterator[list[Case]]:
    left = iter(tried)
    while chunk := list(islice(left, AT_A_TIME)):
        yield chunk


def report(tally: Tally, seconds: float) -> str:
    done = tally.cases.total()
    lines = [
        f"{done:,} histories in {seconds:,.0f} s ({done / seconds:,.0f} per second)",
        f"{tally.steps:,} steps, {tally.seconds / 3600:,.1f} hours of their time",
        *(f"  {name:32} {number:>12,}" for name, number in sorted(tally.cases.items())),
        "faults:",
        *(f"  {fault:32} {tally.faults[fault]:>12,}" for fault in Fault if tally.faults[fault]),
        f"troubles: {len(tally.troubles)}",
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--schedules", type=int, default=10_000, help="of operations with up to three faults")
    parser.add_argument("--histories", type=int, default=100, help="long ones, of many workspaces")
    parser.add_argument("--seed", type=int, default=1, help="where histories begin, and which threes are drawn")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    asked = parser.parse_args(arguments)
    with in_silence():
        tried = chunks(planned(asked.schedules, asked.histories, asked.seed))
        total, began, told_at = Tally(), time.monotonic(), time.monotonic()
        with multiprocessing.Pool(asked.workers, maxtasksperchild=200) as pool:
            for tally in pool.imap_unordered(try_out, tried):
                total.add(tally)
                for trouble in tally.troubles:  # at once: a campaign takes hours, and may be cut short
                    _say(trouble)
                if time.monotonic() - told_at > TELL_SECONDS:
                    told_at = time.monotonic()
                    _say(report(total, told_at - began).splitlines()[0] + f", troubles: {len(total.troubles)}")
        _say(report(total, time.monotonic() - began))
    return 1 if total.troubles else 0


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (a command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
