"""What the EventListener hears and reads: changes that concern someone, and rows as people see them."""

from uuid import uuid4

import pytest

from codehub.model.conditions import Conditions
from codehub.model.plans import GiveUp
from codehub.model.shown import Restorable
from codehub.model.states import Desired
from codehub.store.protocols import Channel, ControllerStore, Notice, Observed, ObserverStore, SeatLost
from tests.contracts.store_backends import Backend
from tests.contracts.store_ear import Ear
from tests.contracts.store_lives import BROKEN, archive_verified, archived, done, provisioning


@pytest.fixture
async def ear(backend: Backend) -> Ear:
    seat = await backend.take("listener")
    ear = Ear(seat, backend.feed(seat))
    await ear.listen()
    return ear


async def test_a_new_workspace_is_heard_of(backend: Backend, ear: Ear) -> None:
    row = await backend.create()
    assert await ear.heard() == [Notice(channel, row.id, row.owner_user_id) for channel in (Channel.SSE, Channel.WAKE)]


async def test_what_the_controller_does_is_heard_of(backend: Backend, controller: ControllerStore, ear: Ear) -> None:
    row = await provisioning(backend, controller)
    heard = await ear.heard()
    assert [notice.channel for notice in heard] == [Channel.SSE, Channel.SSE, Channel.WAKE]
    assert {notice.workspace_id for notice in heard} == {row.id}


async def test_what_the_observer_sees_is_nobodys_news(backend: Backend, observer: ObserverStore, ear: Ear) -> None:
    row = await backend.create()
    await ear.heard()
    await observer.write_conditions([Observed(row.id, Conditions(), row.created_at)])
    assert await ear.heard() == []


async def test_a_deletion_is_heard_of_once(backend: Backend, ear: Ear) -> None:
    row = await backend.create()
    await ear.heard()
    await backend.wish(row, Desired.DELETED)
    assert [notice.channel for notice in await ear.heard()] == [Channel.WAKE, Channel.DELETED]


async def test_who_has_lost_the_seat_hears_nothing(backend: Backend, ear: Ear) -> None:
    await backend.kill(ear.seat)
    await backend.create()
    with pytest.raises(SeatLost):
        await ear.heard()


async def test_rows_are_shown_as_people_see_them(backend: Backend, ear: Ear) -> None:
    row = await backend.create(Desired.RUNNING)
    await backend.wish(row, Desired.STANDBY)
    [shown] = await ear.feed.shown([row.id, uuid4()])
    assert (shown.id, shown.owner_user_id, shown.name) == (row.id, row.owner_user_id, row.name)
    assert (shown.desired_state, shown.desired_reason, shown.phase, shown.operation) == (
        "STANDBY",
        "owner",
        "PENDING",
        "NONE",
    )
    assert shown.revision == 2


async def test_a_workspace_is_shown_with_its_archive(backend: Backend, controller: ControllerStore, ear: Ear) -> None:
    row = await archive_verified(backend, controller)
    [shown] = await ear.feed.shown([row.id])
    assert shown.archive is not None
    assert (shown.archive.number, shown.archive.size, shown.archive.entries) == (1, 7, 3)
    assert shown.restorable is None


async def test_in_error_it_is_told_which_archives_are_left(
    backend: Backend, controller: ControllerStore, ear: Ear
) -> None:
    """With a volume the archive is one to choose, without one it is itself what was lost."""
    at_home = done(await controller.give_up(await archive_verified(backend, controller), GiveUp(BROKEN, 3)))
    [shown] = await ear.feed.shown([at_home.id])
    assert shown.archive is not None
    assert shown.restorable == Restorable(1, shown.archive.made_at)
    lost = done(await controller.give_up(await archived(backend, controller), GiveUp(BROKEN, 3)))
    [shown] = await ear.feed.shown([lost.id])
    assert (shown.archive is not None, shown.restorable) == (True, None)


async def test_deleted_workspaces_are_not_shown(backend: Backend, ear: Ear) -> None:
    row = done(await backend.wish(await backend.create(), Desired.DELETED))
    assert list(await ear.feed.shown([row.id])) == []
    assert list(await ear.feed.shown([])) == []
