"""What no decision ever does, whatever the row says and however the world looks; named after the contracts."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given

from codehub.decide.judge import broken_invariant, judge
from codehub.decide.plan import Circumstances, plan
from codehub.decide.view import CONFIRM_LOSS_AFTER, Container, view
from codehub.model.conditions import Conditions, Status
from codehub.model.plans import Answer, Begin, Continue, Died, Dismiss, Finish, GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.states import LEVEL, Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import POLICY
from tests.decide.strategies import any_rows, bounded, circumstances, rows
from tests.decide.transitions import refused

MAX_RETRIES = POLICY.max_retries


@bounded
@given(any_rows, circumstances)
def test_contract_2_a_plan_is_a_function_of_row_and_circumstances_and_there_always_is_one(
    row: Workspace, around: Circumstances
) -> None:
    assert plan(row, around) == plan(replace(row), replace(around))


@bounded
@given(rows)
def test_the_rows_drawn_here_as_written_are_rows_that_the_database_takes(row: Workspace) -> None:
    assert refused(row) == []


@bounded
@given(any_rows)
def test_contract_2_judging_again_changes_nothing(row: Workspace) -> None:
    phase = judge(row, MAX_RETRIES)
    assert judge(replace(row, phase=phase), MAX_RETRIES) is phase


@bounded
@given(rows, circumstances)
def test_contract_1_a_look_begun_before_the_act_ended_never_completes_an_operation(
    row: Workspace, around: Circumstances
) -> None:
    looks = [look for look in (row.conditions.volume, row.conditions.archive, row.conditions.container) if look]
    newest = max((look.observed_from for look in looks), default=around.now)
    acted_since = replace(row, acted_at=newest + timedelta(microseconds=1))
    assert not isinstance(plan(acted_since, around), Finish)


@bounded
@given(rows, circumstances)
def test_contract_1_a_look_at_something_else_never_completes_the_making_of_it(
    row: Workspace, around: Circumstances
) -> None:
    elsewhere = Conditions(
        volume=row.conditions.volume and replace(row.conditions.volume, subject="another"),
        archive=row.conditions.archive and replace(row.conditions.archive, subject="another"),
        container=row.conditions.container,
    )
    planned = plan(replace(row, conditions=elsewhere), around)
    if isinstance(planned, Finish):
        assert row.operation is Operation.STOPPING or row.current_volume is None


@bounded
@given(any_rows, circumstances)
def test_contract_4_no_operation_begins_while_another_is_under_way(row: Workspace, around: Circumstances) -> None:
    planned = plan(row, around)
    if row.operation is Operation.NONE:
        assert not isinstance(planned, Continue | Finish | Withdraw | Retry)
    else:
        assert not isinstance(planned, Begin | Answer | Dismiss | Died)


@bounded
@given(any_rows, circumstances)
def test_contract_4_what_breaks_under_way_ends_the_operation_before_it_is_an_error(
    row: Workspace, around: Circumstances
) -> None:
    if row.operation is Operation.NONE:
        return
    assert judge(row, MAX_RETRIES) is not Phase.ERROR
    if broken_invariant(row, view(row)) is not None:
        assert isinstance(plan(row, around), GiveUp | Finish | Withdraw)


@bounded
@given(rows, circumstances)
def test_contract_4_in_error_nothing_begins_but_what_its_owner_asks_for(row: Workspace, around: Circumstances) -> None:
    if row.operation is Operation.NONE and judge(row, MAX_RETRIES) is Phase.ERROR:
        planned = plan(row, around)
        assert not isinstance(planned, Begin) or planned.consumes is not None


RUNGS = {
    Operation.PROVISIONING: (Phase.PENDING, Phase.STANDBY),
    Operation.CREATE_EMPTY_ARCHIVE: (Phase.PENDING, Phase.ARCHIVED),
    Operation.RESTORING: (Phase.ARCHIVED, Phase.STANDBY),
    Operation.STARTING: (Phase.STANDBY, Phase.RUNNING),
    Operation.ARCHIVING: (Phase.STANDBY, Phase.ARCHIVED),
}


@bounded
@given(rows, circumstances)
def test_contract_5_each_operation_takes_one_step_towards_the_wish(row: Workspace, around: Circumstances) -> None:
    planned, phase = plan(row, around), judge(row, MAX_RETRIES)
    if not isinstance(planned, Begin) or planned.operation not in RUNGS:
        return
    before, beyond = RUNGS[planned.operation]
    assert phase is before
    if row.request is None:
        wanted = LEVEL[Phase(row.desired_state)]
        assert abs(wanted - LEVEL[beyond]) < abs(wanted - LEVEL[before])


@bounded
@given(rows, circumstances)
def test_contract_5_a_container_is_stopped_only_where_it_is_not_wanted(row: Workspace, around: Circumstances) -> None:
    planned = plan(row, around)
    if isinstance(planned, Begin) and planned.operation is Operation.STOPPING and row.request is None:
        assert view(row).container.is_there or judge(row, MAX_RETRIES) is Phase.RUNNING
        assert row.desired_state is not Desired.RUNNING


@bounded
@given(any_rows, circumstances)
def test_contract_8_no_volume_is_released_unless_its_archive_was_seen_whole_and_its_key_is_stored(
    row: Workspace, around: Circumstances
) -> None:
    if plan(row, around) != Continue(Step.RELEASE):
        return
    archive = row.conditions.archive
    assert archive is not None
    assert archive.status is Status.TRUE
    assert archive.subject == row.archive_key is not None
    if row.op_step is Step.VERIFIED and row.acted_at is not None:
        assert archive.observed_from >= row.acted_at


@bounded
@given(rows, circumstances)
def test_contract_8_no_volume_is_deleted_of_a_workspace_that_is_wanted(row: Workspace, around: Circumstances) -> None:
    wanted = replace(row, desired_state=Desired.RUNNING, deleted_at=None)
    planned = plan(wanted, around)
    assert not isinstance(planned, Begin | Continue) or planned.step is not Step.DELETE


@bounded
@given(any_rows, circumstances)
def test_contract_8_no_volume_is_deleted_before_its_container_was_seen_gone(
    row: Workspace, around: Circumstances
) -> None:
    planned = plan(row, around)
    if isinstance(planned, Begin | Continue) and planned.step in (Step.RELEASE, Step.DELETE):
        assert view(row).container is Container.NONE


@bounded
@given(any_rows, circumstances)
def test_contract_8_no_home_is_made_over_one_that_the_row_remembers(row: Workspace, around: Circumstances) -> None:
    planned = plan(row, around)
    if not isinstance(planned, Begin):
        return
    if planned.operation in (Operation.PROVISIONING, Operation.CREATE_EMPTY_ARCHIVE):
        assert (row.home_volume, row.archive_key) == (None, None)
    if planned.operation is Operation.RESTORING:
        assert row.home_volume is None
        assert view(row).archive is Status.TRUE


@bounded
@given(any_rows, circumstances)
def test_contract_8_what_a_row_remembers_of_its_home_changes_only_by_its_owners_word(
    row: Workspace, around: Circumstances
) -> None:
    planned = plan(row, around)
    if isinstance(planned, Answer) and (planned.home_volume, planned.archive_key) != (row.home_volume, row.archive_key):
        assert planned.request.kind is not RequestKind.RECOVER
        assert row.home_volume is None or judge(row, MAX_RETRIES) is Phase.ERROR
        assert row.home_volume is None or view(row).volume is not Status.TRUE
    if isinstance(planned, Finish) and planned.home_volume != row.home_volume:
        made = row.operation in (Operation.PROVISIONING, Operation.RESTORING) and planned.home_volume == row.op_volume
        gone = row.operation in (Operation.ARCHIVING, Operation.DELETING) and planned.home_volume is None
        assert made or gone


@bounded
@given(rows, circumstances)
def test_contract_8_a_home_is_called_lost_only_after_two_looks_that_are_apart(
    row: Workspace, around: Circumstances
) -> None:
    planned = plan(row, around)
    if isinstance(planned, GiveUp) and planned.fault.reason is ErrorReason.DATA_LOST:
        look = row.conditions.volume if row.home_volume else row.conditions.archive
        assert look is not None
        assert look.subject == (row.home_volume or row.archive_key)
        assert look.observed_from - look.last_transition_time >= CONFIRM_LOSS_AFTER


BEFORE_ITS_POINT_OF_NO_RETURN = (Step.ARCHIVE, Step.VERIFY, Step.VERIFIED)


@bounded
@given(rows, circumstances)
def test_wake_wins_over_every_archive_before_its_point_of_no_return(row: Workspace, around: Circumstances) -> None:
    if row.operation is not Operation.ARCHIVING or row.op_step not in BEFORE_ITS_POINT_OF_NO_RETURN:
        return
    for wish in (Desired.STANDBY, Desired.RUNNING):
        woken = replace(row, desired_state=wish, deleted_at=None, request=None)
        why = Withdrawal.CONTAINER_APPEARED if view(woken).container.is_there else Withdrawal.WISH_CHANGED
        assert plan(woken, around) == Withdraw(why)
