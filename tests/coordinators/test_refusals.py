"""A row that the database refuses to write as decided is left for later, told of, and keeps no other from its turn."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from sqlalchemy import text

from codehub.coordinators.leadership import Deposed
from codehub.coordinators.refusals import FIRST_SECONDS, LONGEST_SECONDS, Refusals
from codehub.coordinators.supervisor import Report
from codehub.model.states import Desired, Phase, Step
from codehub.model.workspace import Workspace
from codehub.store.protocols import SeatLost
from tests.coordinators.house import House, Replica, until
from tests.decide.builders import running
from tests.logged import logged

ROW = running()


@dataclass
class Clerk:
    moment: float = 1000.0
    report: Report = field(default_factory=Report)
    refusals: Refusals = field(init=False)

    def __post_init__(self) -> None:
        self.refusals = Refusals(self.report, lambda: self.moment)

    def fails(self, row: Workspace = ROW, error: Exception | None = None) -> None:
        with self.refusals.bulkhead(row):
            raise error or ValueError("the schema says no")

    def rests_for(self, row: Workspace = ROW) -> float:
        """In seconds, found by letting them pass."""
        began = self.moment
        while self.refusals.rests(row):
            self.moment += FIRST_SECONDS / 2
        return self.moment - began


def test_one_that_is_refused_again_and_again_rests_longer_each_time_within_a_limit() -> None:
    clerk = Clerk()
    pauses = []
    for _ in range(12):
        clerk.fails()
        pauses.append(clerk.rests_for())
    assert pauses[:4] == [FIRST_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert pauses[-1] == LONGEST_SECONDS


CHANGES: dict[str, dict[str, object]] = {
    "moved on": {"op_step": Step.STOP},
    "wished otherwise": {"desired_state": Desired.DELETED},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_that_is_another_by_now_has_its_turn_at_once(change: dict[str, object]) -> None:
    clerk, changed = Clerk(), running(**change)
    clerk.fails()
    clerk.fails()
    assert clerk.refusals.rests(ROW)
    assert not clerk.refusals.rests(changed)
    clerk.fails(changed)
    assert clerk.rests_for(changed) == FIRST_SECONDS


def test_health_tells_of_it_each_time_and_the_log_once() -> None:
    clerk = Clerk()
    with logged() as said:
        for error in (ValueError("no"), ValueError("no, again"), KeyError("other")):
            clerk.fails(error=error)
    assert said.getvalue().count('"workspace left for later"') == 2
    assert (clerk.report.errors, clerk.report.last_error) == (3, "KeyError: 'other'")


@pytest.mark.parametrize("error", [SeatLost("wc"), Deposed("wc")])
def test_a_seat_that_is_lost_is_everybodys_trouble(error: Exception) -> None:
    clerk = Clerk()
    with pytest.raises(type(error)):
        clerk.fails(error=error)
    assert not clerk.refusals.rests(ROW)
    assert clerk.report.errors == 0


async def refuse(house: House, workspace_id: UUID, unless: str) -> None:
    """From now on the table takes changes of this row only where this holds."""
    async with house.pool.begin() as connection:
        check = f"CHECK (id <> '{workspace_id}' OR {unless}) NOT VALID"
        await connection.execute(text(f"ALTER TABLE workspaces ADD CONSTRAINT refuses {check}"))


async def allow(house: House) -> None:
    async with house.pool.begin() as connection:
        await connection.execute(text("ALTER TABLE workspaces DROP CONSTRAINT refuses"))


def has_failed(replica: Replica, times: int) -> Callable[[], Awaitable[bool | None]]:
    async def look() -> bool | None:
        return replica.supervisor.reports["wc"].errors >= times or None

    return look


async def test_an_act_whose_outcome_is_refused_goes_on_when_it_no_longer_is(house: House) -> None:
    replica = house.replica()
    refused = await house.create(Desired.STANDBY)
    await house.until_phase(refused, Phase.STANDBY, 60)
    await refuse(house, refused, "op_step IS DISTINCT FROM 'started'")
    await house.wish(refused, Desired.RUNNING)
    await until(has_failed(replica, 2), 60)
    assert "refuses" in str(replica.supervisor.reports["wc"].last_error)
    other = await house.create(Desired.STANDBY)
    await house.until_phase(other, Phase.STANDBY, 60)
    assert (await house.row(refused)).op_step is Step.START
    await allow(house)
    await house.until_phase(refused, Phase.RUNNING, 90)


async def test_of_many_that_are_judged_at_once_one_that_is_refused_keeps_none(house: House) -> None:
    replica = house.replica()
    ids = [await house.create(Desired.STANDBY) for _ in range(3)]
    for each in ids:
        await house.until_phase(each, Phase.STANDBY, 60)
    await refuse(house, ids[0], "judged_at < observed_at")
    async with house.pool.begin() as connection:
        await connection.execute(text("UPDATE workspaces SET observed_at = observed_at + interval '1 second'"))

    async def the_others_are_judged() -> bool | None:
        rows = [await house.row(each) for each in ids[1:]]
        return all(row.judged_at == row.observed_at for row in rows) or None

    await until(the_others_are_judged, 60)
    await until(has_failed(replica, 1), 60)
