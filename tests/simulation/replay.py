"""Plays one case again and tells it step by step: `python -m tests.simulation.replay archive:12crash`. What goes wrong
is told in its shortest form."""

import sys

from tests.simulation.cases import run
from tests.simulation.faults import parse
from tests.simulation.shrink import shrink
from tests.simulation.silence import in_silence


def replay(text: str) -> tuple[str, bool]:
    """The story, and whether it ended well."""
    with in_silence():
        outcome = run(parse(text))
        if outcome.failure is not None:
            outcome = shrink(outcome)
        trace: list[str] = []
        told = run(outcome.case, trace)
    lines = [*trace, "", f"case:    {outcome.case}", f"steps:   {told.steps} in {told.seconds:.1f} s of their time"]
    lines.append(f"trouble: {told.failure or 'none'}")
    return "\n".join(lines), told.failure is None


if __name__ == "__main__":
    story, ended_well = replay(sys.argv[1])
    print(story)  # noqa: T201 (a command)
    sys.exit(0 if ended_well else 1)
