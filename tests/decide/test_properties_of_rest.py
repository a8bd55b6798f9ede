"""What sleep, collection, observation and deletion never do, whatever the rows say; named after the contracts."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from codehub.decide.idle import IdlePolicy, Sleep, idle
from codehub.decide.observe import observe
from codehub.decide.orphans import (
    CollectPolicy,
    Found,
    Generation,
    Ground,
    OrphanKind,
    Round,
    collect,
    named_archives,
)
from codehub.model.conditions import Conditions
from codehub.model.sightings import ArchiveState, ContainerState, SeenArchive, Sighting
from codehub.model.states import Desired, Operation, Phase
from codehub.model.workspace import Workspace
from tests.decide.builders import KEY, T0, after
from tests.decide.canonical import State, canonical
from tests.decide.strategies import KEYS, VOLUMES, WORKSPACE_IDS, Dice, any_row, any_rows, bounded, drawn, written_row
from tests.decide.transitions import own_key
from tests.decide.walk import Edge, seen_whole, successors
from tests.decide.world import Archive, Container, Content, World

COLLECT = CollectPolicy(
    grace=timedelta(seconds=2), max_share=0.5, generations=1, undelete_window=timedelta(seconds=600), always_allowed=2
)
IDLE = IdlePolicy(standby_after_seconds=600, archive_after_seconds=1800)


class Listing:
    """One round's input: things of all kinds, rows that may know them, generations and notes."""

    def __init__(self, dice: Dice) -> None:
        self.rows = {id_: replace(any_row(dice), id=id_) for id_ in WORKSPACE_IDS[: dice.pick(0, 1, 2)]}
        self.found = [self._thing(dice) for _ in range(dice.pick(*range(9)))]
        self.generations = [
            Generation(dice.pick(*KEYS), dice.pick(*WORKSPACE_IDS), dice.time(), dice.pick(True, False, False))
            for _ in range(dice.pick(0, 1, 2, 3))
        ]
        self.noted = {thing: dice.time() for thing in self.found if dice.pick(True, True, False)}
        self.whole = frozenset(each for each in (KEY, *KEYS, *VOLUMES) if dice.pick(True, False))
        self.shared = dice.pick(True, False)

    @staticmethod
    def _thing(dice: Dice) -> Found:
        kind = dice.pick(*OrphanKind)
        keys = {OrphanKind.ARCHIVE: (KEY, *KEYS), OrphanKind.VOLUME: VOLUMES}
        return Found(kind, dice.pick(*keys.get(kind, ("c-1", "c-2"))), dice.pick(*WORKSPACE_IDS))

    def round(self) -> Round:
        named = named_archives(self.rows.values(), self.generations, COLLECT, T0)
        return collect(self.found, Ground(self.rows, named, self.whole, self.shared), self.noted, COLLECT, T0)

    def __repr__(self) -> str:
        return f"Listing(found={self.found}, rows={self.rows}, generations={self.generations}, noted={self.noted})"


listings = drawn(Listing, 300)


def is_living(row: Workspace) -> bool:
    """Not deleted, or still to be brought back."""
    return row.deleted_at is None or T0 - row.deleted_at < COLLECT.undelete_window


def contract_9_protects(thing: Found, listing: Listing) -> bool:
    """The contract's own words, without the ways that the collector goes about it."""
    living = [row for row in listing.rows.values() if is_living(row)]
    maker = listing.rows.get(thing.workspace_id)
    match thing.kind:
        case OrphanKind.ARCHIVE:
            return (
                (maker is None and listing.shared)
                or any(thing.key in (row.archive_key, own_key(row)) for row in living)
                or any(generation.kept and generation.key == thing.key for generation in listing.generations)
                or (maker is not None and maker.deleted_at is None and maker.phase is Phase.ERROR)
                or (maker is not None and maker.deleted_at is not None and is_living(maker))
            )
        case OrphanKind.VOLUME:
            return (
                maker is None
                or thing.key == maker.home_volume
                or maker.operation is not Operation.NONE
                or (maker.deleted_at is None and (maker.home_volume or maker.archive_key) not in listing.whole)
            )
        case OrphanKind.CONTAINER:
            return maker is not None
        case OrphanKind.UPLOAD:
            return listing.shared if maker is None else maker.operation is not Operation.NONE
        case OrphanKind.JOB:
            return maker is not None and maker.operation is not Operation.NONE


@bounded
@given(listings)
def test_contract_9_the_collector_never_takes_or_notes_what_is_protected(listing: Listing) -> None:
    round_ = listing.round()
    assert not [thing for thing in (*round_.take, *round_.note) if contract_9_protects(thing, listing)]


@bounded
@given(listings)
def test_contract_9_the_collector_takes_nothing_before_its_grace_is_over(listing: Listing) -> None:
    assert all(T0 - listing.noted[thing] >= COLLECT.grace for thing in listing.round().take)


@bounded
@given(listings)
def test_contract_9_the_collector_takes_no_more_than_its_share_or_nothing(listing: Listing) -> None:
    round_, things = listing.round(), len(set(listing.found))
    assert len(round_.take) <= max(COLLECT.always_allowed, things * COLLECT.max_share)
    assert round_.halted is None or not round_.take


@bounded
@given(listings)
def test_contract_9_everything_found_is_kept_or_on_its_way_out(listing: Listing) -> None:
    round_ = listing.round()
    kept = {each.found for each in round_.keep}
    going = {thing for thing in listing.noted if thing not in round_.forget}
    assert {*round_.wait} <= going
    assert kept.isdisjoint(going | {*round_.note})
    assert kept | going | {*round_.note} == {*listing.found}
    assert {*round_.take} <= going


@bounded
@given(any_rows, st.integers(0, 1200).map(after))
def test_contract_14_an_idle_clock_never_ends_the_day_of_a_workspace_in_use(row: Workspace, now: datetime) -> None:
    if not isinstance(idle(row, IDLE, None, now), Sleep):
        return
    assert row.operation is Operation.NONE
    assert row.phase.value == row.desired_state.value
    assert row.phase_changed_at is not None
    assert now > row.phase_changed_at
    if row.phase is Phase.RUNNING and row.standby_after_seconds is None:
        wait = timedelta(seconds=IDLE.standby_after_seconds) + IDLE.flush_interval
        assert now - row.phase_changed_at > wait
        assert row.last_access_at is None or now - row.last_access_at > wait


@bounded
@given(any_rows, st.integers(0, 1200).map(after))
def test_contract_14_a_hold_keeps_every_running_workspace_awake(row: Workspace, now: datetime) -> None:
    running = replace(row, phase=Phase.RUNNING, desired_state=Desired.RUNNING)
    assert not isinstance(idle(running, IDLE, now, now), Sleep)


def sighting(dice: Dice, at: datetime) -> Sighting:
    archive = SeenArchive(dice.pick(KEY, *KEYS), dice.pick(*ArchiveState), at)
    return Sighting(
        at,
        containers=dice.pick(None, ()),
        volumes=dice.pick(None, frozenset(), frozenset(VOLUMES[:1]), frozenset(VOLUMES)),
        archive=dice.pick(None, archive),
    )


@bounded
@given(any_rows, drawn(lambda dice: (sighting(dice, after(10**4)), sighting(dice, after(10**4 + 1))), 20))
def test_contract_2_looks_that_come_back_out_of_order_are_taken_in_the_order_they_began(
    row: Workspace, looks: tuple[Sighting, Sighting]
) -> None:
    earlier, later = looks
    newest = observe(row, later)
    behind = observe(replace(row, conditions=newest), earlier)
    assert later.volumes is None or behind.volume == newest.volume
    assert later.containers is None or behind.container == newest.container
    assert later.archive is None or later.archive.key != row.archive_key or behind.archive == newest.archive


@bounded
@given(any_rows)
def test_contract_1_what_was_not_looked_at_keeps_its_last_value(row: Workspace) -> None:
    blind = observe(row, Sighting(after(10**4)))
    assert (blind.volume, blind.container) == (row.conditions.volume, row.conditions.container)
    if row.archive_key is not None:
        assert blind.archive == row.conditions.archive


def deleted(dice: Dice) -> State:
    """A workspace deleted at any moment of its life, in a world that is as the row sees it."""
    row = replace(written_row(dice), desired_state=Desired.DELETED, deleted_at=T0, conditions=Conditions())
    volume = row.current_volume or "older"
    archives = tuple((key, Archive(ArchiveState.WHOLE, Content.LIVE)) for key in {row.archive_key, own_key(row)} if key)
    world = World(
        container=dice.pick(None, *(Container(state, volume) for state in ContainerState)),
        volumes=((volume, Content.LIVE),) if dice.pick(True, True, False) else (),
        archives=archives if dice.pick(True, True, False) else (),
    )
    return canonical(seen_whole(row, world), world)


@settings(bounded, max_examples=100)
@given(drawn(deleted, 120), st.lists(st.integers(0, 50), max_size=12))
def test_contract_10_a_deleted_workspace_reaches_deleted_once_the_faults_end(state: State, faults: list[int]) -> None:
    for fault in faults:
        following = [state for _, state in successors(state)]
        state = following[fault % len(following)] if following else state
    for _ in range(20):
        state = next((calm for edge, calm in successors(state) if edge is Edge.CALM), state)
    row, world = state
    assert (row.phase, row.operation, world.container) == (Phase.DELETED, Operation.NONE, None)
    assert world.volume(row.current_volume) is None
