"""Which archive of a workspace is meant: by its number, or by the beginning of its id."""

from typing import TYPE_CHECKING, Annotated

import typer

from codehub.cli import completion
from codehub.cli.finding import SHORTEST, called
from codehub.cli.refusals import NotFound

if TYPE_CHECKING:
    from codehub.cli.server import Document, Server

Generation = Annotated[
    str,
    typer.Argument(
        help="Which archive: its number, or the first digits of its id; see: codehub ws archives WHICH",
        autocompletion=completion.generation_numbers,
    ),
]


def all_of(server: "Server", workspace: "Document") -> "list[Document]":
    """Newest first."""
    found: list[Document] = server.pages(f"/workspaces/{workspace['id']}/archives")["items"]
    return found


def choose(server: "Server", workspace: "Document", which: str | None) -> "Document":
    """The one that is meant; where none is named, the one that the workspace comes back from. Raises NotFound."""
    archives = all_of(server, workspace)
    if not archives:
        raise NotFound(
            f"There is no archive of {workspace['name']} yet.", f"Make one with: codehub ws archive {called(workspace)}"
        )
    found = [each for each in archives if _is_meant(each, which)]
    if len(found) == 1:
        return found[0]
    numbers = ", ".join(str(each["number"]) for each in archives)
    raise NotFound(f"There is no archive '{which or 'current'}' of {workspace['name']}.", f"There is: {numbers}.")


def _is_meant(archive: "Document", which: str | None) -> bool:
    if which is None:
        return bool(archive["current"])
    digits = which.replace("-", "").lower()
    is_id = len(digits) >= SHORTEST and archive["id"].replace("-", "").startswith(digits)
    return which == str(archive["number"]) or is_id
