"""The questions that are asked all the time are answered from an index, with 100,000 workspaces in the table.

The statements are those that the store sends: they are caught on their way and explained, once as planned for their
values and once as a plan for any values, which the server may choose after some calls."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from sqlalchemy import event

from codehub.decide.idle import IdlePolicy
from codehub.model.activity import Doors, Kind, Sign
from codehub.model.conditions import Conditions
from codehub.model.plans import Begin, Finish
from codehub.model.states import Desired, Operation, Phase, Step
from codehub.model.workspace import Workspace
from codehub.store import wishes
from codehub.store.controller import PostgresController
from codehub.store.idle import PostgresIdle
from codehub.store.observer import PostgresObserver
from codehub.store.protocols import Judged, Observed
from codehub.store.seat import PostgresSeat
from codehub.store.shards import Shard
from tests.databases import create_database, drop_database
from tests.store.crowd import COUNT, make_crowd

NOW = datetime.now(UTC)
SOMEWHERE = UUID("80000000-0000-0000-0000-000000000000")
BY_ID = "workspaces_pkey"
IDLE_POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=1800)
DOORS = Doors(watched_for_seconds=86400, silent_for_seconds=0, most_silent="door")
ALSO_BY_ID = {"workspaces_with_volume", "workspaces_with_archive"}
"""Where the statement says enough of the row, these find it by its id just as well."""

Plan = dict[str, Any]

LATER_QUESTIONS = {
    "running of one user": (
        "workspaces_running",
        """SELECT count(*) FROM workspaces WHERE owner_user_id = (SELECT id FROM users LIMIT 1)
           AND desired_state = 'RUNNING' AND deleted_at IS NULL AND phase <> 'ERROR'""",
    ),
    "running in all": (
        "workspaces_running",
        """SELECT count(*) FROM workspaces
           WHERE desired_state = 'RUNNING' AND deleted_at IS NULL AND phase <> 'ERROR'""",
    ),
    "under way": (
        "workspaces_under_way",
        "SELECT id FROM workspaces WHERE operation <> 'NONE' ORDER BY op_started_at",
    ),
    "in error": (
        "workspaces_in_error",
        """SELECT id FROM workspaces WHERE phase = 'ERROR' AND deleted_at IS NULL
           ORDER BY phase_changed_at DESC LIMIT 50""",
    ),
    "living of one owner": (
        "workspaces_living",
        """SELECT id FROM workspaces WHERE owner_user_id = (SELECT id FROM users LIMIT 1) AND deleted_at IS NULL
           ORDER BY created_at, id LIMIT 50""",
    ),
    "living of all": (
        "workspaces_by_age",
        """SELECT id FROM workspaces WHERE deleted_at IS NULL AND (created_at, id) < (now(), gen_random_uuid())
           ORDER BY created_at DESC, id DESC LIMIT 50""",
    ),
    "deleted of one owner": (
        "workspaces_gone",
        """SELECT id FROM workspaces WHERE owner_user_id = (SELECT id FROM users LIMIT 1) AND deleted_at IS NOT NULL
           ORDER BY created_at, id LIMIT 50""",
    ),
    "asking for an archive": (
        "workspaces_asking_for_archive",
        "SELECT id FROM workspaces WHERE request ->> 'archive_key' = ANY ('{a,b}')",
    ),
    "deleted long ago": (
        "workspaces_deleted_long_ago",
        "SELECT id FROM workspaces WHERE deleted_at < now() - interval '30 days' ORDER BY deleted_at LIMIT 100",
    ),
    "standing on an archive": ("workspaces_by_archive", "SELECT id FROM workspaces WHERE archive_key = ANY ('{a,b}')"),
}
"""What the API and the metrics will ask."""


@pytest.fixture(scope="module")
def crowded_url(postgres_url: str, migrated_template: str) -> Iterator[str]:
    async def make() -> str:
        url = await create_database(postgres_url, migrated_template)
        await make_crowd(url)
        return url

    url = asyncio.run(make())
    yield url
    asyncio.run(drop_database(postgres_url, url))


@pytest.fixture
async def operator(crowded_url: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(crowded_url)
    yield connection
    await connection.close()


@pytest.fixture
async def seat(crowded_url: str) -> AsyncIterator[PostgresSeat]:
    seat = await PostgresSeat.take(crowded_url, "coordinator:test", "first", lease_seconds=60)
    yield seat
    await seat.close()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question may be asked with."""

    seat: PostgresSeat
    controller: PostgresController
    shard: PostgresController
    observer: PostgresObserver
    idle: PostgresIdle
    row: Workspace


def _judgements(row: Workspace) -> list[Judged]:
    return [Judged(row, Phase.STANDBY) for _ in range(500)]


def _observations() -> list[Observed]:
    return [Observed(uuid4(), Conditions(), NOW) for _ in range(500)]


async def _wish(asked: Asked) -> None:
    async with asked.seat.transaction() as connection:
        await wishes.wish(connection, asked.row, Desired.RUNNING, wishes.Because("owner"))


Question = Callable[[Asked], Awaitable[object]]
HOT: dict[str, tuple[str, Question]] = {
    "unsettled, the first page": ("workspaces_unsettled", lambda asked: asked.controller.unsettled(None, 500)),
    "unsettled of one shard": ("workspaces_unsettled", lambda asked: asked.shard.unsettled(None, 500)),
    "unsettled, a later page": ("workspaces_unsettled", lambda asked: asked.controller.unsettled(asked.row, 100)),
    "one workspace": (BY_ID, lambda asked: asked.controller.workspace(asked.row.id)),
    "a batch of judgements": (BY_ID, lambda asked: asked.controller.judged(_judgements(asked.row))),
    "a claim": (
        BY_ID,
        lambda asked: asked.controller.claim(asked.row, Begin(Operation.STOPPING, Step.STOP), uuid4(), asked.row.phase),
    ),
    "a finish": (BY_ID, lambda asked: asked.controller.finish(asked.row, Finish(asked.row.phase, None, None, None))),
    "what to look at, the first page": ("workspaces_with_volume", lambda asked: asked.observer.targets(None, 500)),
    "what to look at, a later page": ("workspaces_with_volume", lambda asked: asked.observer.targets(SOMEWHERE, 500)),
    "some workspaces": (BY_ID, lambda asked: asked.observer.workspaces([uuid4() for _ in range(100)])),
    "archives not looked at": ("workspaces_archive_unseen", lambda asked: asked.observer.unseen_archives(500)),
    "archives, the first page": ("workspaces_with_archive", lambda asked: asked.observer.archived(None, 500)),
    "archives, a later page": ("workspaces_with_archive", lambda asked: asked.observer.archived(SOMEWHERE, 500)),
    "a batch of observations": (BY_ID, lambda asked: asked.observer.write_conditions(_observations())),
    "a wish": (BY_ID, _wish),
    "idle, may stand by": ("workspaces_may_stand_by", lambda asked: asked.idle.may_stand_by(DOORS, 500)),
    "asleep, may be archived": ("workspaces_may_be_archived", lambda asked: asked.idle.may_be_archived(500)),
    "who was used": (BY_ID, lambda asked: asked.idle.bring_in([Sign(uuid4(), 0, Kind.EDIT) for _ in range(500)])),
}
"""Each question of the coordinators, and the index that was made for it."""


class Caught(Exception):
    """A statement, on its way to the server."""

    def __init__(self, statement: str, parameters: tuple[Any, ...]) -> None:
        super().__init__(statement)
        self.statement, self.parameters = statement, parameters


def catch(_: object, __: object, statement: str, parameters: tuple[Any, ...], *___: object) -> None:
    raise Caught(statement, parameters)


async def caught(asked: Asked, question: Question) -> Caught:
    """The statement that is sent for the question; it never arrives, so that the crowd stays as it is."""
    engine = asked.seat._connection.sync_engine
    event.listen(engine, "before_cursor_execute", catch)
    with pytest.raises(Caught) as way:
        await question(asked)
    event.remove(engine, "before_cursor_execute", catch)
    return way.value


async def explained(operator: asyncpg.Connection, statement: str, *parameters: Any) -> Plan:  # noqa: ANN401
    """The plan for these values."""
    return _plan(await operator.fetchval(f"EXPLAIN (FORMAT JSON) {statement}", *parameters))


async def explained_for_any_values(operator: asyncpg.Connection, statement: str, *parameters: Any) -> Plan:  # noqa: ANN401
    """The plan that is kept for a prepared statement; what the parameters are does not matter to it."""
    await operator.execute(f"SET plan_cache_mode = force_generic_plan; PREPARE asked AS {statement}")
    execute = f"EXECUTE asked ({', '.join('NULL' for _ in parameters)})" if parameters else "EXECUTE asked"
    plan = _plan(await operator.fetchval(f"EXPLAIN (FORMAT JSON) {execute}"))
    await operator.execute("DEALLOCATE asked")
    return plan


def _plan(explanation: str) -> Plan:
    [whole] = json.loads(explanation)
    plan: Plan = whole["Plan"]
    return plan


def nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def expect_index(plan: Plan, index: str) -> None:
    read = [node for node in nodes(plan) if node.get("Relation Name") == "workspaces" or "Index Name" in node]
    used = {node["Index Name"] for node in read if "Index Name" in node} - {"users_pkey", "templates_pkey"}
    assert used == {index} or (index == BY_ID and used and used <= {BY_ID} | ALSO_BY_ID), plan
    assert not [node for node in read if node["Node Type"] == "Seq Scan"], plan


@pytest.mark.parametrize("explain", [explained, explained_for_any_values])
async def test_what_the_coordinators_ask_is_answered_from_its_index(
    seat: PostgresSeat, operator: asyncpg.Connection, explain: Callable[..., Awaitable[Plan]]
) -> None:
    controller, observer = PostgresController(seat), PostgresObserver(seat)
    row = (await controller.unsettled(None, 500))[-1]
    asked = Asked(
        seat, controller, PostgresController(seat, Shard(1, 3)), observer, PostgresIdle(seat, IDLE_POLICY), row
    )
    for index, question in HOT.values():
        sent = await caught(asked, question)
        expect_index(await explain(operator, sent.statement, *sent.parameters), index)


@pytest.mark.parametrize(("index", "question"), LATER_QUESTIONS.values(), ids=LATER_QUESTIONS.keys())
async def test_what_will_be_asked_is_answered_from_its_index(
    operator: asyncpg.Connection, index: str, question: str
) -> None:
    expect_index(await explained(operator, question), index)


async def test_every_index_of_the_table_has_its_question(operator: asyncpg.Connection) -> None:
    found = await operator.fetch("SELECT indexname FROM pg_indexes WHERE tablename = 'workspaces'")
    asked = {index for index, _ in [*HOT.values(), *LATER_QUESTIONS.values()]}
    assert {row["indexname"] for row in found} - asked == {"workspaces_name"}  # holds names apart, and is not asked


async def test_the_crowd_is_as_large_as_it_says_and_mostly_settled(operator: asyncpg.Connection) -> None:
    settled = dict(await operator.fetch("SELECT settled, count(*) FROM workspaces GROUP BY settled"))
    assert sum(settled.values()) == COUNT
    assert settled[False] == COUNT / 1000 * 10
