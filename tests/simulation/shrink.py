"""From a history that goes wrong to the shortest one that still does."""

from dataclasses import replace

from tests.simulation.cases import run
from tests.simulation.faults import Case, Fault
from tests.simulation.operations import Outcome


def shrink(outcome: Outcome) -> Outcome:
    """The same trouble with as few faults as can be: first what a single one does, then one after the other is left
    out for as long as it still goes wrong."""
    assert outcome.failure is not None
    case = replace(outcome.case, faults=tuple(outcome.fired))
    found = _fails(case) or outcome
    if found is outcome:
        return outcome
    for fault in case.faults or ():
        alone = _fails(replace(case, faults=(fault,)))
        if alone is not None:
            return alone
    left = found.fired
    while (fewer := _without_one(case, left)) is not None:
        found, left = fewer
    return found


def _without_one(case: Case, faults: list[tuple[int, Fault]]) -> tuple[Outcome, list[tuple[int, Fault]]] | None:
    for place in range(len(faults)):
        fewer = faults[:place] + faults[place + 1 :]
        failed = _fails(replace(case, faults=tuple(fewer)))
        if failed is not None:
            return failed, fewer
    return None


def _fails(case: Case) -> Outcome | None:
    outcome = run(case)
    return outcome if outcome.failure is not None else None
