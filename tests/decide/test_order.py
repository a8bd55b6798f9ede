"""What came first is known without a clock: a look has its place among the acts and looks that its row records."""

from datetime import datetime, timedelta

import pytest

from codehub.decide.observe import observe
from codehub.decide.order import TICK, counts, placed
from codehub.decide.view import Container, view
from codehub.model.sightings import ArchiveState, SeenArchive, Sighting
from tests.decide.builders import HOME, KEY, T0, container_seen, running

LATER = T0 + timedelta(hours=1)
"""What the database's clock had said before it was set back to T0."""
LOOK = Sighting(T0, (), frozenset({HOME}), SeenArchive(KEY, ArchiveState.WHOLE, T0))


@pytest.mark.parametrize("observed_at", [None, T0 - TICK])
@pytest.mark.parametrize("acted_at", [None, T0])
def test_a_clock_that_goes_on_is_believed(observed_at: datetime | None, acted_at: datetime | None) -> None:
    assert placed(running(observed_at=observed_at, acted_at=acted_at), LOOK, acted_at) == LOOK


@pytest.mark.parametrize("observed_at", [T0, LATER])
def test_a_look_is_later_than_the_one_before_it(observed_at: datetime) -> None:
    look = placed(running(observed_at=observed_at), LOOK, None)
    assert look.looked_at == observed_at + TICK
    assert look.archive == SeenArchive(KEY, ArchiveState.WHOLE, observed_at + TICK)
    assert (look.containers, look.volumes) == (LOOK.containers, LOOK.volumes)


def test_an_archive_that_was_looked_at_later_stays_so() -> None:
    archive = SeenArchive(KEY, ArchiveState.WHOLE, LATER)
    assert placed(running(observed_at=T0), Sighting(T0, archive=archive), None).archive == archive


def test_where_no_archive_was_looked_at_none_was_seen() -> None:
    assert placed(running(observed_at=LATER), Sighting(T0, ()), None) == Sighting(LATER + TICK, ())


def test_a_look_is_not_earlier_than_an_act_that_was_recorded_before_it() -> None:
    row = running(acted_at=LATER)
    assert placed(row, LOOK, LATER).looked_at == LATER
    assert counts(row, placed(row, LOOK, LATER))


@pytest.mark.parametrize("acted_before", [None, LATER - TICK])
def test_an_act_that_may_have_ended_during_the_look_is_later(acted_before: datetime | None) -> None:
    row = running(observed_at=None, acted_at=LATER)
    assert placed(row, LOOK, acted_before) == LOOK
    assert not counts(row, LOOK)


@pytest.mark.parametrize("acted_at", [None, T0, T0 - TICK])
def test_a_look_counts_that_is_not_earlier_than_the_last_act(acted_at: datetime | None) -> None:
    assert counts(running(acted_at=acted_at), LOOK)


def test_what_is_seen_is_believed_at_once_after_the_clock_was_set_back() -> None:
    row = running(observed_at=LATER, acted_at=LATER)
    assert view(row).container is not Container.NONE
    seen = observe(row, placed(row, LOOK, LATER))
    assert view(running(conditions=seen, acted_at=LATER)).container is Container.NONE


def test_what_was_seen_before_the_act_is_not() -> None:
    ahead = container_seen()
    row = running(observed_at=ahead.observed_from, acted_at=ahead.observed_from + TICK)
    assert view(row).container is Container.UNKNOWN
