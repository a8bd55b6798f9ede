"""Coordinators of one process are kept alive, each for itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from codehub.coordinators.leadership import Deposed, Leadership
from codehub.coordinators.supervisor import Report, Supervisor, Terms
from codehub.runtimes.errors import RuntimeFault
from codehub.store.protocols import SeatLost
from codehub.store.seat import PostgresSeat
from codehub.store.self_test import other_candidates
from tests.coordinators.house import until
from tests.coordinators.sessions import kill_all, kill_leader

QUICK = Terms(lease_seconds=3.0, retry_seconds=0.05, initial_delay_max_seconds=0.0)


@dataclass
class Clerk:
    """A coordinator that passes again and again, and fails as it is told."""

    name: str
    failures: list[Exception] = field(default_factory=list)
    """Each ends one term."""
    bad_passes: list[Exception] = field(default_factory=list)
    passes: int = 0

    @property
    def lock_name(self) -> str:
        return f"coordinator:{self.name}"

    async def run(self, leadership: Leadership, report: Report) -> None:
        if self.failures:
            raise self.failures.pop()
        while True:
            await leadership.verify()
            with report.one_pass():
                if self.bad_passes:
                    raise self.bad_passes.pop()
                self.passes += 1
            await asyncio.sleep(0.01)


async def nobody_competes() -> bool:
    return False


@asynccontextmanager
async def supervised(database_url: str, *clerks: Clerk) -> AsyncIterator[Supervisor]:
    supervisor = Supervisor(
        [*clerks],
        lambda lock_name: PostgresSeat.take(database_url, lock_name, "first", QUICK.lease_seconds),
        nobody_competes,
        QUICK,
    )
    task = asyncio.create_task(supervisor.run())
    try:
        yield supervisor
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until_passed(clerk: Clerk) -> None:
    before = clerk.passes

    async def passed() -> bool | None:
        return clerk.passes > before or None

    await until(passed, 30)


async def test_one_that_fails_is_started_again_and_takes_nobody_with_it(database_url: str) -> None:
    weak, strong = Clerk("weak", failures=[ValueError("oh")] * 3), Clerk("strong")
    async with supervised(database_url, weak, strong) as supervisor:
        await until_passed(weak)
        await until_passed(strong)
        reports = supervisor.reports
        assert (reports["weak"].restarts, reports["weak"].last_error) == (3, "ValueError: oh")
        assert (reports["strong"].restarts, reports["strong"].last_error) == (0, None)
        assert reports["weak"].is_leader
        assert reports["weak"].epoch == 4


async def test_the_failure_inside_a_task_group_is_told_by_its_own_name(database_url: str) -> None:
    clerk = Clerk("grouped", failures=[ExceptionGroup("tasks", [ValueError("oh")])])
    async with supervised(database_url, clerk) as supervisor:
        await until_passed(clerk)
        assert supervisor.reports["grouped"].last_error == "ValueError: oh"


async def test_a_pass_that_fails_is_told_and_the_term_goes_on(database_url: str) -> None:
    clerk = Clerk("clumsy", bad_passes=[RuntimeFault("away")])
    async with supervised(database_url, clerk) as supervisor:
        await until_passed(clerk)
        report = supervisor.reports["clumsy"]
        assert (report.restarts, report.last_error, report.is_failing) == (0, "RuntimeFault: away", False)


async def test_a_seat_that_is_lost_in_a_pass_ends_the_term(database_url: str) -> None:
    clerk = Clerk("cut off", bad_passes=[SeatLost("gone")])
    async with supervised(database_url, clerk) as supervisor:
        await until_passed(clerk)
        assert supervisor.reports["cut off"].restarts == 1


async def test_a_deposition_inside_a_task_group_is_the_end_of_a_term_and_no_failure(database_url: str) -> None:
    clerk = Clerk("first", failures=[ExceptionGroup("its tasks", [Deposed(), SeatLost()])])
    async with supervised(database_url, clerk) as supervisor:
        await until_passed(clerk)
        report = supervisor.reports["first"]
        assert (report.restarts, report.last_error) == (1, None)


async def test_killed_again_and_again_it_comes_back_each_time(database_url: str) -> None:
    clerk = Clerk("stubborn")
    async with supervised(database_url, clerk) as supervisor:
        for _ in range(10):
            await until_passed(clerk)
            await kill_leader(database_url, clerk.lock_name)
        await until(lambda: _restarted(supervisor.reports["stubborn"], 10), 30)
        await until_passed(clerk)


async def test_all_connections_ended_costs_one_term_each(database_url: str) -> None:
    clerks = [Clerk(f"clerk-{number}") for number in range(4)]
    async with supervised(database_url, *clerks):
        for clerk in clerks:
            await until_passed(clerk)
        await kill_all(database_url)
        for clerk in clerks:
            await until_passed(clerk)


async def test_only_where_others_of_the_same_installation_are_seen_is_the_start_put_off(
    database_url: str, empty_database_url: str
) -> None:
    assert not await other_candidates(database_url)
    clerk = Clerk("alone")
    async with supervised(database_url, clerk):
        await until_passed(clerk)
        assert await other_candidates(database_url)
        assert not await other_candidates(empty_database_url)


async def test_a_database_that_does_not_answer_shows_nobody(database_url: str) -> None:
    assert not await other_candidates(database_url.replace("/test_", "/nowhere_"))


async def _restarted(report: Report, times: int) -> bool | None:
    return report.restarts >= times or None
