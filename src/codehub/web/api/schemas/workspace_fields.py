"""Fields of workspaces and templates that several bodies have in common, with what is allowed in them."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

GIB = 1024**3
LONGEST_SECONDS = 10 * 365 * 86400

NAME = r"^[^\s\x00-\x1f\x7f/]([^\x00-\x1f\x7f/]{0,61}[^\s\x00-\x1f\x7f/])?$"
"""On one line, without a slash, and no space at either end."""
LINE = r"^[^\x00-\x1f\x7f]*$"
TEXT = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"
"""Of the control characters only those that a text of several lines is made with."""

GIT_URL = (
    r"^(https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/[A-Za-z0-9._~/+%-]+"
    r"|ssh://([A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/[A-Za-z0-9._~/+%-]+"
    r"|[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9._~+%][A-Za-z0-9._~/+%-]*)$"
)
"""https, http, ssh, or the short form of ssh. No word may begin with a dash, and a password has no place in any:
whoever can see the workspace would see it."""


def _no_id(name: str) -> str:
    """Where a name or an id is given, a name that looks like an id would hide what it is not."""
    if re.fullmatch(r"[0-9a-fA-F]{32}", name.replace("-", "")):
        raise ValueError("A name must not look like an id.")
    return name


Name = Annotated[
    str,
    Field(
        description="What it is called. On one line, at most 63 characters, no slash, no space at either end, and not"
        " in the form of an id.",
        min_length=1,
        max_length=63,
        pattern=NAME,
        examples=["garden"],
    ),
    AfterValidator(_no_id),
]
Description = Annotated[
    str, Field(description="One line about it.", max_length=500, pattern=LINE, examples=["The shop's next version"])
]
Memo = Annotated[
    str, Field(description="Notes of its owner, of several lines.", max_length=20_000, pattern=TEXT, examples=[""])
]
GitUrl = Annotated[
    str,
    Field(
        description="The repository that its home begins with: https, http, ssh, or `git@host:path`; without a"
        " password. It is cloned into the home at the first start, beside the IDE.",
        max_length=2000,
        pattern=GIT_URL,
        examples=["https://git.example.org/shop/garden.git"],
    ),
]
StandbyAfter = Annotated[
    int | None,
    Field(
        description="Seconds without activity until it is stopped; 0 for never, null for what its template or the"
        " installation says. Not above the administrator's ceiling.",
        ge=0,
        le=LONGEST_SECONDS,
        examples=[3600],
    ),
]
ArchiveAfter = Annotated[
    int | None,
    Field(
        description="Seconds in STANDBY until it is archived; 0 for never, null for what its template or the"
        " installation says. Not above the administrator's ceiling.",
        ge=0,
        le=LONGEST_SECONDS,
        examples=[86400],
    ),
]
MemoryBytes = Annotated[int, Field(description="Memory.", ge=64 * 1024**2, le=4096 * GIB, examples=[2 * GIB])]
Cpus = Annotated[float, Field(description="Processors, also parts of one.", ge=0.05, le=1024, examples=[2.0])]
Pids = Annotated[int, Field(description="Processes and threads.", ge=16, le=1_000_000, examples=[512])]
DiskBytes = Annotated[
    int,
    Field(
        description="The size of a new home, where the runtime can limit it.",
        ge=16 * 1024**2,
        le=65536 * GIB,
        examples=[10 * GIB],
    ),
]
