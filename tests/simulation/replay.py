"""Plays one case again and tells it step by step: `python -m tests.simulation.replay archive:12crash`. What goes wrong
is told in its shortest form, and the command ends with 1."""

import argparse
import sys

from tests.simulation.cases import run
from tests.simulation.faults import NoSuchCase, parse
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


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.replay", description=__doc__)
    parser.add_argument(
        "case", help="as a campaign has told it: an operation, an order and faults at steps, or a history"
    )
    asked = parser.parse_args(arguments)
    try:
        story, ended_well = replay(asked.case)
    except NoSuchCase as error:
        parser.error(str(error))
    print(story)  # noqa: T201 (a command)
    return 0 if ended_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
