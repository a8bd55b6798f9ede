"""Which changes of a row notify whom (coordination.md), what is counted as a revision, and which rows are refused."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg
import pytest

CHANNELS = ("ws_sse", "ws_wake", "ws_deleted")
SSE, WAKE, DELETED = CHANNELS
OWNER = uuid4()

BEGUN = "operation = 'STOPPING', op_step = 'stop', op_id = gen_random_uuid(), op_clock_at = now()"

TABLE = [
    # from this state, after this change, these channels are notified
    ("", "phase = 'STANDBY'", [SSE]),
    ("", BEGUN, [SSE]),
    ("", "error_reason = 'Timeout'", [SSE]),
    ("", "desired_state = 'STANDBY'", [SSE, WAKE]),
    ("", "name = 'another'", [SSE]),
    ("", "description = 'another'", [SSE]),
    ("", "memo = 'another'", [SSE]),
    ("", "desired_state = 'DELETED', deleted_at = now()", [WAKE, DELETED]),
    ("", "desired_reason = 'idle'", [SSE]),
    ("", "desired_by = 'ann'", [SSE]),
    ("", "standby_after_seconds = 5", [SSE]),
    ("", "archive_after_seconds = 5", [SSE]),
    ("", "git_url = 'https://example.org/a.git'", [SSE]),
    ("", """resources = '{"cpu": 1}'""", [SSE]),
    (BEGUN, "op_step = 'stopped'", [SSE]),
    ("", "op_attempt = 2", [SSE]),
    ("", "error_count = 1", [SSE]),
    ("", "next_attempt_at = now()", [SSE]),
    ("", "recent_deaths = ARRAY[now()]", [SSE]),
    ("", "last_access_at = now()", [SSE]),
    ("", """request = '{"kind": "recover"}'""", [SSE, WAKE]),
    ("""request = '{"kind": "recover"}'""", "request = NULL", [SSE]),
    ("phase = 'ERROR', error_reason = 'Timeout'", "error_reason = NULL", [SSE, WAKE]),
    ("phase = 'STANDBY', error_reason = 'Timeout'", "error_reason = NULL", [SSE]),
    ("phase = 'ERROR', error_reason = 'Timeout'", "phase = 'STANDBY', error_reason = NULL", [SSE]),
    ("desired_state = 'DELETED', deleted_at = now()", "desired_state = 'STANDBY', deleted_at = NULL", [SSE, WAKE]),
    ("desired_state = 'DELETED', deleted_at = now()", "deleted_at = now() + interval '1 day'", [WAKE]),
    ("desired_state = 'DELETED', deleted_at = now()", "phase = 'DELETING'", []),
    ("desired_state = 'DELETED', deleted_at = now()", "name = 'another'", []),
    ("", """conditions = '{"a": 1}', observed_at = now()""", []),
    ("", "judged_at = now()", []),
    ("", "op_clock_at = now(), acted_at = now()", []),
    ("", "home_volume = 'a volume'", []),
    ("", "phase = phase, name = name", []),
]

API_CHANGES = [
    "name = 'another'",
    "description = 'another'",
    "memo = 'another'",
    "desired_state = 'STANDBY'",
    "standby_after_seconds = 5",
    "archive_after_seconds = 5",
    "desired_state = 'DELETED', deleted_at = now()",
    "image_ref = 'image:1'",
    "git_url = 'https://example.org/a.git'",
    """resources = '{"cpu": 1}'""",
]
OTHER_CHANGES = [
    """conditions = '{"a": 1}', observed_at = now()""",
    "phase = 'STANDBY'",
    BEGUN,
    "error_reason = 'Timeout'",
    "last_access_at = now()",
    """request = '{"kind": "recover"}'""",
    "name = name",
]

REFUSED = [
    "desired_state = 'DELETED'",
    "deleted_at = now()",
    "desired_state = 'PENDING'",
    "desired_reason = 'whim'",
    "phase = 'ASLEEP'",
    "phase = NULL",
    BEGUN.replace("STOPPING", "DANCING"),
    "operation = 'STOPPING'",
    "op_step = 'stop'",
    f"phase = 'ERROR', {BEGUN}",
    BEGUN.replace("op_id = gen_random_uuid()", "op_id = NULL"),
    BEGUN.replace("op_clock_at = now()", "op_clock_at = NULL"),
    BEGUN.replace("STOPPING", "STARTING"),
    BEGUN.replace("STOPPING", "ARCHIVING"),
    BEGUN.replace("STOPPING", "PROVISIONING"),
    BEGUN.replace("STOPPING", "PROVISIONING") + ", op_volume = 'one', archive_key = 'key'",
    BEGUN.replace("STOPPING", "RESTORING") + ", op_volume = 'one'",
    BEGUN.replace("STOPPING", "RESTORING") + ", archive_key = 'key'",
    BEGUN.replace("STOPPING", "CREATE_EMPTY_ARCHIVE") + ", home_volume = 'one'",
    BEGUN.replace("'stop'", "'release'") + ", home_volume = 'one'",
    BEGUN.replace("'stop'", "'verified'") + ", archive_key = 'another', archive_op_id = gen_random_uuid()",
    "home_volume = 'one', op_volume = 'another'",
    "error_count = -1",
    "standby_after_seconds = -1",
    "archive_after_seconds = -1",
    "name = ''",
    "owner_user_id = gen_random_uuid()",
    "template_id = gen_random_uuid()",
]


class Ear:
    """Hears every channel. A mark sent last, and heard last, shows that nothing more is to come."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._heard: list[tuple[str, str]] = []
        self._marked = asyncio.Event()

    async def listen(self) -> None:
        for channel in CHANNELS:
            await self._connection.add_listener(channel, self._hear)
        await self._connection.add_listener("mark", lambda *_: self._marked.set())

    def _hear(self, _: object, __: int, channel: str, payload: str) -> None:
        self._heard.append((channel, payload))

    async def heard(self) -> list[tuple[str, str]]:
        """What was notified since the last time."""
        self._marked.clear()
        await self._connection.execute("NOTIFY mark")
        async with asyncio.timeout(60):
            await self._marked.wait()
        heard, self._heard = self._heard, []
        return heard


@pytest.fixture
async def connection(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database_url)
    await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'owner', '')", OWNER)
    yield connection
    await connection.close()


@pytest.fixture
async def ear(database_url: str) -> AsyncIterator[Ear]:
    connection = await asyncpg.connect(database_url)
    ear = Ear(connection)
    await ear.listen()
    yield ear
    await connection.close()


async def insert(connection: asyncpg.Connection, name: str = "garden") -> UUID:
    workspace_id = uuid4()
    await connection.execute(
        "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, $3, 'RUNNING')",
        workspace_id,
        OWNER,
        name,
    )
    return workspace_id


async def change(connection: asyncpg.Connection, workspace_id: UUID, assignments: str) -> None:
    if assignments:
        await connection.execute(
            f"UPDATE workspaces SET {assignments} WHERE id = $1",  # noqa: S608 (the tables above)
            workspace_id,
        )


async def test_each_change_notifies_whom_it_concerns_and_nobody_else(connection: asyncpg.Connection, ear: Ear) -> None:
    for number, (before, after, channels) in enumerate(TABLE):
        workspace_id = await insert(connection, f"workspace {number}")
        await change(connection, workspace_id, before)
        await ear.heard()
        await change(connection, workspace_id, after)
        expected = [(channel, f"{workspace_id} {OWNER}") for channel in channels]
        assert sorted(await ear.heard()) == sorted(expected), (before, after)


async def test_a_new_workspace_is_shown_and_woken(connection: asyncpg.Connection, ear: Ear) -> None:
    payload = f"{await insert(connection)} {OWNER}"
    assert sorted(await ear.heard()) == [(SSE, payload), (WAKE, payload)]


async def test_a_change_that_is_rolled_back_notifies_nobody(connection: asyncpg.Connection, ear: Ear) -> None:
    transaction = connection.transaction()
    await transaction.start()
    await insert(connection)
    await transaction.rollback()
    assert await ear.heard() == []


async def test_many_rows_in_one_statement_each_notify(connection: asyncpg.Connection, ear: Ear) -> None:
    ids = [await insert(connection, f"workspace {n}") for n in range(3)]
    await ear.heard()
    await connection.execute("UPDATE workspaces SET phase = 'STANDBY'")
    assert sorted(await ear.heard()) == sorted((SSE, f"{each} {OWNER}") for each in ids)


@pytest.mark.parametrize(
    ("changes", "bump"), [(API_CHANGES, 1), (OTHER_CHANGES, 0)], ids=["the API's columns", "all others"]
)
async def test_a_revision_is_a_change_of_the_apis_columns(
    connection: asyncpg.Connection, changes: list[str], bump: int
) -> None:
    for number, assignments in enumerate(changes):
        workspace_id = await insert(connection, f"workspace {number}")
        await change(connection, workspace_id, assignments)
        query = "SELECT revision FROM workspaces WHERE id = $1"
        assert await connection.fetchval(query, workspace_id) == 1 + bump, assignments


async def test_every_change_moves_the_time_of_the_row(connection: asyncpg.Connection) -> None:
    workspace_id = await insert(connection)
    moments = []
    for assignments in ("", *API_CHANGES[:2], *OTHER_CHANGES):
        await change(connection, workspace_id, assignments)
        moments.append(await connection.fetchval("SELECT updated_at FROM workspaces WHERE id = $1", workspace_id))
    assert moments == sorted(set(moments))


async def test_rows_that_make_no_sense_are_refused(connection: asyncpg.Connection) -> None:
    workspace_id = await insert(connection)
    for assignments in REFUSED:
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await change(connection, workspace_id, assignments)


async def test_names_are_unique_among_the_living_of_one_owner(connection: asyncpg.Connection) -> None:
    first = await insert(connection)
    with pytest.raises(asyncpg.UniqueViolationError):
        await insert(connection)
    await change(connection, first, "desired_state = 'DELETED', deleted_at = now()")
    await insert(connection)
    with pytest.raises(asyncpg.UniqueViolationError):
        await change(connection, first, "desired_state = 'STANDBY', deleted_at = NULL")


async def test_a_login_is_unique_however_it_is_written(connection: asyncpg.Connection) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await connection.execute("INSERT INTO users (id, login, password_hash) VALUES ($1, 'OWNER', '')", uuid4())
