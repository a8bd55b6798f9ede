"""The table of controls is whole: a control without a test fails here, and so does a test that is not there."""

import pytest

from tests.security import table
from tests.security.table import Control, advisories, controls, faults

CONTROLS = controls()


def test_no_number_is_left_out() -> None:
    assert [control.name for control in CONTROLS] == [f"C{number}" for number in range(1, 41)]


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_every_control_has_its_tests(control: Control) -> None:
    assert control.promise.endswith(".")
    assert control.tests or control.otherwise
    assert faults(control.tests) == []


@pytest.mark.parametrize("control", [each for each in CONTROLS if each.otherwise], ids=lambda control: control.name)
def test_what_is_otherwise_is_told_where_people_read(control: Control) -> None:
    assert (table.DOCUMENTS / control.document).is_file()


def test_few_promises_are_not_proven() -> None:
    assert [control.name for control in CONTROLS if not control.tests] == ["C19"]


def test_there_are_advisories_enough() -> None:
    assert len(advisories()) >= 25


def test_every_advisory_has_its_tests() -> None:
    assert [(each.name, faults(each.tests)) for each in advisories() if not each.tests or faults(each.tests)] == []


def test_a_test_that_is_not_there_or_does_not_run_is_found() -> None:
    assert faults(["security/test_nothing.py::test_it"]) == ["security/test_nothing.py is not there"]
    assert faults(["security/test_controls.py::test_it"]) == ["security/test_controls.py::test_it is not there"]
    assert faults(["runtimes/docker/test_isolation.py::test_the_host_is_closed_to_it_by_our_rules"]) == []
    (unexcused,) = faults(["security/test_controls.py::sleeping"])
    assert "somebody was tired" in unexcused


@pytest.mark.skip(reason="somebody was tired")
def sleeping() -> None:
    """No test: what one would look like that is not run."""


def test_the_document_shows_the_table() -> None:
    """Written anew by `python -m tests.security --write`."""
    assert table.as_markdown() in (table.DOCUMENTS / "security.md").read_text()
