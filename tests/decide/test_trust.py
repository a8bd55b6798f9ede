"""Whether a listing of volumes may be believed."""

import pytest

from codehub.decide.trust import Doubted, Trusted, trust


@pytest.mark.parametrize("recorded", [None, "engine-a"])
def test_an_engine_that_is_new_or_the_recorded_one_is_trusted(recorded: str | None) -> None:
    assert trust(recorded, "engine-a", homes=10, homes_missing=0) == Trusted()


@pytest.mark.parametrize("missing", [0, 1, 10])
def test_another_engine_than_the_recorded_one_is_doubted_whatever_it_shows(missing: int) -> None:
    doubted = trust("engine-a", "engine-b", homes=10, homes_missing=missing)
    assert doubted == Doubted("the engine is engine-b, but the homes were made on engine-a")


@pytest.mark.parametrize(("homes", "missing"), [(10, 2), (15, 3), (35, 7), (100, 20), (100_000, 20_000)])
def test_a_fifth_of_all_homes_gone_is_believed_and_one_more_is_not(homes: int, missing: int) -> None:
    assert trust(None, "engine-a", homes, missing) == Trusted()
    doubted = trust(None, "engine-a", homes, missing + 1)
    assert doubted == Doubted(f"{missing + 1} of {homes} homes are gone at once")


@pytest.mark.parametrize("homes", [1, 2, 3, 4])
def test_a_single_lost_home_is_believed_however_few_there_are(homes: int) -> None:
    assert trust(None, "engine-a", homes, 1) == Trusted()


@pytest.mark.parametrize("homes", [2, 3, 4, 9])
def test_two_lost_homes_of_a_few_are_doubted(homes: int) -> None:
    assert trust(None, "engine-a", homes, 2) == Doubted(f"2 of {homes} homes are gone at once")


def test_an_installation_without_homes_is_trusted() -> None:
    assert trust(None, "engine-a", homes=0, homes_missing=0) == Trusted()
