"""Errors, as the interface's description tells them."""

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """What went wrong (RFC 9457). Programs rely on `code`; `detail` is for the person. Some codes bring more fields."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Not Found",
                    "status": 404,
                    "code": "not_found",
                    "detail": "There is no such session.",
                }
            ]
        },
    )
    type: str = Field(description="Always `about:blank`: the code says what it is.")
    title: str = Field(description="The status in words.")
    status: int = Field(description="The HTTP status.", ge=400, le=599)
    code: str = Field(description="A stable word for this kind of problem.", pattern="^[a-z0-9_]+$")
    detail: str = Field(default="", description="A sentence for the person who reads it.")
