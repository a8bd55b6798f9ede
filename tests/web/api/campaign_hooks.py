"""Lets made-up calls reach further: a template that exists is not found by chance, and who disables the account that
the campaign is made with, which is easily found, learns nothing more."""

from typing import Any
from uuid import UUID, uuid4

import schemathesis

from tests.web.api.workspaces import TEMPLATE

BOSS = UUID("b055b055-b055-4055-8055-b055b055b055")
"""The campaign's own account."""


@schemathesis.hook("map_body")
def name_a_template(context: schemathesis.HookContext, body: Any) -> Any:  # noqa: ANN401 (whatever was made up)
    """Where the made-up name is a word at all; mistakes stay mistakes."""
    operation = context.operation
    is_creation = operation is not None and operation.label == "POST /api/v1/workspaces"
    if is_creation and isinstance(body, dict) and isinstance(body.get("template"), str):
        return {**body, "template": TEMPLATE}
    return body


@schemathesis.hook("before_call")
def leave_the_boss_alone(
    _context: schemathesis.HookContext, case: schemathesis.Case[Any], _kwargs: dict[str, Any]
) -> None:
    parameters = case.path_parameters
    if case.method != "GET" and str(parameters.get("user_id")) == str(BOSS):
        parameters["user_id"] = str(uuid4())
