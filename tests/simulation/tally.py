"""What came of very many cases."""

from collections import Counter
from dataclasses import dataclass, field

from tests.simulation.faults import Fault
from tests.simulation.operations import Outcome
from tests.simulation.schedules import MOST


@dataclass
class Tally:
    """Of some of the cases, or of all of them."""

    cases: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By their names, and how many faults they have; those whose seed has them count as none."""
    faults: Counter[str] = field(default_factory=Counter)
    ended_before: int = 0
    """In so many the last fault never came: they were at their end."""
    steps: int = 0
    seconds: float = 0.0
    """Of their own time."""
    troubles: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.cases.total()

    def count(self, outcome: Outcome) -> None:
        planned = outcome.case.faults or ()
        self.cases[outcome.case.name, len(planned)] += 1
        self.faults.update(str(fault) for _, fault in outcome.fired)
        self.ended_before += len(outcome.fired) < len(planned)
        self.steps += outcome.steps
        self.seconds += outcome.seconds

    def add(self, other: "Tally") -> None:
        self.cases.update(other.cases)
        self.faults.update(other.faults)
        self.ended_before += other.ended_before
        self.steps += other.steps
        self.seconds += other.seconds
        self.troubles += other.troubles

    def so_far(self, seconds: float) -> str:
        rate = self.done / seconds
        return f"{self.done:,} histories in {seconds:,.0f} s ({rate:,.0f} per second), troubles: {len(self.troubles)}"

    def report(self, seconds: float) -> str:
        names = sorted({name for name, _ in self.cases})
        columns = range(MOST + 1)
        lines = [
            self.so_far(seconds),
            f"{self.steps:,} steps, {self.seconds / 3600:,.1f} hours of their time",
            f"{self.ended_before:,} were at their end before their last fault",
            f"{'faults':24}" + "".join(f"{faults:>12}" for faults in columns),
            *(f"{name:24}" + "".join(f"{self.cases[name, each]:>12,}" for each in columns) for name in names),
            f"{'all':24}" + "".join(f"{sum(self.cases[name, each] for name in names):>12,}" for each in columns),
            *(f"  {fault:22}{self.faults[fault]:>12,}" for fault in Fault if self.faults[fault]),
        ]
        return "\n".join(lines)
