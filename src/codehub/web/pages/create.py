"""Making a workspace from a template, and deleting one: pages that ask first."""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from codehub.decide.undelete import undelete_seconds
from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.settings.idle_times import idle_policy
from codehub.store.listing import one
from codehub.store.templates import all_templates
from codehub.web.api.schemas.wishes import NewWorkspaceBody
from codehub.web.api.schemas.workspace_fields import GIB
from codehub.web.api.workspace_problems import NoSuchWorkspace
from codehub.web.api.workspaces import create_workspace, whose
from codehub.web.idempotency import Once
from codehub.web.pages.actions import told
from codehub.web.pages.idle_choices import ARCHIVE_AFTER, STANDBY_AFTER, within
from codehub.web.pages.numbers import number, scaled
from codehub.web.pages.reading import Message, person
from codehub.web.pages.refusing import NONE, Mistakes, wrong_fields
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces", include_in_schema=False)

Text = Annotated[str, Field(max_length=1000)]
Sent = Annotated[str, Form(alias="csrf_token")]

UNDO_SECONDS = 10
"""For how long a deletion that was confirmed can be called off before it is asked for."""


class Filled(BaseModel):
    """The form for a new workspace, as it was sent: texts, of which what is wrong is shown again."""

    csrf_token: str = ""
    name: Text = ""
    template: Text = ""
    description: Text = ""
    repository: Text = ""
    memory: Text = ""
    cpus: Text = ""
    standby: Text = ""
    archive: Text = ""
    start: bool = False

    def body(self) -> dict[str, Any]:
        """As the API takes it. What is no number stays as it is, and is refused there."""
        resources = {"memory_bytes": scaled(self.memory, GIB), "cpus": number(self.cpus)}
        return {
            "name": self.name.strip(),
            "template": self.template,
            "description": self.description.strip(),
            "git_url": self.repository.strip() or None,
            "resources": {name: value for name, value in resources.items() if value is not None},
            "desired_state": Desired.RUNNING if self.start else Desired.STANDBY,
            "standby_after_seconds": scaled(self.standby, 1),
            "archive_after_seconds": scaled(self.archive, 1),
        }


@router.get("/new")
async def ask_for_new(request: Request) -> Response:
    return await _new_page(request, await person(request), Filled(start=True))


@router.post("/new")
async def make_new(request: Request, filled: Annotated[Filled, Form()]) -> Response:
    caller = await parts_of(request).callers.identify_form(request, filled.csrf_token)
    try:
        body = NewWorkspaceBody.model_validate(filled.body())
        await create_workspace(request, body, caller, Once(request))
    except ValidationError as error:
        return await _new_page(request, caller, filled, Mistakes(wrong=wrong_fields(error)))
    except Refused as refusal:
        return await _new_page(request, caller, filled, Mistakes(refusal))
    return told(request, caller, [Message("done.created", {"name": body.name})])


async def _new_page(request: Request, caller: Caller, filled: Filled, mistakes: Mistakes = NONE) -> Response:
    parts = parts_of(request)
    ttl = parts.settings.ttl
    return form_page(
        request,
        "create.html",
        mistakes.status,
        caller=caller,
        templates=await all_templates(parts.reads),
        filled=filled,
        standby_after=within(STANDBY_AFTER, ttl.standby_ceiling_seconds),
        archive_after=within(ARCHIVE_AFTER, ttl.archive_ceiling_seconds),
        trouble=mistakes.said(request, caller),
        wrong=mistakes.wrong,
        are_numbers_wrong=bool(mistakes.wrong - {"name", "git_url"}),
    )


@router.get("/{workspace_id}/delete")
async def ask_to_delete(request: Request, workspace_id: UUID) -> Response:
    """What would be lost, and for how long it could be undone. The form goes where every deed goes (`actions.py`)."""
    caller = await person(request)
    shown = await _own(request, caller, workspace_id)
    seconds = undelete_seconds(shown, idle_policy(parts_of(request).settings).undelete_window)
    window = timedelta(seconds=seconds) if seconds else None
    return form_page(request, "delete.html", caller=caller, shown=shown, window=window, undo_seconds=UNDO_SECONDS)


async def _own(request: Request, caller: Caller, workspace_id: UUID) -> ShownWorkspace:
    found = await one(parts_of(request).reads, workspace_id, whose(caller))
    if found is None:
        raise NoSuchWorkspace
    return found
