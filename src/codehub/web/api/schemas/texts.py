"""Kinds of text that bodies and queries of several resources have in common."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

PRINTABLE = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$"
"""No control characters, and none that turn the direction of what stands beside them."""

Label = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=PRINTABLE)]
Search = Annotated[str, StringConstraints(max_length=100, pattern=PRINTABLE)]
Login = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$")]
"""What a new account may be called. Plain letters only: two logins that look the same are the same."""
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Locale = Literal["en", "ko"]


class Body(BaseModel):
    """What a client sends. A field that is not known is refused: it is more likely misspelt than meant."""

    model_config = ConfigDict(extra="forbid")
