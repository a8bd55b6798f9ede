"""`codehub ws`: workspaces, over the API."""

import sys
from typing import Annotated, Any

import typer

from codehub import clock
from codehub.cli import completion
from codehub.cli.asked import Asked, command
from codehub.cli.finding import Which, called, find
from codehub.cli.measures import idle_time, size
from codehub.cli.waiting import Timeout, Wait, wished

ws = typer.Typer(name="ws", help="Make, start, stop and delete workspaces.", no_args_is_help=True)

IdleTime = Annotated[str, typer.Option(metavar="TIME", help="10m, 2h, 3d, never, or default.", show_default=False)]
Description = Annotated[str | None, typer.Option(help="One line about it.", show_default=False)]
Memo = Annotated[str | None, typer.Option(help="Notes of several lines; - reads them from stdin.", show_default=False)]
RECENT = 10


def register(app: typer.Typer) -> None:
    """In the order of `codehub ws --help`: what one needs first."""
    from codehub.cli import hold
    from codehub.cli import workspace_archives as archives
    from codehub.cli import workspace_output as output
    from codehub.cli import workspace_wishes as wishes
    from codehub.cli.workspace_download import download
    from codehub.cli.workspace_usage import usage

    command(ws, "list")(list_workspaces)
    command(ws)(create)
    command(ws)(show)
    command(ws, "open")(open_workspace)
    for wish in (wishes.start, wishes.stop, wishes.archive, wishes.recover):
        command(ws)(wish)
    command(ws)(edit)
    command(ws)(wishes.delete)
    command(ws)(archives.undelete)
    command(ws)(archives.archives)
    for ask in (archives.restore, archives.fork, download, archives.keep, archives.unkeep):
        command(ws)(ask)
    command(ws, "start-empty")(archives.start_empty)
    for awake in (hold.extend, hold.holds, hold.release):
        command(ws)(awake)
    for look in (output.events, output.logs, output.stats, usage):
        command(ws)(look)
    command(ws)(templates)
    app.add_typer(ws)


def list_workspaces(
    asked: Asked,
    everybodys: Annotated[bool, typer.Option("--all", help="Everybody's, for administrators.")] = False,
    phase: Annotated[list[str] | None, typer.Option(help="Only in this phase; can be given several times.")] = None,
    search: Annotated[str, typer.Option(help="Only with this in name or description.")] = "",
    deleted: Annotated[bool, typer.Option("--deleted", help="Those that were deleted, as far as known.")] = False,
) -> None:
    """List your workspaces, the newest first.

    Example: codehub ws list --phase running --json | jq -r '.items[].name'
    """
    from codehub.cli import workspace_words

    path = "/admin/workspaces" if everybodys else "/workspaces"
    narrowed: dict[str, Any] = {"phase": [each.upper() for each in phase or []], "q": search}
    found = asked.server.pages(path, **narrowed, deleted="true" if deleted else "")

    def words() -> str:
        if found["items"]:
            return workspace_words.many(found["items"], clock.now(), with_owner=everybodys)
        if phase or search or deleted:
            return "There is none like that."
        return "There are no workspaces yet. Make one with: codehub ws create NAME"

    asked.tell(found, words)


def create(  # noqa: PLR0913 (each is an option)
    asked: Asked,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    *,
    template: Annotated[
        str, typer.Option(help="What it runs; see: codehub ws templates", autocompletion=completion.template_names)
    ] = "code-server",
    description: Description = None,
    memo: Memo = None,
    git: Annotated[str, typer.Option(help="A repository to clone into its home at the first start.")] = "",
    cpus: Annotated[float | None, typer.Option(help="Processors; not more than its template gives.")] = None,
    memory: Annotated[str, typer.Option(help="512m, 2g; not more than its template gives.")] = "",
    disk: Annotated[str, typer.Option(help="The size of its home: 5g.")] = "",
    pids: Annotated[int | None, typer.Option(help="Processes and threads.")] = None,
    standby_after: IdleTime = "",
    archive_after: IdleTime = "",
    no_start: Annotated[bool, typer.Option("--no-start", help="Only make its home.")] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> None:
    """Make a workspace and start it.

    Example: codehub ws create garden --wait
    """
    from codehub.cli.refusals import Refused

    resources = {"cpus": cpus, "pids": pids, "memory_bytes": _bytes(memory), "disk_bytes": _bytes(disk)}
    body = {
        "name": name,
        "template": template,
        "git_url": git or None,
        "resources": {key: value for key, value in resources.items() if value is not None},
        "desired_state": "STANDBY" if no_start else "RUNNING",
        **_described(description, memo, standby_after, archive_after),
    }
    try:
        made = asked.server.post("/workspaces", body)
    except Refused as error:
        if (error.problem or {}).get("code") != "unknown_template":
            raise
        names = ", ".join(each["name"] for each in asked.server.get("/templates")["items"])
        error.what, error.remedy = f"There is no template '{template}'.", f"There is: {names}."
        raise
    wished(asked, made, wait=wait, timeout=timeout)


def edit(
    asked: Asked,
    which: Which,
    name: Annotated[str, typer.Option(help="A new name.")] = "",
    description: Description = None,
    memo: Memo = None,
    standby_after: IdleTime = "",
    archive_after: IdleTime = "",
) -> None:
    """Change what a workspace is called and how long it stays awake.

    Example: codehub ws edit garden --standby-after 2h
    """
    workspace = find(asked.server, which)
    body = _described(description, memo, standby_after, archive_after) | ({"name": name} if name else {})
    if not body:
        raise typer.BadParameter("Say what to change; see: codehub ws edit --help")
    changed = asked.server.patch(f"/workspaces/{workspace['id']}", body, if_match=f'"{workspace["revision"]}"')
    asked.tell(changed, lambda: f"{changed['name']} is changed.")


def show(asked: Asked, which: Which) -> None:
    """Show one workspace: why it is as it is, what comes next, and what happened last."""
    from codehub.cli import workspace_words

    workspace = find(asked.server, which)

    def words() -> str:
        happened = asked.server.pages(f"/workspaces/{workspace['id']}/events", RECENT)
        more = f"\n  and more: codehub ws events {called(workspace)} --all" if happened["next"] else ""
        told = workspace_words.history(reversed(happened["items"])).replace("\n", "\n  ")
        return f"{workspace_words.one(workspace)}\n\nhistory\n  {told}{more}"

    asked.tell(workspace, words)


def open_workspace(
    asked: Asked,
    which: Which,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Open a workspace in the browser, where it wakes if it sleeps.

    Example: codehub ws open garden
    """
    import webbrowser

    workspace = find(asked.server, which)
    asked.tell({"url": workspace["url"]}, lambda: str(workspace["url"]))
    if not (only_print or asked.as_json):
        webbrowser.open(workspace["url"])


def templates(asked: Asked) -> None:
    """List what workspaces can be made from."""
    from codehub.cli import workspace_words
    from codehub.cli.tables import table

    found = asked.server.get("/templates")
    rows = [
        (each["name"], each["status"], workspace_words.resources(each["resources"]), each["description"])
        for each in found["items"]
    ]
    asked.tell(found, lambda: table(("name", "status", "at most", "description"), rows))


def _bytes(text: str) -> int | None:
    return size(text) if text else None


def _described(description: str | None, memo: str | None, standby_after: str, archive_after: str) -> dict[str, Any]:
    """The fields that were given."""
    given: dict[str, Any] = {"description": description, "memo": sys.stdin.read() if memo == "-" else memo}
    body = {name: value for name, value in given.items() if value is not None}
    for field, text in (("standby_after_seconds", standby_after), ("archive_after_seconds", archive_after)):
        if text:
            body[field] = idle_time(text)
    return body
