"""Collectors that are killed, frozen or overtaken in the middle of a deletion."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest
from sqlalchemy import text

from codehub.archives.object_store import ObjectStore
from codehub.decide.orphans import OrphanKind
from codehub.model.workspace import RequestKind
from codehub.store import gc_rounds
from tests.contracts.object_store_places import in_directory
from tests.coordinators.collecting import Collecting, collecting
from tests.coordinators.house import until

LEASE_SECONDS = 2.0
KILL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'codehub coordinator:gc'"
WAITING = """
    SELECT 1 FROM pg_stat_activity
    WHERE application_name = 'codehub coordinator:gc' AND wait_event_type = 'Lock' AND datname = current_database()
"""


class Ambush:
    """A way to the store on which one deletion is held up, before or after its effect."""

    def __init__(self, store: ObjectStore, suffix: str, *, after: bool = False, arrives_late: bool = False) -> None:
        self._store = store
        self._suffix = suffix
        self._after = after
        self._arrives_late = arrives_late
        self._laid = True
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()
        self.late: asyncio.Task[None] | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    async def delete(self, key: str) -> None:
        held = self._laid and key.endswith(self._suffix)
        if held and not self._after:
            await self._hold(key)
        await self._store.delete(key)
        if held and self._after:
            await self._hold(key)

    async def _hold(self, key: str) -> None:
        self._laid = False
        if self._arrives_late:
            self.late = asyncio.create_task(self._arrive_late(key))
        self.reached.set()
        await asyncio.Event().wait()  # until whoever waits here is no more

    async def _arrive_late(self, key: str) -> None:
        await self.go_on.wait()
        await self._store.delete(key)


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[Collecting]:
    async with collecting(database_url, in_directory(tmp_path).open()) as made:
        yield made


async def orphan(house: Collecting) -> str:
    return await house.generation(await house.workspace(archive_op_id=uuid4()), row=False)


async def older_generation(house: Collecting) -> str:
    """The one that is not among the newest three any more."""
    workspace_id = await house.workspace()
    first, *_ = [await house.generation(workspace_id) for _ in range(4)]
    return first


async def kill_the_leader(house: Collecting) -> None:
    await house.execute(KILL)


@pytest.mark.parametrize("suffix", [".meta", ".zst"])
async def test_a_leader_killed_in_the_middle_of_a_deletion_is_finished_by_the_next(
    house: Collecting, suffix: str
) -> None:
    """Whose last call has had its effect; before each of them one dies in `test_gc_kills.py`."""
    key = await older_generation(house)
    kept = await house.keys() - {key}
    ambush = Ambush(house.store, suffix, after=True)
    house.lead(cast("ObjectStore", ambush), lease_seconds=LEASE_SECONDS)
    await house.round()
    await house.graces_end()
    async with house.pool.begin() as connection:
        asked = await gc_rounds.ask(connection, "ann")
    await asyncio.wait_for(ambush.reached.wait(), 20)
    await kill_the_leader(house)
    await house.ended(asked["id"])
    assert {each for each in await house.objects() if each.startswith(key)} == set()
    assert await house.keys() == kept
    assert await house.count("archives") == 3
    assert await house.count("orphans") == 0


async def test_what_a_frozen_leader_deletes_late_is_what_it_had_decided_on(house: Collecting) -> None:
    key = await older_generation(house)
    kept = await house.keys() - {key}
    ambush = Ambush(house.store, ".meta", arrives_late=True)
    first = house.lead(cast("ObjectStore", ambush), lease_seconds=LEASE_SECONDS)
    await house.round()
    await house.graces_end()
    async with house.pool.begin() as connection:
        asked = await gc_rounds.ask(connection, "ann")
    await asyncio.wait_for(ambush.reached.wait(), 20)
    await kill_the_leader(house)
    await first.stop()
    house.lead(lease_seconds=LEASE_SECONDS)
    await house.ended(asked["id"])
    newest = await house.generation(await house.workspace())
    ambush.go_on.set()
    assert ambush.late is not None
    await ambush.late
    await house.round()
    assert await house.keys() == kept | {newest}


async def test_a_new_leader_deletes_nothing_while_the_one_before_may_still_be_at_it(house: Collecting) -> None:
    key = await orphan(house)
    first = house.lead()
    await house.round()
    await house.graces_end()
    await kill_the_leader(house)
    await first.stop()
    another = await orphan(house)
    second = house.lead(lease_seconds=60)
    async with house.pool.begin() as connection:
        asked = await gc_rounds.ask(connection, "ann")

    async def noted() -> bool | None:
        return await house.count("orphans") == 2 or None

    await until(noted, 60)  # it has come as far as deleting
    await second.stop()
    assert await house.keys() == {key, another}
    assert await house.count("gc_rounds WHERE ended_at IS NULL") == 1
    house.lead()
    assert (await house.ended(asked["id"]))["deleted"] == {OrphanKind.ARCHIVE: 1}
    assert await house.keys() == {another}


async def test_a_restart_forgets_no_grace_and_makes_no_round_before_its_time(house: Collecting) -> None:
    key = await orphan(house)
    first = house.lead()
    await house.round()
    await first.stop()
    rounds = await house.count("gc_rounds")
    second = house.lead()

    async def passed() -> bool | None:
        return any(report.passes > 5 for report in second.supervisor.reports.values()) or None

    await until(passed, 60)
    assert await house.count("gc_rounds") == rounds
    assert await house.keys() == {key}
    await house.graces_end()
    assert (await house.round())["deleted"] == {OrphanKind.ARCHIVE: 1}


async def test_a_round_is_due_when_the_last_one_is_long_ago(house: Collecting) -> None:
    await house.execute(
        "INSERT INTO gc_rounds (began_at, ended_at) VALUES (now() - interval '5 hours', now() - interval '5 hours')"
    )
    house.lead()

    async def made() -> bool | None:
        return await house.count("gc_rounds WHERE ended_at > now() - interval '1 hour'") == 1 or None

    await until(made, 60)


async def test_a_round_that_was_cut_short_is_made_again(house: Collecting) -> None:
    await house.execute("INSERT INTO gc_rounds (began_at) VALUES (now())")
    house.lead()

    async def made() -> bool | None:
        return await house.count("gc_rounds WHERE ended_at IS NOT NULL") == 1 or None

    await until(made, 60)


async def test_an_archive_that_is_asked_for_between_the_looks_stays(house: Collecting) -> None:
    key = await older_generation(house)
    workspace_id = key.split("/")[0]
    house.lead()
    await house.round()
    await house.graces_end()
    async with house.pool.connect() as asking, house.pool.connect() as watching:
        await asking.execute(text("SELECT 1 FROM archives WHERE key = :key FOR SHARE"), {"key": key})
        request = f'{{"kind": "{RequestKind.RESTORE}", "id": "{uuid4()}", "actor": "ann", "archive_key": "{key}"}}'
        await asking.execute(
            text("UPDATE workspaces SET request = CAST(:request AS jsonb) WHERE id = CAST(:id AS uuid)"),
            {"request": request, "id": workspace_id},
        )
        async with house.pool.begin() as connection:
            asked = await gc_rounds.ask(connection, "ann")

        async def waits() -> bool | None:
            found = await watching.scalar(text(WAITING))
            await watching.rollback()
            return bool(found) or None

        await until(waits, 60)
        await asking.commit()
    told = await house.ended(asked["id"])
    assert told["deleted"] == {}
    assert key in await house.keys()
    assert await house.count("archives") == 4
    assert await house.count("orphans") == 0


async def test_an_archive_that_somebody_holds_for_long_stays_for_this_time(house: Collecting) -> None:
    key = await older_generation(house)
    house.lead()
    await house.round()
    await house.graces_end()
    async with house.pool.connect() as asking:
        await asking.execute(text("SELECT 1 FROM archives WHERE key = :key FOR SHARE"), {"key": key})
        assert (await house.round())["deleted"] == {}
        assert await house.count("archives") == 4
    assert (await house.collected())["deleted"] == {OrphanKind.ARCHIVE: 1}
