"""One's own account: password, sessions, tokens."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from codehub.model.accounts import Proof, Role, Scope
from codehub.web.api.schemas.texts import Body, Label, Locale, Password

ME: JsonDict = {
    "id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11",
    "login": "ada",
    "role": "user",
    "max_running": None,
    "locale": "en",
    "proof": "session",
    "scopes": ["hold", "read", "workspaces"],
    "expires_at": "2026-01-31T12:00:00Z",
    "csrf_token": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
}
TEN_YEARS = 10 * 366 * 86400


class Me(BaseModel):
    """Who is calling, and what they may do."""

    model_config = ConfigDict(json_schema_extra={"examples": [ME]})
    id: UUID = Field(description="The account.")
    login: str = Field(description="The name to log in with.")
    role: Role = Field(description="`admin` may do everything, `user` what concerns their own workspaces.")
    max_running: int | None = Field(description="How many of their workspaces may run; null for everybody's limit.")
    locale: str | None = Field(description="The language of the pages; null for the browser's.")
    proof: Proof = Field(description="How the caller has shown who they are.")
    scopes: list[Scope] = Field(description="What the session or token is good for.")
    expires_at: datetime | None = Field(description="When the session or token ends; null for never.")
    csrf_token: str | None = Field(
        description="For sessions: to be sent in `X-CSRF-Token` with every request that changes something."
    )


class MyChanges(Body):
    locale: Locale | None = Field(description="The language of the pages; null for the browser's.", examples=["ko"])


class NewPassword(Body):
    present: Password = Field(description="The password until now.", examples=["correct horse battery staple"])
    new: Password = Field(
        description="The password from now on: 12 characters or more.", examples=["four more words are better"]
    )
    revoke_tokens: bool = Field(
        default=False, description="Revoke all API tokens as well. Otherwise they stay good: programs go on working."
    )


class PasswordChanged(BaseModel):
    """All sessions have ended; this browser got a new one, whose cookie is set beside this."""

    csrf_token: str = Field(description="The new session's, in place of the one before.")
    sessions_ended: int = Field(description="How many other sessions have ended.", ge=0)
    tokens_revoked: int = Field(description="How many API tokens were revoked.", ge=0)


class Session(BaseModel):
    id: UUID = Field(description="Names the session, to end it.")
    current: bool = Field(description="Whether it is the one of this request.")
    address: str = Field(description="Where it was opened from.", examples=["192.0.2.7"])
    user_agent: str = Field(description="What the browser called itself.", examples=["Mozilla/5.0"])
    created_at: datetime = Field(description="When it was opened.")
    last_used_at: datetime = Field(description="When it was last used, to the minute.")
    expires_at: datetime = Field(description="When it ends if it is not used again.")


class Sessions(BaseModel):
    items: list[Session] = Field(description="All of them, the last used first.")


class SessionsEnded(BaseModel):
    ended: int = Field(description="How many.", ge=0)


class NewToken(Body):
    name: Label = Field(description="What to call it.", examples=["laptop"])
    scopes: set[Scope] = Field(
        description="What it is good for: `hold` (placing holds and nothing else), `read`, `workspaces` (which includes"
        " both), `admin` (which includes all).",
        min_length=1,
        examples=[["workspaces"]],
    )
    expires_in_seconds: int | None = Field(
        default=None,
        ge=60,
        le=TEN_YEARS,
        description="How long it lasts; null for as long as the installation allows.",
        examples=[2592000],
    )


class Token(BaseModel):
    id: UUID = Field(description="Names the token, to revoke it.")
    name: str = Field(description="What its user calls it.", examples=["laptop"])
    hint: str = Field(description="The last characters of its secret.", examples=["x8Qd"])
    scopes: list[Scope] = Field(description="What it is good for.", examples=[["workspaces"]])
    created_at: datetime = Field(description="When it was made.")
    last_used_at: datetime | None = Field(description="When it was last used, to the minute; null for never.")
    expires_at: datetime | None = Field(description="When it ends; null for never.")


class MadeToken(Token):
    """A new token. Its secret is shown here and never again."""

    token: str = Field(description="The secret, to be sent as `Authorization: Bearer ...`.", examples=["codehub_x8Qd"])


class Tokens(BaseModel):
    items: list[Token] = Field(description="All of them, the newest first.")
