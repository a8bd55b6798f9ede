"""Both sides of every boundary of the lifecycle: exact times, counts, and the words that people read."""

from dataclasses import replace
from datetime import timedelta

import pytest

from codehub.decide.plan import Acting, plan
from codehub.decide.retry import RetryPolicy, after_death, after_failure, backoff
from codehub.decide.steps import AFTER_ACTION, NEEDS
from codehub.model.conditions import Condition, Reason
from codehub.model.plans import (
    Begin,
    Continue,
    Died,
    Fault,
    GiveUp,
    Retry,
    Waiting,
    WaitUntil,
)
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Service, Step
from codehub.model.workspace import Workspace
from tests.decide.builders import (
    HOME,
    KEY,
    MADE,
    MOMENT,
    OLDER_KEY,
    POLICY,
    T0,
    after,
    archive_seen,
    archived,
    circumstances,
    container_seen,
    no_container,
    pending,
    running,
    seeing,
    standby,
    under_way,
)

STARTING = under_way(standby(desired_state=Desired.RUNNING), Operation.STARTING, Step.START)
STOPPING = under_way(running(desired_state=Desired.STANDBY), Operation.STOPPING, Step.STOP)
ARCHIVING = under_way(standby(desired_state=Desired.ARCHIVED, archive_key=KEY), Operation.ARCHIVING, Step.ARCHIVE)
RELEASING = under_way(archived(), Operation.ARCHIVING, Step.RELEASE, home_volume=None, op_volume=HOME)
RESTORING = under_way(archived(desired_state=Desired.STANDBY), Operation.RESTORING, Step.RESTORE, op_volume=MADE)
DELETING = under_way(standby(desired_state=Desired.DELETED), Operation.DELETING, Step.DELETE)
OWN_FAULT = Fault(ErrorReason.ACTION_FAILED, "no space left")


class TestAttempts:
    """When an attempt is made, waited for, and over."""

    def test_it_acts_until_the_moment_its_time_is_up(self) -> None:
        in_time = circumstances(after(300 - MOMENT), acting=Acting.BUSY)
        assert plan(STARTING, in_time) == WaitUntil(after(300), Waiting.ACTION)
        fault = Fault(ErrorReason.TIMEOUT, "'start' did not end within its limit")
        assert plan(STARTING, circumstances(after(300), acting=Acting.BUSY)) == GiveUp(fault, 1)

    def test_while_its_act_waits_for_a_turn_no_time_is_up(self) -> None:
        assert plan(STARTING, circumstances(after(300), acting=Acting.QUEUED)) == WaitUntil(None, Waiting.TURN)
        started = seeing(replace(STARTING, op_step=Step.STARTED), container=container_seen(Reason.CONTAINER_STARTING))
        assert isinstance(plan(started, circumstances(after(300), acting=Acting.QUEUED)), GiveUp)

    @pytest.mark.parametrize("row", [STARTING, RELEASING, DELETING])
    def test_an_act_that_nobody_has_in_hand_is_begun_however_late_it_is(self, row: Workspace) -> None:
        step = row.op_step
        assert step is not None
        assert plan(row, circumstances(after(10**6))) == Continue(step)

    def test_a_volume_that_may_not_go_yet_is_not_waited_for_for_ever(self) -> None:
        unseen = seeing(RELEASING, container=None)
        assert plan(unseen, circumstances()) == WaitUntil(after(1800), Waiting.OBSERVATION)
        assert isinstance(plan(unseen, circumstances(after(1800))), GiveUp)

    def test_while_it_acts_it_waits_until_its_time_is_up(self) -> None:
        assert plan(STARTING, circumstances(acting=Acting.BUSY)) == WaitUntil(after(300), Waiting.ACTION)

    def test_once_it_acted_it_waits_to_be_seen_until_its_time_is_up(self) -> None:
        row = seeing(replace(STARTING, op_step=Step.STARTED), container=container_seen(Reason.CONTAINER_STARTING))
        assert plan(row, circumstances()) == WaitUntil(after(300), Waiting.OBSERVATION)

    def test_each_attempt_has_the_time_of_its_operation_and_a_pull_its_own(self) -> None:
        policy = replace(POLICY, image_pull_timeout=timedelta(seconds=7))
        waiting = [
            plan(row, circumstances(acting=Acting.BUSY, policy=policy))
            for row in (STOPPING, ARCHIVING, DELETING, replace(STARTING, op_step=Step.PULL))
        ]
        ready = seeing(DELETING, container=no_container())
        assert waiting == [WaitUntil(after(seconds), Waiting.ACTION) for seconds in (300, 1800, 600, 7)]
        assert plan(ready, circumstances()) == Continue(Step.DELETE)

    def test_a_pause_ends_at_its_moment(self) -> None:
        paused = replace(STARTING, next_attempt_at=after(10))
        assert plan(paused, circumstances(after(10 - MOMENT))) == WaitUntil(after(10), Waiting.RETRY)
        assert plan(paused, circumstances(after(10))) == Continue(Step.START)

    def test_the_clock_begins_anew_when_a_service_that_it_needs_is_back(self) -> None:
        for since, until in ((50, 350), (-50, 300)):
            back = circumstances(acting=Acting.BUSY, since=after(since))
            assert plan(STARTING, back) == WaitUntil(after(until), Waiting.ACTION)

    def test_a_clock_that_was_never_set_begins_now(self) -> None:
        row = replace(STARTING, op_clock_at=None)
        assert plan(row, circumstances(after(5), acting=Acting.BUSY)) == WaitUntil(after(305), Waiting.ACTION)

    @pytest.mark.parametrize("step", AFTER_ACTION)
    def test_a_step_waits_for_each_service_that_it_needs(self, step: Step) -> None:
        row = replace(STOPPING, op_step=step)
        for service in Service:
            waits = plan(row, circumstances(away=service)) == WaitUntil(None, Waiting.SERVICE, service)
            assert waits is (service in NEEDS[step])

    def test_an_operation_without_a_step_begins_at_its_first(self) -> None:
        assert plan(replace(STARTING, op_step=None), circumstances()) == Continue(Step.PULL)

    def test_what_was_reported_but_not_seen_is_a_failed_attempt(self) -> None:
        row = seeing(replace(STARTING, op_step=Step.STARTED), container=no_container())
        fault = Fault(ErrorReason.ACTION_FAILED, "'started' was reported, but is not what was seen")
        assert plan(row, circumstances(spread=0.5)) == Retry(after(10), Step.START, fault)
        assert plan(row, circumstances(after(1), spread=0.0)) == Retry(after(9), Step.START, fault)


class TestFailures:
    @pytest.mark.parametrize(("error_count", "pause"), [(0, 10), (1, 20)])
    def test_a_passing_fault_is_tried_again_after_a_doubled_pause(self, error_count: int, pause: int) -> None:
        row = replace(STARTING, error_count=error_count)
        retry = after_failure(row, Step.STARTED, OWN_FAULT, T0, POLICY, 0.5)
        assert retry == Retry(after(pause), Step.START, OWN_FAULT)

    @pytest.mark.parametrize("error_count", [2, 3])
    def test_the_third_failure_is_the_last_and_names_the_fault(self, error_count: int) -> None:
        gives_up = after_failure(replace(STARTING, error_count=error_count), Step.START, OWN_FAULT, T0, POLICY, 0.5)
        fault = Fault(ErrorReason.RETRY_EXCEEDED, "ActionFailed: no space left")
        assert gives_up == GiveUp(fault, error_count + 1)

    def test_a_fault_that_no_attempt_mends_ends_at_once(self) -> None:
        fault = Fault(ErrorReason.IMAGE_PULL_FAILED, "no such image")
        assert after_failure(STARTING, Step.PULL, fault, T0, POLICY, 0.5) == GiveUp(fault, 1)

    @pytest.mark.parametrize("reason", ErrorReason)
    @pytest.mark.parametrize("error_count", [0, 2, 100])
    def test_a_deletion_never_gives_up(self, reason: ErrorReason, error_count: int) -> None:
        outcome = after_failure(
            replace(DELETING, error_count=error_count), Step.REMOVED, Fault(reason, ""), T0, POLICY, 0.5
        )
        assert isinstance(outcome, Retry)
        assert outcome.step is Step.DELETE
        assert outcome.at <= after(900)

    @pytest.mark.parametrize("service", Service)
    def test_a_service_that_is_away_burns_no_retries(self, service: Service) -> None:
        row = replace(STARTING, error_count=2)
        fault = Fault(ErrorReason.UNREACHABLE, "no answer", away=service)
        assert after_failure(row, Step.START, fault, T0, POLICY, 0.5) == WaitUntil(None, Waiting.SERVICE, service)

    @pytest.mark.parametrize(
        ("failures", "spread", "seconds"),
        [(1, 0.0, 8), (1, 0.5, 10), (1, 1.0, 12), (2, 0.5, 20), (7, 0.5, 640), (8, 0.5, 900), (8, 1.0, 1080)],
    )
    def test_pauses_double_up_to_the_longest_and_are_spread_by_a_fifth(
        self, failures: int, spread: float, seconds: float
    ) -> None:
        assert backoff(failures, POLICY, spread) == timedelta(seconds=seconds)

    def test_doubling_stops_by_itself_where_the_longest_pause_would_not_end_it(self) -> None:
        patient = replace(POLICY, first_backoff=timedelta(seconds=1), longest_backoff=timedelta(days=365))
        longest = timedelta(seconds=2**16)
        assert [backoff(failures, patient, 0.5) for failures in (16, 17, 18, 10**6)] == [longest / 2, *[longest] * 3]

    def test_the_policys_defaults(self) -> None:
        minute = timedelta(minutes=1)
        assert (
            RetryPolicy(
                POLICY.timeouts,
                3,
                timedelta(seconds=10),
                15 * minute,
                30 * minute,
                10 * minute,
                5,
                timedelta(seconds=5),
            )
            == POLICY
        )


class TestDeaths:
    @pytest.mark.parametrize(("before", "pause"), [(0, 0), (1, 5), (2, 15), (3, 35)])
    def test_each_death_within_the_window_lengthens_the_pause(self, before: int, pause: int) -> None:
        deaths = tuple(after(-60 + number) for number in range(before))
        died = after_death(running(recent_deaths=deaths), T0, POLICY)
        assert died == Died(after(pause), (*deaths, T0))

    def test_the_fifth_is_a_crash_loop(self) -> None:
        row = running(recent_deaths=tuple(after(-60 + number) for number in range(4)))
        fault = Fault(ErrorReason.ACTION_FAILED, "the IDE ended 5 times within 0:10:00")
        assert after_death(row, T0, POLICY) == GiveUp(fault, 3)
        assert after_death(replace(row, error_count=2), T0, POLICY) == GiveUp(fault, 3)
        assert after_death(replace(row, error_count=3), T0, POLICY) == GiveUp(fault, 4)

    def test_one_that_is_as_old_as_the_window_is_forgotten(self) -> None:
        assert after_death(running(recent_deaths=(after(-600),)), T0, POLICY) == Died(T0, (T0,))
        recent = after(-600 + MOMENT)
        assert after_death(running(recent_deaths=(recent,)), T0, POLICY) == Died(after(5), (recent, T0))


class TestBeginnings:
    def test_an_image_that_could_not_be_built_ends_the_start(self) -> None:
        row = standby(desired_state=Desired.RUNNING, error_count=1)
        fault = Fault(ErrorReason.IMAGE_PULL_FAILED, "the template's image could not be built")
        assert plan(row, circumstances(image=ImageState.FAILED)) == GiveUp(fault, 2)

    def test_an_image_is_waited_for_only_where_it_is_started(self) -> None:
        row = standby(desired_state=Desired.RUNNING)
        assert plan(row, circumstances(image=ImageState.BUILDING)) == WaitUntil(None, Waiting.IMAGE_BUILDING)
        asleep = pending(desired_state=Desired.RUNNING, next_attempt_at=after(10))
        assert plan(asleep, circumstances(image=ImageState.FAILED)) == Begin(Operation.PROVISIONING, Step.CREATE)

    def test_a_restart_waits_for_its_moment(self) -> None:
        row = standby(desired_state=Desired.RUNNING, next_attempt_at=after(10))
        assert plan(row, circumstances(after(10 - MOMENT))) == WaitUntil(after(10), Waiting.RETRY)
        assert plan(row, circumstances(after(10))) == Begin(Operation.STARTING, Step.PULL)

    @pytest.mark.parametrize(
        ("row", "unseen"),
        [
            (standby(desired_state=Desired.RUNNING), {"volume": None}),
            (standby(desired_state=Desired.ARCHIVED), {"volume": None}),
            (standby(desired_state=Desired.ARCHIVED), {"container": None}),
            (standby(desired_state=Desired.DELETED), {"container": None}),
            (archived(desired_state=Desired.STANDBY), {"archive": None}),
            (archived(desired_state=Desired.STANDBY), {"archive": archive_seen(OLDER_KEY)}),
        ],
    )
    def test_what_an_operation_stands_on_is_seen_first(self, row: Workspace, unseen: dict[str, Condition]) -> None:
        assert isinstance(plan(row, circumstances()), Begin)
        assert plan(seeing(row, **unseen), circumstances()) == WaitUntil(None, Waiting.OBSERVATION)

    @pytest.mark.parametrize(
        ("row", "service"),
        [
            (pending(desired_state=Desired.RUNNING), Service.RUNTIME),
            (pending(desired_state=Desired.ARCHIVED), Service.ARCHIVE_STORE),
            (archived(desired_state=Desired.RUNNING), Service.RUNTIME),
            (archived(desired_state=Desired.RUNNING), Service.ARCHIVE_STORE),
        ],
    )
    def test_nothing_begins_while_a_service_that_it_needs_is_away(self, row: Workspace, service: Service) -> None:
        assert plan(row, circumstances(away=service)) == WaitUntil(None, Waiting.SERVICE, service)
