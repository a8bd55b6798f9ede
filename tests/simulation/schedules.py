"""Which cases there are: all ways in which a few steps of each operation go wrong. Each has a number of its own, so
that a campaign is a stretch of one long list."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain, combinations, product
from itertools import count as counting
from math import comb, gcd

from tests.simulation.faults import Case, Fault
from tests.simulation.operations import OPERATIONS, run_operation

MOST = 3
"""So many faults at once, and no more."""
KINDS = (Fault.CRASH, Fault.FREEZE, Fault.CUT, Fault.ERROR, Fault.LIE, Fault.WISH)
"""What goes wrong together with others; by itself anything does."""
BY_THE_CLOCK = frozenset({"collect", "collect_deleted"})
"""A grace runs by the database's clock there, and is over when that is set."""
SEEDS = 10
AFTERWARDS = 40
"""So many steps more an operation takes when something has gone wrong."""
GOLDEN = 0.618034
SELDOM = {"leave": 5}
"""What takes several times as long has its turn only every so many times."""

Number = tuple[str, int, int]
"""An operation, how many faults, and which of all with so many."""


@cache
def steps_of(name: str) -> int:
    """How many an operation takes when nothing goes wrong."""
    return run_operation(Case(name)).steps


@cache
def kinds_of(name: str, faults: int) -> list[tuple[Fault, ...]]:
    """What goes wrong first, second and third. Operations that begin alike are only told apart by a change of mind."""
    alone = [each for each in Fault if each is not Fault.CLOCK or name not in BY_THE_CLOCK]
    return [
        each
        for each in product(alone if faults == 1 else KINDS, repeat=faults)
        if Fault.WISH in each or _first_alike(name) == name
    ]


def _first_alike(name: str) -> str:
    kept = OPERATIONS[name]
    return next(each for each, known in OPERATIONS.items() if replace(known, other=kept.other) == kept)


def count(name: str, faults: int) -> int:
    return comb(steps_of(name), faults) * len(kinds_of(name, faults))


def case_of(number: Number, seed: int = 0) -> Case:
    name, faults, which = number
    kinds = kinds_of(name, faults)
    places = _places(steps_of(name), faults, which // len(kinds))
    return Case(name, seed, tuple(zip(places, kinds[which % len(kinds)], strict=True)))


def _places(steps: int, faults: int, which: int) -> Iterator[int]:
    """As `combinations` has them, without those before."""
    place = 0
    for left in range(faults - 1, -1, -1):
        while which >= (beginning_here := comb(steps - place - 1, left)):
            which -= beginning_here
            place += 1
        yield place
        place += 1


def cases(name: str, faults: int, seed: int = 0) -> Iterator[Case]:
    """All with so many faults at the steps that the operation takes by itself."""
    return (case_of((name, faults, which), seed) for which in range(count(name, faults)))


def all_numbers() -> Iterator[Number]:
    """Every case once: all with one fault, then by turns from each operation all with two and after them all with
    three."""
    for faults in range(2):
        for name in OPERATIONS:
            yield from ((name, faults, which) for which in range(count(name, faults)))
    yield from by_turns(2, MOST)


def by_turns(*faults: int) -> Iterator[Number]:
    """All with so many faults, and of each operation's from all over it: any beginning is spread over everything."""
    left = {name: chain(*(_all_over(name, each) for each in faults)) for name in OPERATIONS}
    for turn in counting():
        for name in [each for each in left if turn % SELDOM.get(each, 1) == 0]:
            number = next(left[name], None)
            if number is None:
                del left[name]
            else:
                yield number
        if not left:
            return


def _all_over(name: str, faults: int) -> Iterator[Number]:
    """In strides of the golden section, which meet everything once and leave no gap for long."""
    there = count(name, faults)
    stride = next(each for each in counting(int(there * GOLDEN) + 1) if gcd(each, there) == 1)
    return ((name, faults, turn * stride % there) for turn in range(there))


def around(name: str, what: str, *faults: Fault, within: int | None = None) -> Iterator[Case]:
    """The first of them where the operation does this, the others at any steps after it, or within so many, in several
    orders."""
    trace: list[str] = []
    taken = run_operation(Case(name), trace).steps
    words = [line.split() for line in trace if f" {what}" in line]
    first = [int(number) for _, number, *_ in words if number.isdigit()]
    for seed, step in product(range(SEEDS), first):
        last = taken + AFTERWARDS if within is None else step + 1 + within
        for places in combinations(range(step + 1, last), len(faults) - 1):
            yield Case(name, seed, tuple(zip((step, *places), faults, strict=True)))
