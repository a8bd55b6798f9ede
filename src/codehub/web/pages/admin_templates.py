"""Templates, for administrators: what they run and how its image does; made, changed and deleted."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.store.templates import ShownTemplate, all_templates
from codehub.web.api import admin_templates as api
from codehub.web.api.schemas.templates import NewTemplateBody, TemplateChange
from codehub.web.api.schemas.workspace_fields import GIB
from codehub.web.api.workspace_problems import NoSuchTemplate
from codehub.web.idempotency import Once
from codehub.web.pages.administration import (
    Question,
    Sent,
    administrator,
    back,
    form,
    page,
    question,
    refused,
    sent_by,
)
from codehub.web.pages.numbers import number, scaled
from codehub.web.pages.reading import Message, reading
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/admin/templates", include_in_schema=False)

ADDRESS = "/admin/templates"
Cell = Annotated[str, Field(max_length=1000)]
SCALED = {"memory_bytes": GIB, "disk_bytes": GIB, "cpus": 1, "pids": 1}
"""Which of these the form asks for in other units than the API."""
TIMES = ("standby_after_seconds", "archive_after_seconds")
"""Asked for in minutes."""


class Filled(BaseModel):
    """The form of a template, as it was sent: texts, of which what is wrong is shown again."""

    csrf_token: str = ""
    name: Cell = ""
    image_ref: Cell = ""
    port: Cell = "8080"
    description: Cell = ""
    health_path: Cell = "/healthz"
    strip_prefix: bool = False
    environment: Annotated[str, Field(max_length=100_000)] = ""
    """A variable on each line: `NAME=value`."""
    memory_bytes: Cell = ""
    cpus: Cell = ""
    pids: Cell = ""
    disk_bytes: Cell = ""
    standby_after_seconds: Cell = ""
    archive_after_seconds: Cell = ""

    @classmethod
    def of(cls, template: ShownTemplate) -> "Filled":
        said = {name: _written(template.resources.get(name), unit) for name, unit in SCALED.items()}
        times = {name: _written(getattr(template, name), 60) for name in TIMES}
        return cls(
            name=template.name,
            image_ref=template.image_ref or "",
            port=str(template.port),
            description=template.description,
            health_path=template.health_path,
            strip_prefix=template.strip_prefix,
            environment="\n".join(f"{name}={value}" for name, value in template.environment.items()),
            **said,
            **times,
        )

    def changeable(self) -> dict[str, Any]:
        """What can be changed of every template, as the API takes it. What is no number stays as it is, and is refused
        there."""
        lines = [line.partition("=") for line in self.environment.splitlines() if line.strip()]
        resources = {name: scaled(getattr(self, name), unit) for name, unit in SCALED.items()}
        resources["cpus"] = number(self.cpus)
        return {
            "environment": {name.strip(): value for name, _, value in lines},
            "resources": {name: value for name, value in resources.items() if value is not None},
            **{name: scaled(getattr(self, name), 60) for name in TIMES},
        }

    def whole(self) -> dict[str, Any]:
        named = {"name", "image_ref", "description", "health_path", "strip_prefix"}
        return {**self.changeable(), **self.model_dump(include=named), "port": scaled(self.port, 1)}


def _written(number: float | None, unit: int) -> str:
    return f"{number / unit:.10g}" if number is not None else ""


@router.get("")
async def show_templates(request: Request) -> Response:
    caller = await administrator(request)
    return page(request, caller, "templates", templates=await all_templates(parts_of(request).reads), gib=GIB)


@router.get("/new")
async def ask_for_new(request: Request) -> Response:
    return _form(request, await administrator(request), Filled(strip_prefix=True))


@router.post("")
async def make_template(request: Request, filled: Annotated[Filled, Form()]) -> Response:
    caller = await sent_by(request, filled.csrf_token)
    try:
        body = NewTemplateBody.model_validate(filled.whole())
        await api.create_template(request, body, caller, Once(request))
    except (ValidationError, Refused) as refusal:
        return _form(request, caller, filled, refusal=refusal)
    return back(request, caller, ADDRESS, [Message("admin.templates.made", {"name": body.name})])


@router.get("/{template_id}")
async def show_template(request: Request, template_id: UUID) -> Response:
    caller = await administrator(request)
    template = await _found(request, template_id)
    return _form(request, caller, Filled.of(template), template)


@router.post("/{template_id}")
async def change_template(request: Request, template_id: UUID, filled: Annotated[Filled, Form()]) -> Response:
    """Of a built-in one the form has only what can be changed."""
    caller = await sent_by(request, filled.csrf_token)
    template = await _found(request, template_id)
    try:
        change = TemplateChange.model_validate(_differences(filled, template))
        await api.change_template(request, template_id, change, caller)
    except (ValidationError, Refused) as refusal:
        return _form(request, caller, filled, template, refusal)
    return back(request, caller, ADDRESS, [Message("admin.templates.changed", {"name": filled.name or template.name})])


@router.get("/{template_id}/delete")
async def ask_to_delete(request: Request, template_id: UUID) -> Response:
    caller = await administrator(request)
    template = await _found(request, template_id)
    say = reading(request, caller.locale).language.say
    title = say("admin.templates.asks", name=template.name)
    what, button = say("admin.templates.delete_what"), say("admin.templates.delete")
    return question(request, caller, "templates", Question(title, what, button, f"{ADDRESS}/{template_id}"))


@router.post("/{template_id}/delete")
async def delete_template(request: Request, template_id: UUID, token: Sent) -> Response:
    caller = await sent_by(request, token)
    template = await _found(request, template_id)
    try:
        await api.delete_template(request, template_id, caller)
    except Refused as refusal:
        return refused(request, caller, f"{ADDRESS}/{template_id}", refusal)
    return back(request, caller, ADDRESS, [Message("admin.templates.deleted", {"name": template.name})])


async def _found(request: Request, template_id: UUID) -> ShownTemplate:
    for each in await all_templates(parts_of(request).reads):
        if each.id == template_id:
            return each
    raise NoSuchTemplate


def _differences(filled: Filled, template: ShownTemplate) -> dict[str, Any]:
    """What the form says otherwise than the template: only that is changed, and named in the audit log."""
    before, after = (each.changeable() if template.built_in else each.whole() for each in (Filled.of(template), filled))
    return {name: value for name, value in after.items() if value != before[name]}


def _form(
    request: Request,
    caller: Caller,
    filled: Filled,
    template: ShownTemplate | None = None,
    refusal: ValidationError | Refused | None = None,
) -> Response:
    return form(request, caller, "templates", "admin_template.html", refusal, filled=filled, known=template)
