"""The document that the API, events, pages and the command line show of a workspace."""

from dataclasses import replace
from datetime import datetime

from codehub.decide.explain import explain
from codehub.decide.idle import IdlePolicy
from codehub.decide.origins import Origins
from codehub.decide.show import show
from codehub.model.shown import Live
from codehub.model.states import Desired, ErrorReason, Operation, Step
from codehub.model.workspace import RequestKind
from tests.decide.builders import OP_ID, T0, WORKSPACE_ID, after
from tests.decide.shown import ARCHIVE, IDLE_POLICY, TEMPLATE_ID, shown

PULLING = shown(operation=Operation.STARTING, op_step=Step.PULL, desired_state=Desired.RUNNING)
PROGRESS = Live("pull", OP_ID, 5, 10, 2.5, 2.0)


def test_all_of_it_is_there() -> None:
    row = shown(
        git_url="https://example.org/garden.git", resources={"cpus": 2}, request=RequestKind.RECOVER, last_access_at=T0
    )
    document = show(row, None, IDLE_POLICY)
    as_stored = (
        "id name description memo git_url resources desired_state desired_reason desired_by phase phase_changed_at"
        " request last_access_at last_activity created_at updated_at revision archive deleted_at"
    )
    assert {name: document.pop(name) for name in as_stored.split()} == {
        name: getattr(row, name) for name in as_stored.split()
    }
    assert document.pop("explanation") == explain(row, None, IDLE_POLICY)
    told_apart = "owner template operation error standby_after_seconds archive_after_seconds idle url undo_until"
    told_apart += " undelete_seconds hold"
    assert set(document) == set(told_apart.split())


def test_it_says_whose_it_is_and_what_it_runs() -> None:
    document = show(shown(description="d", memo="m", revision=3), None, IDLE_POLICY)
    assert document["owner"] == {"id": shown().owner_user_id, "login": "ann"}
    assert document["template"] == {"id": TEMPLATE_ID, "name": "code-server"}
    assert (document["description"], document["memo"], document["revision"], document["url"]) == ("d", "m", 3, None)


def test_its_address_is_told_where_workspaces_have_one() -> None:
    assert show(shown(), None, IDLE_POLICY)["url"] is None
    origins = Origins("https://codehub.example", "spaces.example")
    told = show(shown(), None, replace(IDLE_POLICY, origins=origins))["url"]
    assert told == f"https://{WORKSPACE_ID.hex}.spaces.example/"


def test_the_hold_that_lasts_longest_is_told() -> None:
    assert show(shown(), None, IDLE_POLICY)["hold"] is None
    held = shown(held_until=T0, hold_reason="nightly build")
    assert show(held, None, IDLE_POLICY)["hold"] == {"reason": "nightly build", "until": T0}


def test_an_operation_is_told_with_its_progress() -> None:
    assert show(shown(), None, IDLE_POLICY)["operation"] is None
    assert show(PULLING, PROGRESS, IDLE_POLICY)["operation"] == {
        "name": "STARTING",
        "step": "pull",
        "started_at": after(60),
        "attempt": 1,
        "progress": PROGRESS,
    }
    assert show(PULLING, PROGRESS, IDLE_POLICY)["explanation"] == explain(PULLING, PROGRESS, IDLE_POLICY)


def test_progress_of_another_operation_is_not_told() -> None:
    document = show(PULLING, replace(PROGRESS, op_id=None), IDLE_POLICY)
    assert document["operation"]["progress"] is None
    assert document["explanation"].doing.progress is None


def test_an_error_is_told_in_a_word_and_in_a_sentence() -> None:
    assert show(shown(), None, IDLE_POLICY)["error"] is None
    row = shown(error_reason=ErrorReason.UNREACHABLE, error_count=2, next_attempt_at=after(9))
    assert show(row, None, IDLE_POLICY)["error"] == {
        "reason": "Unreachable",
        "count": 2,
        "next_attempt_at": after(9),
        "sentence": "What it runs on did not answer.",
    }


def test_idle_times_are_told_as_chosen_and_as_in_force() -> None:
    policy = IdlePolicy(600, 3600, standby_ceiling_seconds=900, archive_ceiling_seconds=7200)
    chosen = shown(
        standby_override_seconds=None,
        standby_after_seconds=1200,
        archive_override_seconds=0,
        archive_after_seconds=0,
    )
    document = show(chosen, None, policy)
    assert (document["standby_after_seconds"], document["archive_after_seconds"]) == (None, 0)
    assert document["idle"] == {"standby_after_seconds": 900, "archive_after_seconds": 7200}
    assert show(shown(), None, policy)["idle"] == {"standby_after_seconds": 600, "archive_after_seconds": 3600}


def test_it_is_told_whether_a_deletion_could_be_undone_before_and_after_it() -> None:
    week = 7 * 86400

    def told(**columns: object) -> tuple[int, datetime | None]:
        document = show(shown(**columns), None, IDLE_POLICY)
        return document["undelete_seconds"], document["undo_until"]

    assert told() == (0, None)
    assert told(archive=ARCHIVE) == (week, None)
    assert told(archive=ARCHIVE, deleted_at=after(9)) == (week, after(9 + week))
    assert told(deleted_at=after(9)) == (0, None)
    document = show(shown(archive=ARCHIVE, deleted_at=after(9)), None, IdlePolicy(600, 3600))
    assert (document["undelete_seconds"], document["undo_until"]) == (0, None)


def test_a_workspace_without_a_template_names_none() -> None:
    assert show(shown(template_id=None, template_name=None), None, IDLE_POLICY)["template"] is None


def test_at_rest_it_is_so_since_its_phase_began_not_since_what_led_there() -> None:
    row = shown(op_started_at=after(-60))
    assert row.operation is Operation.NONE
    assert explain(row, None, IDLE_POLICY).since == row.phase_changed_at != row.op_started_at
