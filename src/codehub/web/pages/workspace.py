"""The page of one workspace: all that is known of it, and all that can be done with it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import RedirectResponse, Response

from codehub.model.accounts import Caller
from codehub.model.shown import ShownWorkspace
from codehub.store import holds, listing
from codehub.store.holds import Hold
from codehub.web.api.archives import found, shown_archives
from codehub.web.api.schemas.wishes import WorkspaceChange
from codehub.web.api.workspace_changes import change_workspace
from codehub.web.pages.cards import Card, cards
from codehub.web.pages.dashboard import REFRESH_SECONDS
from codehub.web.pages.idle_choices import ARCHIVE_AFTER, STANDBY_AFTER, within
from codehub.web.pages.reading import Message, person, reading
from codehub.web.pages.refusing import NONE, Mistakes, wrong_fields
from codehub.web.pages.render import form_page, fragment
from codehub.web.pages.stays import stays
from codehub.web.pages.workspace_charts import HEIGHT, WIDTH, Chart, charts
from codehub.web.pages.workspace_conditions import ShownCondition, conditions
from codehub.web.pages.workspace_holds import offered
from codehub.web.pages.workspace_logs import log_of
from codehub.web.pages.workspace_timeline import MOST_EVENTS, Story, story
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(include_in_schema=False)

Before = Annotated[int | None, Query(ge=1, le=2**62)]
Find = Annotated[str, Query(max_length=200)]
Text = Annotated[str, Field(max_length=30_000)]

SECTIONS = ("timeline", "conditions", "logs", "usage", "archives", "holds", "settings", "danger")
UNCHANGED = ""
"""As an idle time: no choice of its own."""


class Filled(BaseModel):
    """The settings as they were sent: texts, of which what is wrong is shown again."""

    csrf_token: str = ""
    name: Text = ""
    description: Text = ""
    memo: Text = ""
    standby: Text = UNCHANGED
    archive: Text = UNCHANGED

    @classmethod
    def of(cls, shown: ShownWorkspace) -> "Filled":
        return cls(
            name=shown.name,
            description=shown.description,
            memo=shown.memo,
            standby=_text(shown.standby_override_seconds),
            archive=_text(shown.archive_override_seconds),
        )

    def body(self) -> dict[str, Any]:
        """As the API takes it. What is no number stays as it is, and is refused there."""
        return {
            "name": self.name.strip(),
            "description": self.description.strip(),
            "memo": self.memo.replace("\r\n", "\n"),
            "standby_after_seconds": _seconds(self.standby),
            "archive_after_seconds": _seconds(self.archive),
        }


def _text(seconds: int | None) -> str:
    return UNCHANGED if seconds is None else str(seconds)


def _seconds(text: str) -> int | str | None:
    if text == UNCHANGED:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else text


@dataclass(frozen=True, slots=True)
class About:
    """What changes by itself while somebody looks at it."""

    card: Card
    story: Story
    conditions: Sequence[ShownCondition]
    archives: Sequence[dict[str, Any]]
    holds: Sequence[Hold]

    @property
    def shown(self) -> ShownWorkspace:
        return self.card.shown


@router.get("/workspaces/{workspace_id}")
async def show_workspace(request: Request, workspace_id: UUID, before: Before = None, find: Find = "") -> Response:
    return await _page(request, await person(request), workspace_id, before, find)


@router.post("/workspaces/{workspace_id}")
async def change_settings(request: Request, workspace_id: UUID, filled: Annotated[Filled, Form()]) -> Response:
    caller = await parts_of(request).callers.identify_form(request, filled.csrf_token)
    try:
        body = WorkspaceChange.model_validate(filled.body())
        await change_workspace(request, workspace_id, body, caller)
    except ValidationError as error:
        mistakes = Mistakes(wrong=wrong_fields(error))
        return await _page(request, caller, workspace_id, filled=filled, mistakes=mistakes)
    except Refused as refusal:
        return await _page(request, caller, workspace_id, filled=filled, mistakes=Mistakes(refusal))
    response = RedirectResponse(f"/workspaces/{workspace_id}", 303)
    Message.put_all([Message("settings.saved", {})], response, secure=parts_of(request).callers.secure)
    return response


@router.get("/fragments/workspaces/{workspace_id}")
async def live_parts(request: Request, workspace_id: UUID, before: Before = None) -> Response:
    """Those that change by themselves, each with its id."""
    caller = await person(request)
    about = await _about(request, caller, workspace_id, before)
    return fragment(request, caller, "workspace_live.html", about=about)


@router.get("/fragments/workspaces/{workspace_id}/usage")
async def usage(request: Request, workspace_id: UUID) -> Response:
    caller = await person(request)
    async with parts_of(request).writes.connect() as connection:
        await found(connection, workspace_id, caller)
    drawn = await _charts(request, caller, workspace_id)
    return fragment(request, caller, "workspace_usage.html", charts=drawn, width=WIDTH, height=HEIGHT)


async def _page(
    request: Request,
    caller: Caller,
    workspace_id: UUID,
    before: int | None = None,
    find: str = "",
    filled: Filled | None = None,
    mistakes: Mistakes = NONE,
) -> Response:
    about = await _about(request, caller, workspace_id, before)
    log, drawn = await asyncio.gather(
        log_of(request, caller, workspace_id, find.strip()), _charts(request, caller, workspace_id)
    )
    ttl = parts_of(request).settings.ttl
    return form_page(
        request,
        "workspace.html",
        mistakes.status,
        caller=caller,
        here=f"/workspaces/{workspace_id}",
        about=about,
        sections=SECTIONS,
        refresh_seconds=REFRESH_SECONDS,
        log=log,
        find=find.strip(),
        charts=drawn,
        width=WIDTH,
        height=HEIGHT,
        usage_seconds=parts_of(request).settings.coordinator.usage_interval,
        hold_seconds=offered(ttl.hold_ceiling_seconds),
        filled=filled or Filled.of(about.shown),
        standby_after=_choices(STANDBY_AFTER, ttl.standby_ceiling_seconds, about.shown.standby_override_seconds),
        archive_after=_choices(ARCHIVE_AFTER, ttl.archive_ceiling_seconds, about.shown.archive_override_seconds),
        ceilings={"standby": ttl.standby_ceiling_seconds, "archive": ttl.archive_ceiling_seconds},
        trouble=mistakes.said(request, caller),
        mistakes=mistakes,
    )


def _choices(offered_seconds: Sequence[int], ceiling: int, chosen: int | None) -> list[int]:
    """With the one that is chosen already, whatever it is."""
    choices = within(offered_seconds, ceiling)
    return choices if chosen is None or chosen in choices else [chosen, *choices]


async def _about(request: Request, caller: Caller, workspace_id: UUID, before: int | None) -> About:
    """Raises NoSuchWorkspace, for what belongs to others too."""
    parts, told = parts_of(request), reading(request, caller.locale).telling
    async with parts.writes.connect() as connection:
        row = await found(connection, workspace_id, caller)
        archives = await shown_archives(request, connection, row)
        shown = await listing.one_with(connection, workspace_id)
    events, held, [card] = await asyncio.gather(
        listing.history(parts.reads, workspace_id, before, MOST_EVENTS + 1),
        holds.holds_of(parts.reads, workspace_id),
        cards(parts, [shown], told),
    )
    for each in archives:
        each["stays_because"] = stays(each["stays_because"], told.language) if each["stays_because"] else ""
    return About(
        card, story(events, told, is_newest=before is None), conditions(row.conditions, told.language), archives, held
    )


async def _charts(request: Request, caller: Caller, workspace_id: UUID) -> list[Chart]:
    parts = parts_of(request)
    samples = await parts.usage.series(workspace_id)
    told = reading(request, caller.locale).telling
    return charts(samples, parts.settings.coordinator.usage_interval, told)
