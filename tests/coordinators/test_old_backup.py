"""A database restored from an old backup, beside a store and homes that are newer: nothing is deleted by its word."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy import make_url, text

from codehub.archives.counter import counter_key, leave_mark, read_mark
from codehub.archives.errors import StoreUnreachable
from codehub.archives.object_store import ObjectStore
from codehub.coordinators.backup_watch import BackupWatch, DatabaseIsOld, HomesStay
from codehub.decide.orphans import OrphanKind
from codehub.model.mark import Mark
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import archive_key
from codehub.store.home_counter import adopt, counted, knows
from tests.contracts.object_store_places import in_directory
from tests.coordinators.collecting import GRACE, INSTALLATION, Collecting, collecting
from tests.coordinators.house import INSTALLATION as HOUSE
from tests.coordinators.house import House, until
from tests.databases import create_database, drop_database


def leads() -> None:
    """The caller may write."""


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return in_directory(tmp_path).open()


@pytest.fixture
async def house(database_url: str, store: ObjectStore) -> AsyncIterator[Collecting]:
    async with collecting(database_url, store) as made:
        yield made


@pytest.fixture
async def yesterday(postgres_url: str, house: Collecting) -> AsyncIterator[str]:
    """A backup of the house's database, made when it is asked for; here: when there are two archives."""
    await live_on(house, 2)
    backup = await create_database(postgres_url, str(make_url(house.database_url).database))
    yield backup
    await drop_database(postgres_url, backup)


ARCHIVED = text("""
    INSERT INTO workspaces (id, owner_user_id, name, phase, desired_state, archive_key)
    VALUES (:id, :owner, :name, 'ARCHIVED', 'ARCHIVED', :key)
""")
GENERATION = text("""
    INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
    VALUES (gen_random_uuid(), :id, 1, :key, 6, '', 1, gen_random_uuid())
""")
NOTED = text("""
    INSERT INTO orphans (kind, key, workspace_id, first_seen)
    VALUES ('archive', :key, :id, clock_timestamp() - CAST(:grace AS interval))
""")


async def live_on(house: Collecting, archives: int) -> set[str]:
    """What happens after the backup: more archives, which are the only copies of their homes."""
    made = {(each := uuid4()): archive_key(each, uuid4()) for _ in range(archives)}
    for key in made.values():
        await house.store.put(key, b"a home")
        await house.store.put(f"{key}.meta", b"{}")
    rows = [{"id": each, "owner": house.owner, "name": each.hex, "key": key} for each, key in made.items()]
    async with house.pool.begin() as connection:
        await connection.execute(ARCHIVED, rows)
        await connection.execute(GENERATION, rows)
    await house.watch().look(leads)
    return set(made.values())


async def all_noted_long_ago(house: Collecting) -> None:
    """As if the collector had noted everything in the store before the backup was made."""
    noted = [{"key": key, "id": UUID(key.split("/")[0]), "grace": GRACE} for key in await house.keys()]
    async with house.pool.begin() as connection:
        await connection.execute(NOTED, noted)


@pytest.mark.parametrize("archives", [3, 498], ids=["5 archives", "500 archives"])
async def test_nothing_is_deleted_and_the_alarm_says_why(
    house: Collecting, yesterday: str, store: ObjectStore, archives: int
) -> None:
    made = await live_on(house, archives)
    before = await house.objects()
    async with collecting(yesterday, store) as restored:
        await all_noted_long_ago(restored)
        replica = restored.lead()
        told = await restored.round()
        assert told["deleted"] == {}
        assert "restored from an old backup" in told["halted"]
        assert replica.supervisor.reports["gc"].alarm == told["halted"]
        assert await restored.objects() == before
        assert len(made) == archives


async def test_a_restored_database_that_works_on_before_it_is_looked_at_is_found_out_all_the_same(
    house: Collecting, yesterday: str, store: ObjectStore
) -> None:
    """Its counter may have overtaken the store's by then: what counts is that it does not know the mark."""
    await live_on(house, 1)
    async with collecting(yesterday, store) as restored:
        for _ in range(5):
            await restored.generation(await restored.workspace())
        stored = await read_mark(store, INSTALLATION)
        assert stored is not None
        async with restored.pool.connect() as connection:
            assert await counted(connection) > stored.value
        with pytest.raises(DatabaseIsOld):
            await restored.watch().look(leads)
        assert await read_mark(store, INSTALLATION) == stored


async def test_once_confirmed_every_grace_begins_anew_and_the_cap_holds(
    house: Collecting, yesterday: str, store: ObjectStore
) -> None:
    made = await live_on(house, 4)
    async with collecting(yesterday, store) as restored:
        await all_noted_long_ago(restored)
        restored.lead()
        await restored.round()
        stored = await read_mark(store, INSTALLATION)
        assert stored is not None
        async with restored.pool.begin() as connection:
            await adopt(connection, stored)
        first = await restored.round()
        assert (first["halted"], first["deleted"], first["waiting"]) == (None, {}, 4)
        await restored.graces_end()
        assert (await restored.round())["halted"] == (
            "4 of 6 would be deleted, more than the 3 that one round may take"
        )
        assert await restored.keys() >= made


async def test_the_newest_database_goes_on(house: Collecting, yesterday: str) -> None:
    """That of the backup is not the newest any more; the one that lived on is."""
    assert yesterday != house.database_url
    await live_on(house, 1)
    orphan = await house.generation(await house.workspace(archive_op_id=uuid4()), row=False)
    house.lead()
    assert (await house.collected())["deleted"] == {OrphanKind.ARCHIVE: 1}
    assert orphan not in await house.keys()


class TestTheMark:
    async def test_it_is_left_when_something_new_protects_a_home(self, house: Collecting) -> None:
        watch = house.watch()
        first = await watch.look(leads)
        assert await watch.look(leads) == first
        await house.generation(await house.workspace())
        second = await watch.look(leads)
        assert second.value == first.value + 1
        assert await read_mark(house.store, INSTALLATION) == second

    async def test_the_database_knows_it_before_the_store_does(self, house: Collecting) -> None:
        def crash() -> None:
            raise RuntimeError("killed")

        await house.generation(await house.workspace())
        with pytest.raises(RuntimeError):
            await house.watch().look(crash)
        assert await read_mark(house.store, INSTALLATION) is None
        assert await house.count("home_counter_marks") == 1
        await house.watch().look(leads)  # as if nothing had happened

    async def test_an_older_one_that_arrives_late_is_known_and_replaced(self, house: Collecting) -> None:
        old = await house.watch().look(leads)
        await house.generation(await house.workspace())
        newest = await house.watch().look(leads)
        await leave_mark(house.store, INSTALLATION, old)
        again = await house.watch().look(leads)
        assert again.value == newest.value
        assert await read_mark(house.store, INSTALLATION) == again

    async def test_old_ones_are_forgotten_but_never_the_one_in_the_store(self, house: Collecting) -> None:
        watch = house.watch()
        for _ in range(3):
            await house.generation(await house.workspace())
            stored = await watch.look(leads)
        await house.execute("UPDATE home_counter_marks SET made_at = made_at - interval '2 days'")
        await watch.tidy(stored)
        assert await house.count("home_counter_marks") == 1
        async with house.pool.connect() as connection:
            assert await knows(connection, stored)

    async def test_one_that_cannot_be_read_is_not_taken_for_none(self, house: Collecting) -> None:
        await house.store.put(counter_key(INSTALLATION), b"something else")
        with pytest.raises(HomesStay, match="holds something else"):
            await house.watch().look(leads)


class TestWhetherHomesMayGo:
    async def test_a_store_that_was_never_seen_keeps_them(self, house: Collecting) -> None:
        class Away:
            def __getattr__(self, name: str) -> object:
                raise StoreUnreachable("not mounted")

        watch = BackupWatch(house.watch().marks, Away(), INSTALLATION)  # type: ignore[arg-type]
        with pytest.raises(HomesStay, match="not mounted"):
            await watch.require(leads, covered=False)

    async def test_a_store_that_goes_away_later_keeps_nobody_from_deleting(self, house: Collecting) -> None:
        watch = house.watch()
        await watch.look(leads)
        watch.store = in_directory(Path("/nonexistent/archives")).open()
        await watch.require(leads, covered=False)
        await watch.require(leads, covered=True)  # nothing new: the store has it all
        await house.generation(await house.workspace())
        await watch.require(leads, covered=False)
        with pytest.raises(HomesStay):
            await watch.require(leads, covered=True)

    async def test_before_a_home_is_let_go_of_its_archive_is_covered(self, house: Collecting) -> None:
        watch = house.watch()
        await watch.look(leads)
        await house.generation(await house.workspace())
        await watch.require(leads, covered=True)
        stored = await read_mark(house.store, INSTALLATION)
        assert stored is not None
        async with house.pool.connect() as connection:
            assert stored.value == await counted(connection)

    async def test_a_database_that_is_set_back_under_a_running_process_is_noticed(self, house: Collecting) -> None:
        watch = house.watch()
        await watch.look(leads)
        await house.execute("DELETE FROM home_counter_marks")
        with pytest.raises(DatabaseIsOld):
            await watch.require(leads, covered=False)


class TestTheController:
    @pytest.fixture
    async def old(self, database_url: str, redis_url: str, redis_prefix: Callable[[], str]) -> AsyncIterator[House]:
        """A whole installation, whose store was told of a later state than its database knows."""
        async with House.open(database_url, redis_url, redis_prefix()) as house:
            await leave_mark(house.store, HOUSE, Mark(uuid4(), 99))
            yield house

    async def confirm(self, house: House) -> None:
        stored = await read_mark(house.store, HOUSE)
        assert stored is not None
        async with house.pool.begin() as connection:
            await adopt(connection, stored)

    async def test_starts_and_stops_go_on_and_deletions_wait(self, old: House) -> None:
        replica = old.replica()
        workspace_id = await old.create()
        await old.until_phase(workspace_id, Phase.RUNNING)
        await old.wish(workspace_id, Desired.DELETED)

        async def stopped() -> bool | None:
            row = await old.row(workspace_id)
            return (
                row.phase is Phase.DELETING and row.operation is Operation.NONE and not old.engine.containers
            ) or None

        await until(stopped, 30)
        assert old.engine.homes
        assert replica.supervisor.reports["wc"].services["newest_database"] is False
        await self.confirm(old)
        await old.until_phase(workspace_id, Phase.DELETED, 60)
        assert not old.engine.homes

    async def test_a_home_is_archived_but_not_let_go_of(self, old: House) -> None:
        old.replica()
        workspace_id = await old.create(Desired.STANDBY)
        home = (await old.until_phase(workspace_id, Phase.STANDBY)).home_volume
        await old.wish(workspace_id, Desired.ARCHIVED)

        async def verified() -> bool | None:
            return (await old.row(workspace_id)).op_step is Step.VERIFIED or None

        await until(verified, 60)
        assert list(old.engine.homes) == [home]
        await old.wish(workspace_id, Desired.STANDBY)  # wake wins meanwhile
        assert (await old.until_phase(workspace_id, Phase.STANDBY, 60)).home_volume == home
        await old.wish(workspace_id, Desired.ARCHIVED)
        await until(verified, 60)
        await self.confirm(old)
        await old.until_phase(workspace_id, Phase.ARCHIVED, 90)
        assert not old.engine.homes
