"""Logging in and out."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from codehub.web.api.schemas.account import Me
from codehub.web.api.schemas.texts import PRINTABLE, Body, Password


class Credentials(Body):
    login: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=PRINTABLE)] = Field(
        description="The account's name; capitals make no difference.", examples=["ada"]
    )
    password: Password = Field(description="Its password.", examples=["correct horse battery staple"])


class Welcome(BaseModel):
    """The cookie of the new session is set beside this."""

    user: Me = Field(description="Who is logged in now.")
    csrf_token: str = Field(description="To be sent in `X-CSRF-Token` with every request that changes something.")


class CodeAndVerifier(Body):
    code: Annotated[str, StringConstraints(min_length=20, max_length=100, pattern="^[A-Za-z0-9_-]+$")] = Field(
        description="What the browser brought back from `/cli-login`.",
        examples=["8xLOxBtZp8fMQ2Wm1vYk3c5d7e9g"],
    )
    verifier: Annotated[str, StringConstraints(min_length=43, max_length=128, pattern="^[A-Za-z0-9._~-]+$")] = Field(
        description="What the challenge was made of (RFC 7636, S256).",
        examples=["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],
    )
