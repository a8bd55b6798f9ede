"""Runs mutmut as pyproject.toml says, prints the score and fails below 95 %. Run by scripts/mutate."""

import json
import os
import shutil
import sys
from pathlib import Path

from _pytest.nodes import Node
from mutmut.__main__ import cli

FOLDER = Path("mutants")
LEAST_SCORE = 0.95


def main() -> int:
    Node._nodeid = property(lambda node: node.nodeid)  # noqa: SLF001 - mutmut 3.8 knows no pytest 9.2
    shutil.rmtree(FOLDER, ignore_errors=True)  # a score from an earlier run is not the score of this tree
    cli(["run", "--max-children", str(os.cpu_count())], standalone_mode=False)
    cli(["export-cicd-stats"], standalone_mode=False)
    stats = json.loads((FOLDER / "mutmut-cicd-stats.json").read_text())
    noticed = stats["killed"] + stats["timeout"]
    score = noticed / stats["total"]
    print(f"killed {noticed} ({stats['timeout']} of them by time), survived {stats['total'] - noticed}, ", end="")
    print(f"in all {stats['total']}: score {score:.1%}")
    return 0 if score >= LEAST_SCORE else 1


if __name__ == "__main__":
    sys.exit(main())
