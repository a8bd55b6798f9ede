"""Runs mutmut on one part of the code, prints the score and every change that no test noticed, and fails below 95 %.
Run by scripts/mutate."""

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from _pytest.nodes import Node
from mutmut.__main__ import cli
from mutmut.configuration import config
from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code
from mutmut.utils.file_utils import walk_mutatable_files

FOLDER = Path("mutants")
LEAST_SCORE = 0.95
NOTICED = {"killed", "timeout"}


@dataclass(frozen=True)
class Part:
    """Modules, and the tests that are quick enough to be run against every change of them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()
    patience: float = 15.0
    """How many times longer than usual the tests of a change may take before it counts as noticed."""


PARTS = {
    # Without the walk, which takes longer than all the others together.
    "decide": Part(("decide/*",), ("tests/decide",), ("--ignore=tests/decide/test_walk.py",)),
    # Whatever decides whether a home is whole: the job, what it is lent and ordered, what its end is taken for, and how
    # an archive is looked at. Without what starts a SeaweedFS, and without kills and random homes, which take minutes.
    "archive": Part(
        (
            *("job/*", "archives/empty.py", "archives/lend.py", "archives/presign.py"),
            *(f"coordinators/{name}.py" for name in ("archive_acts", "archive_look", "job_runner")),
        ),
        (
            *(f"tests/job/test_{name}.py" for name in ("directory_place", "home", "marker", "order", "pipe")),
            *(f"tests/job/test_{name}.py" for name in ("programs", "progress", "read_ahead", "s3_place", "tar_index")),
            "tests/job/test_stages.py::test_what_came_after_the_survey_is_noticed",
            *("tests/archives/test_lend.py", "tests/archives/test_lent_urls.py"),
            *("tests/coordinators/test_archive_acts.py", "tests/coordinators/test_store_look.py"),
        ),
        ("-k", "not seaweedfs and not whoever_archives_into_s3"),
        patience=5.0,
    ),
}


def main(name: str) -> int:
    part = PARTS[name]
    Node._nodeid = property(lambda node: node.nodeid)  # noqa: SLF001 - mutmut 3.8 knows no pytest 9.2
    shutil.rmtree(FOLDER, ignore_errors=True)  # a score from an earlier run is not the score of this tree
    settings = config()
    settings.only_mutate = [f"src/codehub/{module}" for module in part.modules]
    settings.pytest_add_cli_args_test_selection = list(part.tests)
    settings.pytest_add_cli_args = ["-p", "no:randomly", *part.without]  # the same order for every change
    settings.timeout_multiplier = part.patience
    cli(["run", "--max-children", str(os.cpu_count())], standalone_mode=False)
    return report(name)


def report(name: str) -> int:
    outcomes = list(changes())
    alive = [(path, mutant) for path, mutant, outcome in outcomes if outcome not in NOTICED]
    slow = sum(outcome == "timeout" for _, _, outcome in outcomes)
    for path, mutant in alive:
        print(f"\n{mutant}\n{get_diff_for_mutant(mutant, path=path)}")
    noticed, score = len(outcomes) - len(alive), 1 - len(alive) / len(outcomes)
    print(f"{name}: killed {noticed} ({slow} of them by time), survived {len(alive)}, ", end="")
    print(f"in all {len(outcomes)}: score {score:.1%}")
    return 0 if score >= LEAST_SCORE else 1


def changes() -> Iterator[tuple[Path, str, str]]:
    """Every change that was tried: where, its name, and what became of it."""
    for path in walk_mutatable_files():
        tried = SourceFileMutationData(path=path)
        tried.load()
        for mutant, exit_code in tried.exit_code_by_key.items():
            yield path, mutant, status_by_exit_code[exit_code]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
