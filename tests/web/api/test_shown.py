"""What is shown of a workspace is what the interface describes."""

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest

from codehub.decide.origins import Origins
from codehub.decide.show import show
from codehub.model.activity import Kind
from codehub.model.plans import Waiting
from codehub.model.shown import Live, ShownWorkspace
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind
from codehub.web.api.schemas.workspace import Workspace
from tests.decide.builders import OP_ID, after
from tests.decide.shown import ARCHIVE, IDLE_POLICY, shown, waiting

PULLING = shown(operation=Operation.STARTING, op_step=Step.PULL, desired_state=Desired.RUNNING)
PROGRESS = Live("pull", OP_ID, 5, 10, 2.5, 2.0)


def written(row: ShownWorkspace, live: Live | None = None) -> dict[str, Any]:
    policy = replace(IDLE_POLICY, origins=Origins("https://codehub.example.org", "dev.example.org"))
    document: dict[str, Any] = orjson.loads(orjson.dumps(show(row, live, policy)))
    return document


@pytest.mark.parametrize(
    ("row", "live"),
    [
        (shown(), None),
        (shown(template_id=None, template_name=None, image=None), None),
        (shown(git_url="https://example.org/garden.git", resources={"cpus": 2.0}), None),
        (PULLING, PROGRESS),
        (shown(phase=Phase.PENDING), waiting(Waiting.SERVICE, Service.RUNTIME)),
        (shown(phase=Phase.ERROR, error_reason=ErrorReason.DATA_LOST, error_count=1), None),
        (shown(request=RequestKind.RECOVER, last_access_at=after(0)), None),
        (shown(last_activity=Kind.EDIT, held_until=after(60), hold_reason="nightly build"), None),
        (shown(archive=ARCHIVE, deleted_at=after(0), desired_state=Desired.DELETED, phase=Phase.DELETED), None),
    ],
)
def test_it_is_as_the_interface_describes_it(row: ShownWorkspace, live: Live | None) -> None:
    document = written(row, live)
    described = Workspace.model_validate_json(orjson.dumps(document), strict=True).model_dump(mode="json")
    assert set(document) == set(Workspace.model_fields) == set(described)
    assert _shape(described) == _shape(document)


def _shape(value: object) -> object:
    """Times are written in two ways that mean the same."""
    return json.loads(json.dumps(value).replace("+00:00", "Z"))


def test_the_example_of_the_interface_is_one() -> None:
    [example] = Workspace.model_json_schema()["examples"]
    assert set(example) == set(Workspace.model_validate(example).model_dump())
