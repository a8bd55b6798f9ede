"""Both idle clocks: when each begins, when it is due, and what keeps a workspace awake."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from codehub.decide.idle import NEVER, IdlePolicy, Sleep, StayAwake, Watch, idle, is_current, within_ceiling
from codehub.model.states import Desired, Operation, Phase
from codehub.model.workspace import Workspace
from tests.decide.builders import MOMENT, T0, after, running, standby

POLICY = IdlePolicy(standby_after_seconds=600, archive_after_seconds=1800)

AT_REST = {(Phase.RUNNING, Desired.RUNNING), (Phase.STANDBY, Desired.STANDBY)}
ELSEWHERE = [(phase, desired) for phase in Phase for desired in Desired if (phase, desired) not in AT_REST]


def awake(row: Workspace, held_until: datetime | None = None, policy: IdlePolicy = POLICY) -> datetime | None:
    """Until when the row stays awake, having proved that it does so up to that moment and not beyond."""
    answer = idle(row, policy, held_until, T0)
    assert isinstance(answer, StayAwake)
    if answer.until is not None:
        desired = Desired.STANDBY if row.phase is Phase.RUNNING else Desired.ARCHIVED
        assert idle(row, policy, held_until, answer.until) == answer
        assert idle(row, policy, held_until, answer.until + timedelta(seconds=MOMENT)) == Sleep(desired)
    return answer.until


def test_a_ceiling_is_off_and_activity_may_be_thirty_seconds_late_by_default() -> None:
    assert IdlePolicy(600, 1800, NEVER, NEVER, timedelta(seconds=30)) == POLICY


class TestRunning:
    def test_it_sleeps_after_its_idle_time_and_the_flush_interval(self) -> None:
        assert awake(running(phase_changed_at=T0, last_access_at=T0)) == after(630)

    def test_the_clock_begins_at_the_last_access(self) -> None:
        assert awake(running(phase_changed_at=after(-500), last_access_at=after(-100))) == after(530)

    def test_a_fresh_wake_counts_more_than_an_old_access(self) -> None:
        assert awake(running(phase_changed_at=after(-100), last_access_at=after(-5000))) == after(530)

    def test_one_that_was_never_visited_counts_from_its_wake(self) -> None:
        assert awake(running(phase_changed_at=after(-100))) == after(530)

    def test_the_flush_interval_is_the_policys(self) -> None:
        policy = IdlePolicy(600, 1800, flush_interval=timedelta(seconds=7))
        assert awake(running(phase_changed_at=T0), policy=policy) == after(607)

    def test_a_hold_keeps_it_awake_until_the_hold_ends(self) -> None:
        assert awake(running(phase_changed_at=T0), held_until=after(631)) == after(631)

    def test_a_hold_that_ends_earlier_changes_nothing(self) -> None:
        assert awake(running(phase_changed_at=T0), held_until=after(629)) == after(630)

    def test_its_own_idle_time_goes_before_the_installations(self) -> None:
        assert awake(running(phase_changed_at=T0, standby_after_seconds=60, archive_after_seconds=1)) == after(90)

    def test_its_own_idle_time_stays_within_the_standby_ceiling(self) -> None:
        policy = IdlePolicy(600, 1800, standby_ceiling_seconds=3600, archive_ceiling_seconds=1)
        assert awake(running(phase_changed_at=T0, standby_after_seconds=7200), policy=policy) == after(3630)

    def test_never_is_never(self) -> None:
        assert awake(running(phase_changed_at=after(-(10**8)), standby_after_seconds=NEVER)) is None

    def test_never_holds_with_a_hold_too(self) -> None:
        row = running(phase_changed_at=after(-(10**8)), standby_after_seconds=NEVER)
        assert awake(row, held_until=after(-10)) is None


class TestStandby:
    def test_it_is_archived_after_its_time_in_standby(self) -> None:
        assert awake(standby(phase_changed_at=T0)) == after(1800)

    def test_accesses_and_holds_do_not_keep_a_sleeper_from_its_archive(self) -> None:
        assert awake(standby(phase_changed_at=T0, last_access_at=after(900)), held_until=after(9000)) == after(1800)

    def test_its_own_idle_time_goes_before_the_installations(self) -> None:
        assert awake(standby(phase_changed_at=T0, archive_after_seconds=60, standby_after_seconds=1)) == after(60)

    def test_its_own_idle_time_stays_within_the_archive_ceiling(self) -> None:
        policy = IdlePolicy(600, 1800, standby_ceiling_seconds=1, archive_ceiling_seconds=3600)
        assert awake(standby(phase_changed_at=T0, archive_after_seconds=NEVER), policy=policy) == after(3600)

    def test_never_is_never(self) -> None:
        assert awake(standby(phase_changed_at=after(-(10**8)), archive_after_seconds=NEVER)) is None


class TestNotConsidered:
    @pytest.mark.parametrize(("phase", "desired"), ELSEWHERE)
    def test_only_a_workspace_at_rest_in_its_wish_goes_to_sleep(self, phase: Phase, desired: Desired) -> None:
        row = running(phase=phase, desired_state=desired, phase_changed_at=after(-(10**8)))
        assert idle(row, POLICY, None, T0) == StayAwake(None)

    @pytest.mark.parametrize("operation", [operation for operation in Operation if operation is not Operation.NONE])
    @pytest.mark.parametrize("build", [running, standby])
    def test_nothing_goes_to_sleep_during_an_operation(
        self, build: Callable[..., Workspace], operation: Operation
    ) -> None:
        busy = build(phase_changed_at=after(-(10**8)), operation=operation)
        assert idle(busy, POLICY, None, T0) == StayAwake(None)

    @pytest.mark.parametrize("build", [running, standby])
    def test_nothing_goes_to_sleep_whose_clock_has_not_begun(self, build: Callable[..., Workspace]) -> None:
        assert idle(build(phase_changed_at=None), POLICY, None, T0) == StayAwake(None)


@pytest.mark.parametrize(
    ("override", "default", "ceiling", "expected"),
    [
        (None, 600, NEVER, 600),
        (60, 600, NEVER, 60),
        (NEVER, 600, NEVER, NEVER),
        (None, NEVER, NEVER, NEVER),
        (None, 600, 601, 600),
        (None, 600, 600, 600),
        (None, 600, 599, 599),
        (599, 60, 600, 599),
        (601, 60, 600, 600),
        (NEVER, 60, 600, 600),
        (None, NEVER, 600, 600),
        (None, 600, 1, 1),
    ],
)
def test_the_idle_time_in_force_is_the_chosen_one_within_the_ceiling(
    override: int | None, default: int, ceiling: int, expected: int
) -> None:
    assert within_ceiling(override, default, ceiling) == expected


class TestWatched:
    """Idle is who was watched and seen to do nothing."""

    ROW = running(phase_changed_at=after(-9000), last_access_at=after(-5000))

    def test_the_clock_begins_anew_where_something_may_have_been_missed(self) -> None:
        watch = Watch(since=after(-100), until=T0)
        assert idle(self.ROW, POLICY, None, T0, watch) == StayAwake(after(530))
        watch = Watch(since=after(-6000), until=T0)
        assert idle(self.ROW, POLICY, None, T0, watch) == Sleep(Desired.STANDBY)

    def test_the_clock_stands_still_where_a_front_door_has_last_spoken(self) -> None:
        row = running(phase_changed_at=T0)
        for spoke, answer in ((600, StayAwake(after(630))), (600 + MOMENT, Sleep(Desired.STANDBY))):
            watch = Watch(since=T0, until=after(spoke))
            assert idle(row, POLICY, None, after(9000), watch) == answer

    def test_what_was_known_a_flush_ago_is_known_well_enough(self) -> None:
        watch = Watch(since=T0, until=after(630))
        assert idle(running(phase_changed_at=T0), POLICY, None, after(630), watch) == StayAwake(after(630))

    def test_a_sleeper_needs_nobody_to_watch_it(self) -> None:
        watch = Watch(since=after(1800), until=T0)
        assert idle(standby(phase_changed_at=T0), POLICY, None, after(1801), watch) == Sleep(Desired.ARCHIVED)

    def test_a_front_door_may_be_silent_for_two_intervals(self) -> None:
        assert is_current(timedelta(seconds=60), POLICY)
        assert not is_current(timedelta(seconds=60 + MOMENT), POLICY)
