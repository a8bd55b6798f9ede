"""Accounts, for administrators: found, made, limited, disabled, given a new password, logged out, deleted."""

from collections.abc import Awaitable, Mapping
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

from codehub.decide.password import SHORTEST
from codehub.model.accounts import Caller, Role
from codehub.store import listing
from codehub.web.api import admin_users as api
from codehub.web.api.schemas.users import NewUser, ResetPassword, User, UserChanges, UserFilter
from codehub.web.pages.administration import (
    Question,
    Sent,
    administrator,
    back,
    cursor_in,
    form,
    page,
    question,
    refused,
    sent_by,
    text_in,
)
from codehub.web.pages.cards import cards
from codehub.web.pages.numbers import scaled
from codehub.web.pages.reading import Message, reading
from codehub.web.parts import parts_of
from codehub.web.problems import Refused

router = APIRouter(prefix="/admin/users", include_in_schema=False)

LISTED = 50
STATES = {"": None, "enabled": False, "disabled": True}
"""What the choice says, and what that means for `disabled`."""
Cell = Annotated[str, Field(max_length=300)]


class Filled(BaseModel):
    """The form for a new account, as it was sent."""

    csrf_token: str = ""
    login: Cell = ""
    role: Role = Role.USER
    max_running: Cell = ""
    password: Cell = Field(default="", repr=False)

    def new(self) -> NewUser:
        return NewUser.model_validate(
            {
                "login": self.login.strip(),
                "role": self.role,
                "max_running": scaled(self.max_running, 1),
                "password": self.password or None,
            }
        )


@router.get("")
async def show_users(request: Request) -> Response:
    caller, query = await administrator(request), request.query_params
    state, role = query.get("state", ""), query.get("role", "")
    narrowed = UserFilter(
        q=text_in(query, "q"),
        role=Role(role) if role in set(Role) else None,
        disabled=STATES.get(state),
        cursor=cursor_in(query),
        limit=LISTED,
    )
    found = await api.list_users(request, caller, narrowed)
    return page(request, caller, "users", found=found, narrowed=narrowed, state=state, roles=list(Role), states=STATES)


@router.get("/new")
async def ask_for_new(request: Request) -> Response:
    return _new_page(request, await administrator(request), Filled())


@router.post("")
async def make_user(request: Request, filled: Annotated[Filled, Form()]) -> Response:
    """A generated password is on this page and nowhere else: it is not put into an address, and is gone with the next
    page."""
    caller = await sent_by(request, filled.csrf_token)
    try:
        made = await api.create_user(request, Response(), filled.new(), caller)
    except (ValidationError, Refused) as refusal:
        return _new_page(request, caller, filled, refusal)
    if made.password is None:
        return back(request, caller, f"/admin/users/{made.user.id}", [_said("made", made.user)])
    return await _user_page(request, caller, made.user, secret=made.password, happened=_said("made", made.user))


@router.get("/{user_id}")
async def show_user(request: Request, user_id: UUID) -> Response:
    caller = await administrator(request)
    return await _user_page(request, caller, await api.get_user(request, user_id, caller))


@router.post("/{user_id}/change")
async def change_user(
    request: Request,
    user_id: UUID,
    token: Sent,
    role: Annotated[Role, Form()],
    max_running: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    caller = await sent_by(request, token)

    async def change() -> Message:
        changes = UserChanges.model_validate({"role": role, "max_running": scaled(max_running, 1)})
        return _said("changed", await api.change_user(request, user_id, changes, caller))

    return await _done(request, caller, user_id, change())


@router.get("/{user_id}/disabled")
async def ask_to_disable(request: Request, user_id: UUID) -> Response:
    return await _question(request, user_id, "disable", {"disabled": "true"})


@router.post("/{user_id}/disabled")
async def disable_user(request: Request, user_id: UUID, token: Sent, disabled: Annotated[bool, Form()]) -> Response:
    caller = await sent_by(request, token)

    async def change() -> Message:
        user = await api.change_user(request, user_id, UserChanges(disabled=disabled), caller)
        return _said("disabled" if disabled else "enabled", user)

    return await _done(request, caller, user_id, change())


@router.post("/{user_id}/password")
async def reset_password(
    request: Request, user_id: UUID, token: Sent, revoke_tokens: Annotated[bool, Form()] = False
) -> Response:
    """Generated, and shown once."""
    caller = await sent_by(request, token)
    reset = await api.reset_password(request, user_id, ResetPassword(revoke_tokens=revoke_tokens), caller)
    user = await api.get_user(request, user_id, caller)
    return await _user_page(request, caller, user, secret=reset.password, happened=_said("password_reset", user))


@router.post("/{user_id}/log-out")
async def log_out_everywhere(request: Request, user_id: UUID, token: Sent) -> Response:
    caller = await sent_by(request, token)

    async def change() -> Message:
        ended = (await api.end_sessions(request, user_id, caller)).ended
        return Message("admin.users.logged_out", {"count": ended})

    return await _done(request, caller, user_id, change())


@router.get("/{user_id}/delete")
async def ask_to_delete(request: Request, user_id: UUID) -> Response:
    return await _question(request, user_id, "delete", {})


@router.post("/{user_id}/delete")
async def delete_user(request: Request, user_id: UUID, token: Sent) -> Response:
    caller = await sent_by(request, token)
    user = await api.get_user(request, user_id, caller)
    try:
        await api.delete_user(request, user_id, caller)
    except Refused as refusal:
        return refused(request, caller, f"/admin/users/{user_id}", refusal)
    return back(request, caller, "/admin/users", [_said("deleted", user)])


async def _question(request: Request, user_id: UUID, deed: str, fields: Mapping[str, str]) -> Response:
    caller = await administrator(request)
    user = await api.get_user(request, user_id, caller)
    say = reading(request, caller.locale).language.say
    title = say(f"admin.users.asks.{deed}", login=user.login)
    what, button = say(f"admin.users.what.{deed}"), say(f"admin.users.deeds.{deed}")
    return question(request, caller, "users", Question(title, what, button, f"/admin/users/{user_id}", fields))


async def _done(request: Request, caller: Caller, user_id: UUID, work: Awaitable[Message]) -> Response:
    address = f"/admin/users/{user_id}"
    try:
        message = await work
    except (ValidationError, Refused) as refusal:
        return refused(request, caller, address, refusal)
    return back(request, caller, address, [message])


def _said(what: str, user: User) -> Message:
    return Message(f"admin.users.{what}", {"login": user.login})


def _new_page(
    request: Request, caller: Caller, filled: Filled, refusal: ValidationError | Refused | None = None
) -> Response:
    return form(
        request, caller, "users", "admin_user_new.html", refusal, filled=filled, roles=list(Role), shortest=SHORTEST
    )


async def _user_page(
    request: Request, caller: Caller, user: User, secret: str | None = None, happened: Message | None = None
) -> Response:
    """`secret` is a password that is shown this once."""
    parts, telling = parts_of(request), reading(request, caller.locale).telling
    owned = await listing.page(parts.reads, listing.Wanted(owner_user_id=user.id, limit=LISTED))
    return page(
        request,
        caller,
        "users",
        "admin_user.html",
        user=user,
        cards=await cards(parts, owned, telling),
        more=user.workspaces > LISTED,
        secret=secret,
        happened=happened,
        roles=list(Role),
        everybodys=parts.settings.limits.max_running_per_user,
        here=f"/admin/users/{user.id}",
    )
