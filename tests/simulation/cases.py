"""Any case, by its name."""

from collections.abc import Callable

from tests.simulation.faults import Case, NoSuchCase
from tests.simulation.history import HISTORIES, run_history
from tests.simulation.operations import OPERATIONS, Outcome, run_operation


def run(case: Case, trace: list[str] | None = None) -> Outcome:
    return _runner(case.name)(case, trace)


def _runner(name: str) -> Callable[[Case, list[str] | None], Outcome]:
    if name in OPERATIONS:
        return run_operation
    if name in HISTORIES:
        return run_history
    raise NoSuchCase(f"there is no '{name}'; there are {', '.join([*OPERATIONS, *HISTORIES])}")
