"""When the Observer looks at archives, and what it believes; and what is told of a store that breaks its promises."""

from collections.abc import Callable
from uuid import UUID

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.coordinators import observer as module
from codehub.model.conditions import Reason
from codehub.model.states import Desired, ErrorReason, Phase
from tests.coordinators.homes import archived, opened
from tests.coordinators.house import House, until


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """All archives are looked at again and again, two at a time."""
    monkeypatch.setattr(module, "ARCHIVES_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(module, "ARCHIVES_AT_ONCE", 6)
    monkeypatch.setattr(module, "WHOLE_LOOK_SECONDS", 0.2)


def take_away(house: House, key: str | None) -> Callable[[], object]:
    """How it is brought back."""
    file = house.relay_folder.with_name("archives") / str(key)
    hidden = file.rename(file.with_suffix(".hidden"))
    return lambda: hidden.rename(file)


async def until_missing(house: House, workspace_id: UUID) -> None:
    async def seen() -> bool | None:
        condition = (await house.row(workspace_id)).conditions.archive
        return (condition is not None and condition.reason is Reason.ARCHIVE_MISSING) or None

    await until(seen, 30)


@pytest.mark.usefixtures("often")
async def test_one_archive_that_is_gone_is_noticed_before_anybody_needs_it(house: House) -> None:
    house.replica()
    sleepers = [(await archived(house))[0] for _ in range(6)]
    take_away(house, (await house.row(sleepers[0])).archive_key)
    lost = await house.until_phase(sleepers[0], Phase.ERROR, 60)
    assert lost.error_reason is ErrorReason.DATA_LOST
    for each in sleepers[1:]:
        assert (await house.row(each)).phase is Phase.ARCHIVED


@pytest.mark.usefixtures("often")
async def test_many_archives_that_are_gone_at_once_are_an_alarm_and_no_lost_homes(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.replica()
    homes = dict([await archived(house) for _ in range(3)])
    back = [take_away(house, (await house.row(each)).archive_key) for each in homes]

    async def alarmed() -> bool | None:
        return "archives not found" in capsys.readouterr().out or None

    await until(alarmed, 30)
    for each in homes:
        assert (await house.row(each)).phase is Phase.ARCHIVED
    for bring_back in back:
        bring_back()
    for workspace_id, before in homes.items():
        assert await opened(house, workspace_id) == before


async def test_what_was_missing_for_a_moment_is_not_lost(house: House) -> None:
    house.replica(retry_backoff=5)
    workspace_id, before = await archived(house)
    bring_back = take_away(house, (await house.row(workspace_id)).archive_key)
    await house.wish(workspace_id, Desired.STANDBY)
    await until_missing(house, workspace_id)
    bring_back()
    assert await opened(house, workspace_id) == before
    assert (await house.row(workspace_id)).error_reason is None


class IgnoresConditions(DirectoryStore):
    async def create(self, key: str, data: bytes) -> None:
        await self.put(key, data)


async def test_a_store_that_breaks_a_promise_is_told_of_and_homes_are_safe_in_it(house: House) -> None:
    house.store = IgnoresConditions(house.relay_folder.with_name("archives"))
    replica = house.replica()

    async def told() -> tuple[str, ...] | None:
        report = replica.supervisor.reports.get("wc")
        return report.store_lacks or None if report is not None else None

    [lack] = await until(told, 30)
    assert "If-None-Match" in lack
    workspace_id, before = await archived(house)
    assert await opened(house, workspace_id) == before
    never_ran = await house.create(Desired.ARCHIVED)
    await house.until_phase(never_ran, Phase.ARCHIVED)


async def test_of_a_store_that_keeps_its_promises_nothing_is_told_and_nothing_is_left(house: House) -> None:
    replica = house.replica()
    await archived(house)
    assert replica.supervisor.reports["wc"].store_lacks == ()
    assert [info.key async for info in house.store.list("probe")] == []
