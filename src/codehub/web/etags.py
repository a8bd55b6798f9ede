"""Versions of what people write: named by `ETag`, and demanded by `If-Match` of whoever changes it.

The version is that of the words and wishes that people write. What the machine does meanwhile changes nothing about it:
somebody who renames a workspace while it starts has overlooked nothing."""

import re
from typing import Annotated

from fastapi import Header

from codehub.web.problems import Refused

_TAG = re.compile(r'\s*"(\d{1,18})"\s*')

IfMatch = Annotated[
    str | None,
    Header(
        description="Change it only if its `ETag` is still this one (or one of these, separated by commas); `*` for"
        " any. Without it the fields that are sent are written whatever else was changed.",
        max_length=1000,
        examples=['"7"'],
    ),
]


class Changed(Refused):
    """Somebody else was faster. Read it again, and decide again."""

    status = 412
    code = "changed_meanwhile"


def etag(revision: int) -> str:
    return f'"{revision}"'


def revisions(if_match: str | None) -> tuple[int, ...] | None:
    """The versions that may be changed; None for any. A tag that we never gave matches nothing, as the standard says;
    neither does a weak one."""
    if if_match is None or if_match.strip() == "*":
        return None
    parts = if_match.split(",")
    return tuple(int(found[1]) for found in map(_TAG.fullmatch, parts) if found)
