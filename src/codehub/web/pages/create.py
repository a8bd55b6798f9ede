"""Making a workspace from a template or from an archive of another one, and deleting one: pages that ask first."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from codehub.decide.idle import NEVER
from codehub.decide.undelete import undelete_seconds
from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.model.states import Desired
from codehub.settings.idle_times import idle_policy
from codehub.store.listing import one
from codehub.store.templates import all_templates
from codehub.web.api.schemas.archives import NewFork
from codehub.web.api.schemas.wishes import NewWorkspaceBody
from codehub.web.api.schemas.workspace_fields import GIB
from codehub.web.api.workspace_problems import NoArchive, NoSuchWorkspace
from codehub.web.api.workspace_requests import fork_workspace
from codehub.web.api.workspaces import create_workspace
from codehub.web.idempotency import Once
from codehub.web.pages.actions import told
from codehub.web.pages.reading import Message, person, reading
from codehub.web.pages.refusing import said
from codehub.web.pages.render import form_page
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/workspaces", include_in_schema=False)

Text = Annotated[str, Field(max_length=1000)]
Sent = Annotated[str, Form(alias="csrf_token")]

UNDO_SECONDS = 10
"""For how long a deletion that was confirmed can be called off before it is asked for."""
STANDBY_AFTER = (600, 1800, 3600, 4 * 3600, 12 * 3600, NEVER)
ARCHIVE_AFTER = (3600, 86400, 7 * 86400, 30 * 86400, NEVER)


class Filled(BaseModel):
    """The form for a new workspace, as it was sent: texts, of which what is wrong is shown again."""

    csrf_token: str = ""
    name: Text = ""
    template: Text = ""
    description: Text = ""
    memory: Text = ""
    cpus: Text = ""
    standby: Text = ""
    archive: Text = ""
    start: bool = False

    def body(self) -> dict[str, Any]:
        """As the API takes it. What is no number stays as it is, and is refused there."""
        resources = {"memory_bytes": _scaled(self.memory, GIB), "cpus": _number(self.cpus)}
        return {
            "name": self.name.strip(),
            "template": self.template,
            "description": self.description.strip(),
            "resources": {name: value for name, value in resources.items() if value is not None},
            "desired_state": Desired.RUNNING if self.start else Desired.STANDBY,
            "standby_after_seconds": _scaled(self.standby, 1),
            "archive_after_seconds": _scaled(self.archive, 1),
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
        return await _new_page(request, caller, filled, wrong=_fields(error))
    except Refused as refusal:
        return await _new_page(request, caller, filled, refusal)
    return told(request, caller, [Message("done.created", {"name": body.name})])


def _number(text: str) -> float | str | None:
    with suppress(ValueError):
        return float(text) if text.strip() else None
    return text


def _scaled(text: str, unit: int) -> int | float | str | None:
    number = _number(text)
    if isinstance(number, float) and abs(number) < 1e15:
        return round(number * unit)
    return number


def _fields(error: ValidationError) -> set[str]:
    return {str(mistake["loc"][-1]) for mistake in error.errors()}


async def _new_page(
    request: Request,
    caller: Caller,
    filled: Filled,
    refusal: Refused | None = None,
    wrong: set[str] | None = None,
) -> Response:
    parts = parts_of(request)
    ttl = parts.settings.ttl
    return form_page(
        request,
        "create.html",
        _status(refusal, wrong),
        caller=caller,
        templates=await all_templates(parts.reads),
        filled=filled,
        standby_after=_within(STANDBY_AFTER, ttl.standby_ceiling_seconds),
        archive_after=_within(ARCHIVE_AFTER, ttl.archive_ceiling_seconds),
        trouble=_trouble(request, caller, refusal),
        wrong=wrong or set(),
        are_numbers_wrong=bool(wrong and wrong != {"name"}),
    )


def _within(choices: Sequence[int], ceiling: int) -> list[int]:
    """Never is above every ceiling."""
    return [each for each in choices if ceiling == NEVER or (each != NEVER and each <= ceiling)]


def _status(refusal: Refused | None, wrong: set[str] | None) -> int:
    if refusal is not None:
        return refusal.status
    return 422 if wrong else 200


def _trouble(request: Request, caller: Caller, refusal: Refused | None) -> str:
    return said(refusal, reading(request, caller.locale).language) if refusal is not None else ""


@router.get("/{workspace_id}/fork")
async def ask_to_fork(request: Request, workspace_id: UUID) -> Response:
    caller = await person(request)
    return _fork_page(request, caller, await _own(request, caller, workspace_id), "")


@router.post("/{workspace_id}/fork")
async def fork(
    request: Request, workspace_id: UUID, token: Sent, name: Annotated[str, Form(max_length=1000)]
) -> Response:
    caller = await parts_of(request).callers.identify_form(request, token)
    source = await _own(request, caller, workspace_id)
    try:
        await fork_workspace(request, workspace_id, NewFork(name=name.strip()), caller, Once(request))
    except ValidationError as error:
        return _fork_page(request, caller, source, name, wrong=_fields(error))
    except Refused as refusal:
        return _fork_page(request, caller, source, name, refusal)
    return told(request, caller, [Message("done.forked", {"name": name, "source": source.name})])


def _fork_page(
    request: Request,
    caller: Caller,
    source: ShownWorkspace,
    name: str,
    refusal: Refused | None = None,
    wrong: set[str] | None = None,
) -> Response:
    if source.archive is None:
        raise NoArchive
    trouble, status = _trouble(request, caller, refusal), _status(refusal, wrong)
    return form_page(
        request, "fork.html", status, caller=caller, shown=source, name=name, trouble=trouble, wrong=wrong or set()
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
    found = await one(parts_of(request).reads, workspace_id, caller.user_id)
    if found is None:
        raise NoSuchWorkspace
    return found
