"""Accounts, as administrators see and change them."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, Field, model_validator

from codehub.model.accounts import Role
from codehub.web import paging
from codehub.web.api.schemas.texts import Body, Locale, Login, Password, Search

MaxRunning = Annotated[int, Field(ge=0, le=10_000)]


class User(BaseModel):
    id: UUID = Field(description="The account.")
    login: str = Field(description="The name to log in with.", examples=["ada"])
    role: Role = Field(description="`admin` may do everything, `user` what concerns their own workspaces.")
    max_running: int | None = Field(description="How many of their workspaces may run; null for everybody's limit.")
    locale: str | None = Field(description="The language of the pages; null for the browser's.")
    disabled: bool = Field(description="Whether nobody can log in to it.")
    last_login_at: datetime | None = Field(description="When somebody last logged in to it; null for never.")
    created_at: datetime = Field(description="When it was made.")
    workspaces: int = Field(description="How many living workspaces it has.", ge=0)


class UserPage(BaseModel):
    items: list[User] = Field(description="By login.")
    next: str | None = Field(description="The cursor of the next page; null where this is the last.")


class UserFilter(Body):
    """What is left out does not narrow."""

    q: Search = Field(default="", description="Only those with this in their login.")
    role: Role | None = Field(default=None, description="Only those with this role.")
    disabled: bool | None = Field(default=None, description="Only those who are, or are not, disabled.")
    cursor: paging.Cursor = None
    limit: paging.Limit = 50


class NewUser(Body):
    login: Login = Field(
        min_length=1, description="Letters, digits and `. _ @ + -`; capitals make no difference.", examples=["ada"]
    )
    role: Role = Field(default=Role.USER, description="What they may do.")
    password: Password | None = Field(
        default=None,
        description="12 characters or more; null to have one generated, which is shown once.",
        examples=["correct horse battery staple"],
    )
    max_running: MaxRunning | None = Field(
        default=None, description="How many of their workspaces may run; null for everybody's limit."
    )
    locale: Locale | None = Field(default=None, description="The language of the pages; null for the browser's.")


class MadeUser(BaseModel):
    user: User = Field(description="The new account.")
    password: str | None = Field(
        description="The generated password, shown here and never again; null if one was given."
    )


class UserChanges(Body):
    """What is to be changed; what is left out stays as it is."""

    login: Login | None = Field(
        default=None, min_length=1, description="A new name to log in with.", examples=["ada.lovelace"]
    )
    role: Role | None = Field(default=None, description="A new role. Their sessions end: they log in again with it.")
    max_running: MaxRunning | None = Field(
        default=None, description="How many of their workspaces may run; null for everybody's limit."
    )
    locale: Locale | None = Field(default=None, description="The language of the pages; null for the browser's.")
    disabled: bool | None = Field(
        default=None, description="True: nobody can log in to it any more, and its sessions and tokens end at once."
    )

    @model_validator(mode="after")
    def nothing_that_must_be_is_null(self) -> Self:
        for name in self.model_fields_set & {"login", "role", "disabled"}:
            if getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class ResetPassword(Body):
    password: Password | None = Field(
        default=None,
        description="12 characters or more; null to have one generated, which is shown once.",
        examples=["correct horse battery staple"],
    )
    revoke_tokens: bool = Field(
        default=False, description="Revoke the account's API tokens as well. Otherwise they stay good."
    )


class PasswordReset(BaseModel):
    """All sessions of the account have ended."""

    password: str | None = Field(
        description="The generated password, shown here and never again; null if one was given."
    )
    sessions_ended: int = Field(description="How many sessions have ended.", ge=0)
    tokens_revoked: int = Field(description="How many API tokens were revoked.", ge=0)
