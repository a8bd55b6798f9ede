"""One's own account."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from codehub.model.accounts import Proof, Role, Scope


class Me(BaseModel):
    """Who is calling, and what they may do."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "3f0e4c1a-7d52-4a4f-9a0e-0d3b0a5f6c11",
                    "login": "ada",
                    "role": "user",
                    "max_running": None,
                    "locale": "en",
                    "proof": "session",
                    "scopes": ["read", "workspaces"],
                    "expires_at": "2026-01-31T12:00:00Z",
                    "csrf_token": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
                }
            ]
        }
    )
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
