"""What the Observer reads and writes: pages without gaps, and observations that never go back in time."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from codehub import clock
from codehub.model.conditions import Conditions
from codehub.model.plans import Withdraw, Withdrawal
from codehub.model.states import Phase
from codehub.model.workspace import Workspace
from codehub.store.protocols import ControllerStore, Listing, Observed, ObserverStore
from tests.contracts.store_backends import AHEAD, Backend
from tests.contracts.store_lives import archived, done, made, provisioning, standby
from tests.decide.builders import archive_seen, container_seen, volume_seen

NOW = clock.now() + AHEAD
EVERYTHING = Conditions(volume=volume_seen(), archive=archive_seen(), container=container_seen(), healthy=volume_seen())


def seen(workspace_id: UUID, seconds: float = 0, conditions: Conditions = EVERYTHING) -> Observed:
    return Observed(workspace_id, conditions, NOW + timedelta(seconds=seconds))


async def test_conditions_come_back_as_they_were_written(backend: Backend, observer: ObserverStore) -> None:
    row = await backend.create()
    assert await observer.write_conditions([seen(row.id)]) == 1
    written = await backend.row(row.id)
    assert (written.conditions, written.observed_at) == (EVERYTHING, NOW)


@pytest.mark.parametrize("seconds", [-1, 0], ids=["older", "the same look again"])
async def test_a_newer_observation_is_never_overwritten(
    backend: Backend, observer: ObserverStore, seconds: float
) -> None:
    row = await backend.create()
    await observer.write_conditions([seen(row.id)])
    assert await observer.write_conditions([seen(row.id, seconds, Conditions())]) == 0
    assert (await backend.row(row.id)).conditions == EVERYTHING
    assert await observer.write_conditions([seen(row.id, 1, Conditions())]) == 1
    assert (await backend.row(row.id)).conditions == Conditions()


async def test_what_was_seen_of_unknown_workspaces_is_ignored(backend: Backend, observer: ObserverStore) -> None:
    row = await backend.create()
    assert await observer.write_conditions([seen(uuid4()), seen(row.id)]) == 1
    assert await observer.write_conditions([]) == 0


async def test_a_thousand_observations_are_one_batch(backend: Backend, observer: ObserverStore) -> None:
    ids = [(await backend.create()).id for _ in range(20)]
    batch = [seen(each) for each in [*ids, *(uuid4() for _ in range(980))]]
    assert await observer.write_conditions(batch) == 20
    assert len(await observer.workspaces([each.workspace_id for each in batch])) == 20


async def test_a_new_observation_unsettles_until_it_is_judged(backend: Backend, observer: ObserverStore) -> None:
    row = await backend.create()
    await observer.write_conditions([seen(row.id)])
    assert [each.id for each in await observer.unsettled(None, 10)] == [row.id]


async def test_rows_are_read_by_their_ids(backend: Backend, observer: ObserverStore) -> None:
    rows = [await backend.create() for _ in range(3)]
    found = await observer.workspaces([rows[0].id, rows[2].id, uuid4()])
    assert sorted(found, key=lambda row: row.id) == sorted([rows[0], rows[2]], key=lambda row: row.id)
    assert list(await observer.workspaces([])) == []


async def test_targets_are_all_that_may_have_a_container_or_volume(
    backend: Backend, observer: ObserverStore, controller: ControllerStore
) -> None:
    never_seen = await backend.create()
    with_home = await standby(backend, controller)
    under_way = await provisioning(backend, controller)
    left_behind = await provisioning(backend, controller)
    await controller.withdraw(left_behind, Withdraw(Withdrawal.WISH_CHANGED), Phase.PENDING)
    asleep = await archived(backend, controller)
    nothing_yet = await backend.create()
    await observer.write_conditions([seen(row.id) for row in (with_home, under_way, left_behind, asleep, nothing_yet)])
    expected = sorted(row.id for row in (never_seen, with_home, under_way, left_behind))
    assert [row.id for row in await observer.targets(None, 10)] == expected
    assert [row.id for row in await observer.targets(expected[1], 1)] == [expected[2]]


async def test_pages_of_archived_workspaces_have_no_gap_and_no_repetition(
    backend: Backend, observer: ObserverStore, controller: ControllerStore
) -> None:
    ids = sorted([(await archived(backend, controller)).id for _ in range(3)])
    await standby(backend, controller)
    first = await observer.archived(None, 2)
    rest = await observer.archived(first[-1].id, 2)
    assert [row.id for row in [*first, *rest]] == ids


async def test_an_archive_is_unseen_until_a_look_at_that_very_archive(
    backend: Backend, observer: ObserverStore, controller: ControllerStore
) -> None:
    row = await archived(backend, controller)

    async def is_unseen() -> bool:
        return row.id in [each.id for each in await observer.unseen_archives(10)]

    assert await is_unseen()
    await observer.write_conditions([seen(row.id, 0, Conditions(archive=archive_seen("another key")))])
    assert await is_unseen()
    await observer.write_conditions([seen(row.id, 1, Conditions(archive=archive_seen(key_of(row))))])
    assert not await is_unseen()


def key_of(row: Workspace) -> str:
    return made(row).key


async def test_a_listing_replaces_the_one_before_of_its_kind(observer: ObserverStore) -> None:
    await observer.record_listing(Listing("volumes", NOW, "docker"))
    await observer.record_listing(Listing("containers", NOW, "docker"))
    await observer.record_listing(Listing("volumes", NOW + timedelta(seconds=1), None))
    assert list(await observer.listings()) == [
        Listing("containers", NOW, "docker"),
        Listing("volumes", NOW + timedelta(seconds=1), None),
    ]


async def test_the_engine_of_the_last_listing_is_known_to_the_controller(
    observer: ObserverStore, controller: ControllerStore
) -> None:
    assert await controller.engine("runtime") is None
    await observer.record_listing(Listing("runtime", NOW, "the first"))
    assert await controller.engine("runtime") == "the first"


async def test_a_row_is_read_whole_by_observer_and_controller(
    backend: Backend, observer: ObserverStore, controller: ControllerStore
) -> None:
    row = await standby(backend, controller)
    await observer.write_conditions([seen(row.id)])
    assert done(await controller.workspace(row.id)) == (await observer.workspaces([row.id]))[0]
