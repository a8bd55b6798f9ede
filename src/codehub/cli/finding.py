"""Which workspace is meant: by its name, its id, or the beginning of its id."""

import difflib
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from codehub.cli import completion
from codehub.cli.refusals import NotFound, Refused
from codehub.errors import CodehubError

if TYPE_CHECKING:
    from codehub.cli.server import Document, Server

SHORTEST = 4
"""Digits of an id that are enough to be meant by; fewer are too easily a slip."""

Which = Annotated[
    str,
    typer.Argument(
        help="Its name, its id, or the first 4 or more digits of it; for administrators also OWNER/NAME.",
        autocompletion=completion.workspace_names,
    ),
]


class Ambiguous(Refused):
    """Several are meant by the same words."""


def find(server: "Server", which: str) -> "Document":
    """The one that is meant: of one's own, for an administrator else of everybody's. Raises NotFound, Ambiguous."""
    if (workspace_id := _whole_id(which)) is not None:
        return server.get(f"/workspaces/{workspace_id}")
    own: Sequence[Document] = server.pages("/workspaces")["items"]
    found = _only(which, own)
    if found is None:
        found = _only(which, everybodys := _everybodys(server))
        own = [*own, *everybodys]
    if found is not None:
        return found
    raise NotFound(f"There is no workspace '{which}'.", _suggestion(which, own))


def find_deleted(server: "Server", which: str) -> "Document":
    """The one that was deleted and is meant. Raises NotFound, Ambiguous."""
    own: Sequence[Document] = server.pages("/workspaces", deleted="true")["items"]
    found = _only(which, own) or _only(which, _everybodys(server, deleted="true"))
    if found is not None:
        return found
    raise NotFound(f"There is no deleted workspace '{which}'.", "See: codehub ws list --deleted")


def id_of(server: "Server", which: str) -> str:
    """Its id alone. One that is written out is not looked for: a token that may only hold could not see it."""
    whole = _whole_id(which)
    return str(whole) if whole is not None else str(find(server, which)["id"])


def called(workspace: "Document") -> str:
    """For a command to be copied from."""
    return shlex.quote(workspace["name"])


def _only(which: str, workspaces: "Sequence[Document]") -> "Document | None":
    """A name is meant before an id."""
    digits = which.replace("-", "").lower()
    matching = [each for each in workspaces if which in (each["name"], _full_name(each))]
    if not matching and len(digits) >= SHORTEST:
        matching = [each for each in workspaces if each["id"].replace("-", "").startswith(digits)]
    if len(matching) > 1:
        told = ", ".join(f"{_full_name(each)} ({each['id'][:8]})" for each in matching)
        raise Ambiguous(f"{len(matching)} workspaces match '{which}': {told}.", "Name one by more of its id.")
    return matching[0] if matching else None


def _everybodys(server: "Server", **narrowed: Any) -> "Sequence[Document]":  # noqa: ANN401
    """Nothing for whoever is no administrator."""
    try:
        found: Sequence[Document] = server.pages("/admin/workspaces", **narrowed)["items"]
    except CodehubError:
        return []
    return found


def _full_name(workspace: "Document") -> str:
    return f"{workspace['owner']['login']}/{workspace['name']}"


def _whole_id(which: str) -> UUID | None:
    try:
        return UUID(which)
    except ValueError:
        return None


def _suggestion(which: str, workspaces: "Sequence[Document]") -> str:
    names = list(dict.fromkeys(each["name"] for each in workspaces))
    wanted = which.lower()
    near = [name for name in names if wanted in name.lower()]
    near += [name for name in difflib.get_close_matches(which, names) if name not in near]
    if near:
        return f"Did you mean {' or '.join(near[:5])}?"
    return "See: codehub ws list" if names else "There is none yet; make one with: codehub ws create NAME"
