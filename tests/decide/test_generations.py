"""Owners are told why an archive stays by the rules that the collector goes by."""

from datetime import timedelta
from uuid import UUID

import pytest

from codehub.decide.generations import stays_because
from codehub.decide.orphans import CollectPolicy, Generation
from codehub.model.states import Desired, ErrorReason
from codehub.model.workspace import RequestKind, Workspace
from tests.decide.builders import KEY, OLDER_KEY, T0, WORKSPACE_ID, after, archived, in_error, request, workspace

POLICY = CollectPolicy(grace=timedelta(hours=2), max_share=0.05, generations=1, undelete_window=timedelta(seconds=100))
FORK = UUID(int=77)
NEWEST = Generation(KEY, WORKSPACE_ID, after(0), kept=False)
OLDER = Generation(OLDER_KEY, WORKSPACE_ID, after(-60), kept=False)
AT_REST = archived(archive_op_id=None)


def why(row: Workspace, *others: Workspace, archive: Generation = OLDER, now: int = 0) -> str | None:
    return stays_because(archive, row, others, (NEWEST, archive), POLICY, after(now))


def fork(**columns: object) -> Workspace:
    return workspace(id=FORK, **columns)


@pytest.mark.parametrize(
    ("told", "row", "others", "archive"),
    [
        (None, AT_REST, (), OLDER),
        ("it is the current archive", AT_REST, (), NEWEST),
        ("its owner keeps it", AT_REST, (), Generation(OLDER_KEY, WORKSPACE_ID, after(-60), kept=True)),
        ("its workspace is in ERROR", in_error(ErrorReason.TIMEOUT), (), OLDER),
        ("another workspace was made from it", AT_REST, (fork(archive_key=OLDER_KEY),), OLDER),
        (
            "another workspace was made from it",
            AT_REST,
            (fork(request=request(RequestKind.FORK, OLDER_KEY)),),
            OLDER,
        ),
        (None, AT_REST, (fork(archive_key=KEY),), OLDER),
        ("it is the current archive", AT_REST, (fork(archive_key=KEY),), NEWEST),
    ],
)
def test_what_points_to_it_keeps_it(
    told: str | None, row: Workspace, others: tuple[Workspace, ...], archive: Generation
) -> None:
    assert why(row, *others, archive=archive) == told


def test_that_of_a_deleted_workspace_stays_as_long_as_it_can_be_brought_back() -> None:
    gone = archived(archive_op_id=None, desired_state=Desired.DELETED, deleted_at=T0)
    assert why(gone, now=99) == "its workspace can still be brought back"
    assert why(gone, now=100) is None
