"""By keyboard: the command palette, which finds every page and every deed for every workspace by some of its words, and
the sheet that says what keys do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from codehub.model.accounts import Caller
from codehub.store import listing
from codehub.store.listing import Order, Wanted
from codehub.web.pages.cards import Card, cards
from codehub.web.pages.languages import LANGUAGES, Language
from codehub.web.pages.reading import THEMES, person, reading
from codehub.web.pages.render import form_page, fragment
from codehub.web.parts import parts_of

router = APIRouter(include_in_schema=False)

LONGEST = 100
MOST = 12
MOST_WORKSPACES = 1000
"""Of more than these, the least used are found on the dashboard only."""


@dataclass(frozen=True, slots=True)
class Command:
    label: str
    kind: str
    """What it is about, in a word."""
    does: Mapping[str, str]
    """For `static/palette.js`: what to go to, open, ask, press or send."""


@router.get("/shortcuts")
async def show_shortcuts(request: Request) -> Response:
    return form_page(request, "shortcuts.html", caller=await person(request))


@router.get("/fragments/commands")
async def find_commands(request: Request, q: str = "") -> Response:
    caller = await person(request)
    words = q[:LONGEST].casefold().split()
    language = reading(request, caller.locale).language
    first, rest = await _for_workspaces(request, caller)
    found = [each for each in (*first, *_everywhere(caller, language), *rest) if _matches(each, words)]
    return fragment(request, caller, "commands.html", commands=found[:MOST], more=max(0, len(found) - MOST))


def _matches(command: Command, words: Sequence[str]) -> bool:
    label = command.label.casefold()
    return all(word in label for word in words)


async def _for_workspaces(request: Request, caller: Caller) -> tuple[list[Command], list[Command]]:
    """What one comes for, those first that were used last; and the rest."""
    parts, reads = parts_of(request), reading(request, caller.locale)
    wanted = Wanted(owner_user_id=caller.user_id, order=Order.USED, limit=MOST_WORKSPACES)
    shown = await cards(parts, await listing.page(parts.reads, wanted), reads.telling)
    by_card = [list(_for_one(each, reads.language)) for each in shown]
    return [commands[0] for commands in by_card], [each for commands in by_card for each in commands[1:]]


def _for_one(card: Card, language: Language) -> Iterator[Command]:
    """First to open it, or to see what is the matter with it."""
    shown = card.shown
    kind = language.say(card.label)

    def called(action: str) -> str:
        return language.say("action.which", action=language.say(f"action.{action}"), name=shown.name)

    if card.opens:
        yield Command(called("open"), kind, {"opens": card.url})
    yield Command(called("show"), kind, {"goes": f"/workspaces/{shown.id}"})
    for action in [*card.direct, *(["extend"] if card.can_extend else [])]:
        yield Command(called(action), kind, _does(card, action))
    for action in card.menu:
        yield Command(called(action), kind, _does(card, action))


def _does(card: Card, action: str) -> Mapping[str, str]:
    if card.asks_first(action):
        return {"asks": f"/workspaces/{card.shown.id}/{action}"}
    return {"action": action, "of": card.shown.id.hex}


def _everywhere(caller: Caller, language: Language) -> Iterator[Command]:
    say = language.say
    page, here = say("palette.page"), say("palette.here")
    yield Command(say("dashboard.new"), here, {"asks": "/workspaces/new"})
    yield Command(say("layout.workspaces"), page, {"goes": "/"})
    yield Command(say("layout.account"), page, {"goes": "/account"})
    if caller.administers:
        yield Command(say("palette.admin"), page, {"goes": "/admin"})
    yield Command(say("status.title"), page, {"goes": "/status"})
    yield Command(say("shortcut.title"), here, {"asks": "/shortcuts"})
    for theme in THEMES:
        label = f"{say('layout.theme')}: {say(f'layout.themes.{theme}')}"
        yield Command(label, here, {"presses": f'[name="theme"][value="{theme}"]'})
    for each in LANGUAGES.values():
        label = f"{say('layout.language')}: {each.name}"
        yield Command(label, here, {"presses": f'[name="language"][value="{each.code}"]'})
    yield Command(say("layout.log_out"), here, {"presses": '[action="/logout"] button'})
