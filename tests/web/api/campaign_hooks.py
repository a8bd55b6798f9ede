"""Lets made-up calls reach further: a template that exists is not found by chance, and who disables the account that
the campaign is made with, which is easily found, learns nothing more."""

from itertools import count
from typing import Any
from uuid import UUID, uuid4

import schemathesis

from tests.web.api.workspaces import TEMPLATE

BOSS = UUID("b055b055-b055-4055-8055-b055b055b055")
"""The campaign's own account."""
GARDEN = UUID("9a4de4de-9a4d-4e4d-8e4d-9a4de4de4de4")
ARCHIVE = UUID("a4c41fe0-a4c4-41fe-8fe0-a4c41fe0a4c4")
"""A workspace of that account, and its archive."""
CREATE = ("POST /api/v1/workspaces", "POST /api/v1/workspaces/{workspace_id}/fork")
ABOUT_ARCHIVES = ("/archives", "/restore", "/fork", "/undelete")


@schemathesis.hook("map_body")
def name_a_template(context: schemathesis.HookContext, body: Any) -> Any:  # noqa: ANN401 (whatever was made up)
    """Where the made-up name is a word at all; mistakes stay mistakes."""
    operation = context.operation
    is_creation = operation is not None and operation.label in CREATE
    if is_creation and isinstance(body, dict) and isinstance(body.get("template", ""), str | None):
        return {**body, "template": TEMPLATE}
    return body


@schemathesis.hook("before_call")
def leave_the_boss_alone(
    _context: schemathesis.HookContext, case: schemathesis.Case[Any], _kwargs: dict[str, Any]
) -> None:
    parameters = case.path_parameters
    if case.method != "GET" and str(parameters.get("user_id")) == str(BOSS):
        parameters["user_id"] = str(uuid4())


@schemathesis.hook("before_call")
def name_an_archive(_context: schemathesis.HookContext, case: schemathesis.Case[Any], _kwargs: dict[str, Any]) -> None:
    """Every other time: what was made up should be told as missing, too."""
    if any(word in case.operation.path for word in ABOUT_ARCHIVES) and next(_TURNS) % 2:
        if "workspace_id" in case.path_parameters:
            case.path_parameters["workspace_id"] = str(GARDEN)
        if "archive_id" in case.path_parameters:
            case.path_parameters["archive_id"] = str(ARCHIVE)
        if isinstance(case.body, dict) and isinstance(case.body.get("archive_id"), str):
            case.body = {**case.body, "archive_id": str(ARCHIVE)}


_TURNS = count()
