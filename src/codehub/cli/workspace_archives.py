"""`codehub ws archives`, `keep`, `unkeep`, `restore`, `fork`, `undelete` and `start-empty`: files from before."""

from typing import Annotated

import typer

from codehub.cli import completion
from codehub.cli.asked import Asked
from codehub.cli.finding import Which, find, find_deleted
from codehub.cli.generations import Generation, all_of, choose
from codehub.cli.waiting import Timeout, Wait, wished


def archives(asked: Asked, which: Which) -> None:
    """List the archives of a workspace: what its files can be brought back from.

    Example: codehub ws archives garden
    """
    from codehub.cli.measures import told_size, told_time
    from codehub.cli.tables import table

    workspace = find(asked.server, which)
    found = all_of(asked.server, workspace)
    headings = ("number", "id", "made", "size", "files", "kept", "stays, because")
    rows = (
        (
            each["number"],
            each["id"][:8],
            told_time(each["made_at"]),
            told_size(each["size"]),
            f"{each['entries']:,}",
            each["kept"],
            each["stays_because"] or "- (it goes after its grace)",
        )
        for each in found
    )
    nothing = f"There is no archive of {workspace['name']} yet."
    asked.tell({"items": found, "next": None}, lambda: table(headings, rows) if found else nothing)


def keep(asked: Asked, which: Which, generation: Generation) -> None:
    """Keep an archive, however many newer ones there are."""
    _keep(asked, which, generation, kept=True)


def unkeep(asked: Asked, which: Which, generation: Generation) -> None:
    """Let an archive go, when its turn comes."""
    _keep(asked, which, generation, kept=False)


def _keep(asked: Asked, which: str, generation: str, *, kept: bool) -> None:
    workspace = find(asked.server, which)
    archive = choose(asked.server, workspace, generation)
    path = f"/workspaces/{workspace['id']}/archives/{archive['id']}"
    changed = asked.server.patch(path, {"kept": kept})
    words = f"Archive {changed['number']} of {workspace['name']}"
    why = changed["stays_because"]
    stays = f"{words} stays: {why}." if why else f"{words} goes when its turn comes."
    asked.tell(changed, lambda: stays)


def restore(asked: Asked, which: Which, generation: Generation, wait: Wait = False, timeout: Timeout = None) -> None:
    """Bring the files of an archive back. What is in the home now is archived before.

    Example: codehub ws restore garden 3 --wait
    """
    workspace = find(asked.server, which)
    archive = choose(asked.server, workspace, generation)
    body = {"archive_id": archive["id"]}
    wished(asked, asked.server.post(f"/workspaces/{workspace['id']}/restore", body), wait=wait, timeout=timeout)


def fork(  # noqa: PLR0913 (each is an option)
    asked: Asked,
    which: Which,
    name: Annotated[str, typer.Argument(help="What to call the new one.")],
    *,
    generation: Annotated[
        str | None,
        typer.Option(
            help="Another archive than the current one: its number, or the first digits of its id.",
            autocompletion=completion.generation_numbers,
        ),
    ] = None,
    template: Annotated[
        str | None, typer.Option(help="Another one than its source runs.", autocompletion=completion.template_names)
    ] = None,
    description: Annotated[str, typer.Option(help="One line about it.", show_default=False)] = "",
    no_start: Annotated[bool, typer.Option("--no-start", help="Only bring its files back.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Make a new workspace from an archive of another.

    Example: codehub ws fork garden garden-2 --wait
    """
    source = find(asked.server, which)
    archive = choose(asked.server, source, generation)
    body = {
        "name": name,
        "archive_id": archive["id"],
        "template": template,
        "description": description,
        "desired_state": "STANDBY" if no_start else "RUNNING",
    }
    wished(asked, asked.server.post(f"/workspaces/{source['id']}/fork", body), wait=wait, timeout=timeout)


def undelete(
    asked: Asked,
    which: Annotated[
        str,
        typer.Argument(
            help="Its name, its id, or the first 4 or more digits of it; see: codehub ws list --deleted",
            autocompletion=completion.deleted_names,
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Another name, where its own is taken by now.")] = None,
    start: Annotated[bool, typer.Option("--start", help="Start it, too.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Bring a deleted workspace back, as its archive holds it."""
    workspace = find_deleted(asked.server, which)
    body = {"name": name, "desired_state": "RUNNING" if start else None}
    back = asked.server.post(f"/workspaces/{workspace['id']}/undelete", body)
    wished(asked, back, wait=wait, timeout=timeout)


def start_empty(
    asked: Asked,
    which: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Give lost files up, and go on with an empty home."""
    workspace = find(asked.server, which)
    if not yes:
        typer.confirm(f"Give up the lost files of {workspace['name']}?", abort=True, err=True)
    body = {"start_empty": True}
    wished(asked, asked.server.post(f"/workspaces/{workspace['id']}/recover", body), wait=wait, timeout=timeout)
