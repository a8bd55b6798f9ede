"""Templates, for administrators."""

from uuid import UUID, uuid4

from fastapi import APIRouter, Request, Response
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.images.templates import KNOWN_BETTER
from codehub.store import audit
from codehub.store import templates as stored
from codehub.store.templates import ShownTemplate, TemplateInUse
from codehub.web.actors import actor_of
from codehub.web.api.answers import answer
from codehub.web.api.refusals import BODY, refusals
from codehub.web.api.schemas.templates import NewTemplateBody, TemplateChange, TemplatesWhole, TemplateWhole
from codehub.web.api.workspace_problems import BuiltIn, NameTaken, NoSuchTemplate, TemplateUsed
from codehub.web.callers import Administrator
from codehub.web.idempotency import OnlyOnce
from codehub.web.parts import parts_of

router = APIRouter(prefix="/admin/templates", tags=["administration"])

CODEHUBS_OWN = frozenset({*KNOWN_BETTER, "name"})
"""What codehub writes anew of its built-in templates: a change would be gone at the next start."""


@router.get("", response_model=TemplatesWhole, responses=refusals(401, 403))
async def list_whole_templates(request: Request, _caller: Administrator) -> Response:
    """All templates, with what only administrators see."""
    return answer({"items": await stored.all_templates(parts_of(request).reads)})


@router.post("", status_code=201, response_model=TemplateWhole, responses=refusals(*BODY, 401, 403, 409))
async def create_template(request: Request, body: NewTemplateBody, caller: Administrator, once: OnlyOnce) -> Response:
    """Make a template of an image. The engine fetches the image when a workspace first needs it."""

    async def work(connection: AsyncConnection) -> Response:
        made = await stored.create(connection, uuid4(), body.columns())
        if made is None:
            raise NameTaken("template")
        await audit.record(
            connection, actor_of(request, caller), "template.create", subject_id=made.id, subject=made.name
        )
        return answer(made, 201)

    return await once(caller, work)


@router.patch("/{template_id}", response_model=TemplateWhole, responses=refusals(*BODY, 401, 403, 404, 409))
async def change_template(request: Request, template_id: UUID, body: TemplateChange, caller: Administrator) -> Response:
    """Change a template. Holds for workspaces that are started from now on."""
    columns = body.columns()
    async with parts_of(request).writes.begin() as connection:
        template = await _found(connection, template_id)
        refused = sorted(CODEHUBS_OWN & columns.keys())
        if template.built_in and refused:
            raise BuiltIn(f"Of a built-in template codehub itself writes {', '.join(refused)}.")
        try:
            changed = await stored.change(connection, template_id, columns) if columns else template
        except IntegrityError as error:
            raise NameTaken("template") from error
        if columns:
            who = actor_of(request, caller)
            await audit.record(
                connection,
                who,
                "template.change",
                subject_id=template_id,
                subject=changed.name,
                fields=sorted(columns),
            )
    return answer(changed)


@router.delete("/{template_id}", status_code=204, responses=refusals(401, 403, 404, 409, 422))
async def delete_template(request: Request, template_id: UUID, caller: Administrator) -> Response:
    """Delete a template that no living workspace runs. Built-in ones stay: codehub would only make them again."""
    async with parts_of(request).writes.begin() as connection:
        template = await _found(connection, template_id)
        if template.built_in:
            raise BuiltIn("A built-in template cannot be deleted.")
        try:
            await stored.remove(connection, template_id)
        except (TemplateInUse, IntegrityError) as error:
            raise TemplateUsed from error
        await audit.record(
            connection, actor_of(request, caller), "template.delete", subject_id=template_id, subject=template.name
        )
    return Response(status_code=204)


async def _found(connection: AsyncConnection, template_id: UUID) -> ShownTemplate:
    template = await stored.held(connection, template_id)
    if template is None:
        raise NoSuchTemplate
    return template
