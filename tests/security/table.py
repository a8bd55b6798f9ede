"""The controls and advisories as they are written down, and what can be said of the tests that they name."""

import importlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent
DOCUMENTS = TESTS.parent / "docs"
MISSING_PARTS = ("needs root", "only root can do this", "no network here", "needs the Debian package")
"""How the reason of a skip begins where a part of the machine is missing, which is no fault of the test."""


@dataclass(frozen=True)
class Control:
    name: str
    promise: str
    tests: tuple[str, ...]
    otherwise: str = ""
    """What codehub does instead of what is usual, and why."""
    document: str = ""
    """Where more is said of that."""


@dataclass(frozen=True)
class Advisory:
    name: str
    what: str
    tests: tuple[str, ...]


def controls() -> list[Control]:
    return [
        Control(name, told["promise"], tuple(told["tests"]), told.get("otherwise", ""), told.get("document", ""))
        for name, told in _read("controls.toml").items()
    ]


def advisories() -> list[Advisory]:
    return [Advisory(name, told["what"], tuple(told["tests"])) for name, told in _read("advisories.toml").items()]


def _read(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads((HERE / name).read_text())


def faults(tests: Iterable[str]) -> list[str]:
    """Of tests that are not there, or that do not run where all parts of the machine are."""
    return [fault for test in tests if (fault := _fault(test))]


def _fault(test: str) -> str | None:
    file, _, name = test.partition("::")
    if not (TESTS / file).exists():
        return f"{file} is not there"
    module = importlib.import_module(f"tests.{file.removesuffix('.py').replace('/', '.')}")
    function = getattr(module, name, None)
    if function is None:
        return f"{test} is not there"
    marks = [*_marks(module), *_marks(function)]
    reasons = [str(mark.kwargs.get("reason", "")) for mark in marks if mark.name in ("skip", "skipif", "xfail")]
    unexcused = [reason for reason in reasons if not reason.startswith(MISSING_PARTS)]
    return f"{test} may not run: {unexcused}" if unexcused else None


def _marks(marked: object) -> list[pytest.Mark]:
    found = getattr(marked, "pytestmark", [])
    listed = found if isinstance(found, list) else [found]
    return [mark.mark if isinstance(mark, pytest.MarkDecorator) else mark for mark in listed]


def as_markdown() -> str:
    """The table of docs/security.md."""
    lines = ["| | codehub promises | proven in |", "|---|---|---|"]
    for control in controls():
        files = dict.fromkeys(test.partition("::")[0] for test in control.tests)
        proofs = ", ".join(f"[{Path(file).stem.removeprefix('test_')}](../tests/{file})" for file in files)
        aside = f" *Otherwise: {control.otherwise}*" if control.otherwise else ""
        lines.append(f"| {control.name} | {control.promise}{aside} | {proofs} |")
    lines += ["", "| advisory | what it was | proven in |", "|---|---|---|"]
    for advisory in advisories():
        files = dict.fromkeys(test.partition("::")[0] for test in advisory.tests)
        proofs = ", ".join(f"[{Path(file).stem.removeprefix('test_')}](../tests/{file})" for file in files)
        lines.append(f"| {advisory.name} | {advisory.what} | {proofs} |")
    return "\n".join(lines) + "\n"
