"""Archives that are not what they were, stores that are away, full or lie, homes that cannot come back: nothing is
lost, nothing half is ever opened, and the owner is told and can choose."""

import os
from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from codehub.archives import lend
from codehub.job.order import Kind
from codehub.job.progress import Stage
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import Request, RequestKind
from codehub.store.wishes import place_request
from tests.coordinators.homes import (
    Content,
    archived,
    content,
    furnished,
    held,
    hold,
    home_of,
    keys_of,
    opened,
    settled,
)
from tests.coordinators.house import House, until


def file_of(house: House, key: str | None) -> Path:
    assert key is not None
    return house.relay_folder.with_name("archives") / key


def flip(file: Path) -> None:
    """Another byte in its middle."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def cut(file: Path) -> None:
    """Without its last byte."""
    file.write_bytes(file.read_bytes()[:-1])


LIES: dict[str, Callable[[Path], None]] = {"another byte": flip, "fewer bytes": cut, "nothing": Path.unlink}


async def ask(house: House, workspace_id: UUID, kind: RequestKind, key: str | None = None) -> None:
    async with house.pool.begin() as connection:
        await place_request(connection, await house.row(workspace_id), Request(kind, uuid4(), "ann", key))


async def failures(house: House, workspace_id: UUID) -> list[str | None]:
    return [reason for kind, _, _, reason in await house.events(workspace_id) if kind == "failure"]


async def two_generations(house: House) -> tuple[UUID, Content, str]:
    """Archived twice; what the first holds, and its key."""
    workspace_id, first = await archived(house)
    older = (await house.row(workspace_id)).archive_key
    assert older is not None
    await opened(house, workspace_id)
    (home_of(house, await house.row(workspace_id)) / "newer").write_text("newer\n")
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    return workspace_id, first, older


@pytest.mark.parametrize("damage", [flip, cut])
async def test_a_damaged_archive_is_never_opened_and_never_touched(
    house: House, damage: Callable[[Path], object]
) -> None:
    house.replica()
    workspace_id, first, older = await two_generations(house)
    file = file_of(house, (await house.row(workspace_id)).archive_key)
    damage(file)
    damaged = file.read_bytes()
    await house.wish(workspace_id, Desired.RUNNING)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert (row.error_reason, row.home_volume) == (ErrorReason.ARCHIVE_CORRUPTED, None)
    assert file.read_bytes() == damaged
    assert not house.engine.containers
    await ask(house, workspace_id, RequestKind.RESTORE, older)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, await house.row(workspace_id))) == first


async def test_a_marker_that_tells_of_another_archive_than_was_proven_is_not_believed(house: House) -> None:
    house.replica()
    workspace_id, _ = await archived(house)
    other, _, _ = await two_generations(house)
    key, rival = (await house.row(workspace_id)).archive_key, (await house.row(other)).archive_key
    for suffix in ("", ".meta"):
        theirs = file_of(house, f"{rival}{suffix}").read_bytes()
        file_of(house, f"{key}{suffix}").write_bytes(theirs.replace(str(other).encode(), str(workspace_id).encode()))
    await house.wish(workspace_id, Desired.RUNNING)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert row.error_reason is ErrorReason.ARCHIVE_CORRUPTED
    assert row.home_volume is None


@pytest.mark.parametrize("gone", ["archive", "marker"])
async def test_an_archive_that_is_gone_is_data_that_is_lost(house: House, gone: str) -> None:
    house.replica(retry_backoff=1.5)
    workspace_id, first, older = await two_generations(house)
    key = (await house.row(workspace_id)).archive_key
    file_of(house, key if gone == "archive" else f"{key}.meta").unlink()
    await house.wish(workspace_id, Desired.RUNNING)
    row = await house.until_phase(workspace_id, Phase.ERROR, 60)
    assert row.error_reason is ErrorReason.DATA_LOST
    assert not house.engine.containers
    await ask(house, workspace_id, RequestKind.RESTORE, older)
    await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, await house.row(workspace_id))) == first


async def test_the_owner_of_a_lost_home_may_start_with_an_empty_one(house: House) -> None:
    house.replica()
    workspace_id, _ = await archived(house)
    flip(file_of(house, (await house.row(workspace_id)).archive_key))
    await house.wish(workspace_id, Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.ERROR)
    await ask(house, workspace_id, RequestKind.START_EMPTY)
    row = await house.until_phase(workspace_id, Phase.RUNNING)
    assert content(home_of(house, row)) == {}


@pytest.mark.parametrize("lie", LIES)
async def test_a_store_that_lost_what_it_took_is_found_out_before_the_home_goes(house: House, lie: str) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    hold(house, Kind.ARCHIVE, "result")
    await house.wish(workspace_id, Desired.ARCHIVED)
    await held(house, workspace_id, Step.ARCHIVE, "result")
    [bad, _] = await keys_of(house.store, workspace_id)
    file = file_of(house, bad)
    LIES[lie](file)
    house.engine.release_jobs(workspace_id)
    row = await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert row.archive_key != bad, "what was found wanting is not taken, nor written over"
    assert await failures(house, workspace_id) == ["ActionFailed"]
    assert await opened(house, workspace_id) == before


@pytest.mark.parametrize("step", [Step.ARCHIVE, Step.VERIFY, Step.RESTORE])
async def test_a_store_that_goes_in_the_middle_is_waited_for(house: House, step: Step) -> None:
    house.replica()
    workspace_id, before = await (archived(house) if step is Step.RESTORE else furnished(house))
    moment = Stage.SURVEY if step is Step.ARCHIVE else Stage(step.value)
    hold(house, Kind(step.value), moment)
    await house.wish(workspace_id, Desired.STANDBY if step is Step.RESTORE else Desired.ARCHIVED)
    await held(house, workspace_id, step, moment)
    store = house.relay_folder.with_name("archives")
    away = store.rename(store.with_name("unmounted"))
    if step is Step.ARCHIVE:
        house.engine.release_jobs(workspace_id)
    else:
        house.engine.kill_jobs(workspace_id)  # what it has open it could read to its end
    report = house.replicas[0].supervisor.reports["wc"]

    async def is_noticed() -> bool | None:
        return (report.services.get(Service.ARCHIVE_STORE) is False and await job_is_over(house)) or None

    await until(is_noticed, 30)
    row = await house.row(workspace_id)
    assert (row.op_step, row.error_count, row.error_reason) == (step, 0, None)
    away.rename(store)
    if step is Step.RESTORE:
        assert content(home_of(house, await house.until_phase(workspace_id, Phase.STANDBY, 60))) == before
    else:
        await house.until_phase(workspace_id, Phase.ARCHIVED, 60)
        assert await opened(house, workspace_id) == before
    assert await failures(house, workspace_id) == []


async def job_is_over(house: House) -> bool:
    return all(each.seen.exit_code is not None for each in house.engine.disk.jobs.values())


async def test_while_the_store_is_away_nothing_that_needs_it_is_begun_and_all_else_goes_on(house: House) -> None:
    store = house.relay_folder.with_name("archives")
    away = store.rename(store.with_name("unmounted"))
    house.replica()
    never_ran = await house.create(Desired.ARCHIVED)
    workspace_id = await house.create(Desired.RUNNING)
    await house.until_phase(workspace_id, Phase.RUNNING)
    await house.wish(workspace_id, Desired.ARCHIVED)
    await house.until_phase(workspace_id, Phase.STANDBY)
    assert (await house.row(never_ran)).error_reason is None
    away.rename(store)
    for each in (never_ran, workspace_id):
        await house.until_phase(each, Phase.ARCHIVED, 60)
        assert await failures(house, each) == []


async def test_a_store_without_room_for_this_home_keeps_it_and_tells_its_owner(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.replica()
    workspace_id, before = await furnished(house)
    monkeypatch.setattr(lend, "BEST_COMPRESSION", 1e-15)
    await house.wish(workspace_id, Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert row.error_reason is ErrorReason.RETRY_EXCEEDED
    assert content(home_of(house, row)) == before
    monkeypatch.undo()
    await house.request(workspace_id, RequestKind.RECOVER)
    await house.until_phase(workspace_id, Phase.ARCHIVED)
    assert await opened(house, workspace_id) == before


async def test_a_path_that_could_not_come_back_keeps_the_home_and_is_told(house: House) -> None:
    house.replica()
    workspace_id, _ = await furnished(house)
    home = home_of(house, await house.row(workspace_id))
    folder = os.open(home, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=folder)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    await house.wish(workspace_id, Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert row.home_volume is not None
    assert await keys_of(house.store, workspace_id) == []
    await house.wish(workspace_id, Desired.STANDBY)
    await house.request(workspace_id, RequestKind.RECOVER)
    assert (await settled(house, workspace_id)).phase is Phase.STANDBY


async def test_a_restore_that_failed_leaves_nothing_of_its_earlier_attempts(house: House) -> None:
    house.replica()
    workspace_id, before = await archived(house)
    hold(house, Kind.RESTORE, Stage.RESTORE)
    await house.wish(workspace_id, Desired.STANDBY)
    await held(house, workspace_id, Step.RESTORE, Stage.RESTORE)
    [half] = house.engine.homes
    (house.engine.home(half) / "half").write_text("of a home\n")
    house.engine.lose_jobs(workspace_id)
    row = await house.until_phase(workspace_id, Phase.STANDBY)
    assert list(house.engine.homes) == [row.home_volume]
    assert row.home_volume != half
    assert content(home_of(house, row)) == before
    assert row.operation is Operation.NONE


@pytest.mark.parametrize("kind", [Kind.ARCHIVE, Kind.VERIFY, Kind.RESTORE])
async def test_a_job_that_takes_too_long_is_ended_and_its_owner_can_try_again(house: House, kind: Kind) -> None:
    house.replica(archiving_timeout=3, restoring_timeout=3)
    workspace_id, before = await (archived(house) if kind is Kind.RESTORE else furnished(house))
    hold(house, kind, Stage.SURVEY if kind is Kind.ARCHIVE else Stage(kind.value))
    await house.wish(workspace_id, Desired.STANDBY if kind is Kind.RESTORE else Desired.ARCHIVED)
    row = await house.until_phase(workspace_id, Phase.ERROR)
    assert row.error_reason is ErrorReason.TIMEOUT

    async def is_gone() -> bool | None:
        return not house.engine.disk.jobs or None

    await until(is_gone, 30)
    former = row.archive_op_id
    await house.request(workspace_id, RequestKind.RECOVER)
    row = await settled(house, workspace_id)
    assert (row.archive_op_id != former) is (kind is not Kind.RESTORE), "a new archive has a new name"
    assert await opened(house, workspace_id) == before


@pytest.mark.parametrize("wish", [Desired.ARCHIVED, Desired.STANDBY])
async def test_until_jobs_can_run_every_home_waits_where_it_is(house: House, wish: Desired) -> None:
    replica = house.replica()
    workspace_id, before = await (furnished(house) if wish is Desired.ARCHIVED else archived(house))
    house.engine.lack_of_jobs = "their image is still being made"
    await house.wish(workspace_id, wish)

    async def is_known() -> bool | None:
        services = replica.supervisor.reports["wc"].services
        return services.get(Service.JOBS) is False or None

    await until(is_known, 30)
    house.engine.lack_of_jobs = None
    await house.until_phase(workspace_id, Phase(wish.value))
    assert await failures(house, workspace_id) == []
    assert await opened(house, workspace_id) == before
