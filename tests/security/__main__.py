"""The controls, what codehub promises by each, and the tests that prove it: python -m tests.security

--run runs those tests and tells what came of them; --write writes the table of docs/security.md anew."""

import argparse
import sys
from collections import Counter, defaultdict

import pytest
from rich.console import Console
from rich.table import Table

from tests.security import table

WORST_FIRST = ("failed", "skipped", "passed")


class Outcomes:
    """A plugin that remembers what came of each test, of all of its parameters together."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.seen[report.nodeid.partition("[")[0].removeprefix("tests/")][report.outcome] += 1

    def of(self, test: str) -> str:
        counted = self.seen.get(test)
        if not counted:
            return "did not run"
        return ", ".join(f"{counted[outcome]} {outcome}" for outcome in WORST_FIRST if counted[outcome])


def run(options: list[str]) -> tuple[Outcomes, int]:
    outcomes = Outcomes()
    tests = {test for control in table.controls() for test in control.tests}
    tests |= {test for advisory in table.advisories() for test in advisory.tests}
    wanted = sorted(f"{table.TESTS}/{test}" for test in tests)
    return outcomes, int(pytest.main(["-q", "-p", "no:cacheprovider", *options, *wanted], plugins=[outcomes]))


def write() -> None:
    document = table.DOCUMENTS / "security.md"
    before, begin, rest = document.read_text().partition("| | codehub promises |")
    _, end, after = rest.partition("\n\n## ")
    document.write_text(before + table.as_markdown() + end[1:] + after if begin else before + table.as_markdown())


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.security", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", action="store_true", help="run the tests; further options go to pytest")
    parser.add_argument("--write", action="store_true", help="write docs/security.md")
    chosen, options = parser.parse_known_args()
    if chosen.write:
        write()
        return 0
    outcomes, code = run(options) if chosen.run else (None, 0)
    shown = Table("", "codehub promises", "tests", *(["came of it"] if outcomes else []), show_lines=True)
    for control in table.controls():
        proofs = "\n".join(control.tests) or "none"
        aside = f"\n[italic]otherwise: {control.otherwise}[/italic]" if control.otherwise else ""
        came = ["\n".join(map(outcomes.of, control.tests))] if outcomes else []
        shown.add_row(control.name, control.promise + aside, proofs, *came)
    Console(width=None if sys.stdout.isatty() else 220).print(shown)
    return code


if __name__ == "__main__":
    sys.exit(main())
