"""Names for the shell to complete. It asks while somebody types: quickly, and in silence where it cannot."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from codehub.cli.server import Document


def workspace_names(incomplete: str) -> list[str]:
    return _names("/workspaces", incomplete, limit=200)


def deleted_names(incomplete: str) -> list[str]:
    return _names("/workspaces", incomplete, limit=200, deleted="true")


def generation_numbers(ctx: typer.Context, incomplete: str) -> list[str]:
    """Of the workspace that was named before it."""
    which = ctx.params.get("which")
    found = [each for each in _items("/workspaces", limit=200) if which in (each["name"], each["id"])]
    archives = _items(f"/workspaces/{found[0]['id']}/archives") if len(found) == 1 else []
    return [str(each["number"]) for each in archives if str(each["number"]).startswith(incomplete)]


def template_names(incomplete: str) -> list[str]:
    return _names("/templates", incomplete)


def context_names(incomplete: str) -> list[str]:
    from codehub.cli import contexts
    from codehub.errors import CodehubError

    try:
        return [each.name for each in contexts.read().contexts if each.name.startswith(incomplete)]
    except CodehubError:
        return []


def _names(path: str, incomplete: str, **params: int | str) -> list[str]:
    return [each["name"] for each in _items(path, **params) if each["name"].startswith(incomplete)]


def _items(path: str, **params: int | str) -> "list[Document]":
    """Those on the first page. Any fault is silence: a message would land in the middle of what is being typed."""
    from codehub.cli import contexts
    from codehub.cli.server import Server
    from codehub.errors import CodehubError

    try:
        items: list[Document] = Server.of(contexts.choose(""), quick=True).get(path, **params)["items"]
    except CodehubError:
        return []
    return items
