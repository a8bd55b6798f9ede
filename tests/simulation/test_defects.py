"""The simulation finds bugs: each of these defects, put into the product for a moment, is found."""

import pytest

from tests.simulation.defects import DEFECTS, find


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found(name: str) -> None:
    found, tried = find(name)
    assert found is not None, f"not found in {tried} cases"


def test_there_are_enough_of_them() -> None:
    assert len(DEFECTS) >= 12
