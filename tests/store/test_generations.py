"""Archives as the API finds and keeps them, and a deletion that is taken back: each in one transaction."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from codehub.model.states import Desired
from codehub.model.workspace import Workspace, archive_key
from codehub.store import generations, wishes
from codehub.store.engine import pool
from codehub.store.undelete import undelete
from codehub.store.wishes import Because, NewWorkspace

OWNER = UUID(int=1)
ASKED = Because("owner", "ada")


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = pool(database_url, "test")
    async with engine.begin() as connection:
        added = "INSERT INTO users (id, login, password_hash) VALUES (:id, 'ada', '!')"
        await connection.execute(text(added), {"id": OWNER})
    yield engine
    await engine.dispose()


async def create(connection: AsyncConnection, name: str) -> Workspace:
    return await wishes.create_workspace(connection, NewWorkspace(uuid4(), OWNER, name), Desired.STANDBY, ASKED)


async def archive(connection: AsyncConnection, workspace: Workspace, number: int = 1) -> UUID:
    """A generation, which is the current one from now on."""
    archive_id, key = uuid4(), archive_key(workspace.id, uuid4())
    await connection.execute(
        text("""INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
                VALUES (:id, :workspace_id, :number, :key, 1, 'sha256:ab', 1, :id)"""),
        {"id": archive_id, "workspace_id": workspace.id, "number": number, "key": key},
    )
    named = text("UPDATE workspaces SET archive_key = :key WHERE id = :id")
    await connection.execute(named, {"key": key, "id": workspace.id})
    return archive_id


async def read(connection: AsyncConnection, workspace_id: UUID) -> Workspace:
    found = await generations.owned(connection, workspace_id, OWNER)
    assert found is not None
    return found


async def test_one_is_chosen_by_its_id_or_as_the_current_one(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        garden, other = await create(connection, "garden"), await create(connection, "other")
        assert await generations.chosen(connection, garden, None) is None
        first, second = await archive(connection, garden), await archive(connection, garden, 2)
        strange = await archive(connection, other)
        garden = await read(connection, garden.id)
        current, older = [await generations.chosen(connection, garden, which) for which in (None, first)]
        assert current is not None
        assert older is not None
        assert (current.id, current.number, current.sha256) == (second, 2, "ab")
        assert (older.id, older.kept) == (first, False)
        assert await generations.chosen(connection, garden, strange) is None
        assert [each.number for each in await generations.archives_of(connection, garden)] == [2, 1]
        assert await generations.owned(connection, garden.id, uuid4()) is None
        assert await generations.owned(connection, garden.id, None) == garden


async def test_what_was_chosen_stays_until_what_is_written_of_it_is_stored(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        garden = await create(connection, "garden")
        archive_id = await archive(connection, garden)
        garden = await read(connection, garden.id)
    async with engine.connect() as choosing, engine.connect() as collecting:
        assert await generations.chosen(choosing, garden, archive_id) is not None
        taking = asyncio.create_task(
            collecting.execute(text("DELETE FROM archives WHERE id = :id AND NOT kept"), {"id": archive_id})
        )
        await generations.keep(choosing, archive_id, kept=True)
        await choosing.commit()
        assert (await taking).rowcount == 0
        await collecting.rollback()


async def test_whoever_stands_on_an_archive_or_asks_for_it_is_concerned(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        garden, fork, asking, stranger = [await create(connection, each) for each in ("garden", "fork", "asks", "no")]
        await archive(connection, garden)
        [found] = await generations.archives_of(connection, await read(connection, garden.id))
        stands = text("UPDATE workspaces SET archive_key = :key WHERE id = :id")
        await connection.execute(stands, {"key": found.key, "id": fork.id})
        asks = text(
            "UPDATE workspaces SET request = jsonb_build_object('kind', 'fork', 'id', id, 'actor', 'ada',"
            " 'archive_key', CAST(:key AS text)) WHERE id = :id"
        )
        await connection.execute(asks, {"key": found.key, "id": asking.id})
        concerned = {each.id for each in await generations.concerned(connection, [found])}
        assert concerned == {garden.id, fork.id, asking.id}
        assert stranger.id not in concerned
        assert [each.id for each in await generations.archives_of(connection, await read(connection, fork.id))] == [
            found.id
        ]


async def test_a_deletion_is_taken_back_unless_the_home_is_being_taken_away(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        garden = await create(connection, "garden")
        assert await undelete(connection, garden, Desired.STANDBY, ASKED, "garden") is None
        await wishes.wish(connection, garden, Desired.DELETED, ASKED)
        begun = "operation = 'DELETING', op_step = 'delete', op_id = gen_random_uuid(), op_clock_at = now()"
        await connection.execute(text(f"UPDATE workspaces SET {begun}"))  # noqa: S608
        assert await undelete(connection, garden, Desired.STANDBY, ASKED, "garden") is None
        await connection.execute(text("UPDATE workspaces SET operation = 'NONE', op_step = NULL"))
        back = await undelete(connection, garden, Desired.ARCHIVED, ASKED, "orchard")
        assert back is not None
        assert (back.deleted_at, back.desired_state, back.name) == (None, Desired.ARCHIVED, "orchard")
        last = "SELECT before || ' ' || after || ' ' || actor FROM workspace_events ORDER BY id DESC LIMIT 1"
        assert await connection.scalar(text(last)) == "DELETED ARCHIVED ada"


async def test_a_name_that_is_taken_meanwhile_keeps_it_deleted(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        garden = await create(connection, "garden")
        await wishes.wish(connection, garden, Desired.DELETED, ASKED)
        await create(connection, "garden")
    with pytest.raises(IntegrityError):
        async with engine.begin() as connection:
            await undelete(connection, garden, Desired.STANDBY, ASKED, "garden")
