"""`codehub template`: what workspaces are made from, for administrators."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from codehub.cli import completion
from codehub.cli.asked import Asked, command
from codehub.cli.measures import idle_time, size

if TYPE_CHECKING:
    from codehub.cli.server import Document

template = typer.Typer(name="template", help="What workspaces are made from.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="Its name.", autocompletion=completion.template_names)]
Image = Annotated[str, typer.Option(help="The image to run: a reference that the engine can pull.")]
Port = Annotated[int | None, typer.Option(help="Where the IDE listens.", min=1, max=65535)]
Text = Annotated[str | None, typer.Option(help="One line about it.")]
HealthPath = Annotated[str, typer.Option(help="Answers when the IDE is ready: /healthz.")]
Variables = Annotated[list[str] | None, typer.Option("--env", help="NAME=VALUE; can be given several times.")]
Cpus = Annotated[float | None, typer.Option(help="Processors, at most.")]
Size = Annotated[str, typer.Option(help="At most: 512m, 2g.")]
Pids = Annotated[int | None, typer.Option(help="Processes and threads, at most.")]
IdleTime = Annotated[str, typer.Option(metavar="TIME", help="10m, 2h, 3d, never, or default.")]


def register(app: typer.Typer) -> None:
    app.add_typer(template)


@command(template, "list")
def list_templates(asked: Asked) -> None:
    """List all templates, with what only administrators see."""
    from codehub.cli.tables import table
    from codehub.cli.workspace_words import resources

    found = asked.server.get("/admin/templates")
    rows = [
        (each["name"], each["status"], each["built_in"], each["image_ref"], each["port"], resources(each["resources"]))
        for each in found["items"]
    ]
    asked.tell(found, lambda: table(("name", "status", "built in", "image", "port", "at most"), rows))


@command(template, "create")
def create_template(  # noqa: PLR0913 (each is an option)
    asked: Asked,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    *,
    image: Image,
    port: Annotated[int, typer.Option(help="Where the IDE listens.", min=1, max=65535)],
    description: Text = None,
    health_path: HealthPath = "",
    env: Variables = None,
    cpus: Cpus = None,
    memory: Size = "",
    disk: Size = "",
    pids: Pids = None,
    standby_after: IdleTime = "",
    archive_after: IdleTime = "",
) -> None:
    """Make a template of an image.

    Example: codehub template create python --image registry.example.org/ide/python:3.13 --port 8080
    """
    body = _given(name=name, image_ref=image, port=port, description=description, health_path=health_path)
    body |= _times(standby_after, archive_after) | _limits(cpus, memory, disk, pids) | _environment(env)
    made = asked.server.post("/admin/templates", body)
    asked.tell(made, lambda: f"{made['name']} is there: codehub ws create NAME --template {made['name']}")


@command(template, "edit")
def edit_template(  # noqa: PLR0913 (each is an option)
    asked: Asked,
    which: Which,
    *,
    name: Annotated[str, typer.Option(help="A new name.")] = "",
    image: Image = "",
    port: Port = None,
    description: Text = None,
    health_path: HealthPath = "",
    env: Variables = None,
    cpus: Cpus = None,
    memory: Size = "",
    disk: Size = "",
    pids: Pids = None,
    standby_after: IdleTime = "",
    archive_after: IdleTime = "",
) -> None:
    """Change a template, for workspaces that are started from then on. Limits and --env add to what is there."""
    found = _found(asked, which)
    body = _given(name=name, image_ref=image, port=port, description=description, health_path=health_path)
    body |= _times(standby_after, archive_after)
    for field, added in (_limits(cpus, memory, disk, pids) | _environment(env)).items():
        body[field] = {**found[field], **added}
    if not body:
        raise typer.BadParameter("Say what to change; see: codehub template edit --help")
    changed = asked.server.patch(f"/admin/templates/{found['id']}", body)
    asked.tell(changed, lambda: f"{changed['name']} is changed.")


@command(template, "delete")
def delete_template(
    asked: Asked, which: Which, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False
) -> None:
    """Delete a template that no workspace runs."""
    found = _found(asked, which)
    if not yes:
        typer.confirm(f"Delete the template {found['name']}?", abort=True, err=True)
    asked.server.delete_once(f"/admin/templates/{found['id']}")
    asked.tell(found, lambda: f"{found['name']} is deleted.")


def _found(asked: Asked, which: str) -> "Document":
    from codehub.cli.refusals import NotFound

    items: list[Document] = asked.server.get("/admin/templates")["items"]
    for each in items:
        if which in (each["name"], each["id"]):
            return each
    raise NotFound(f"There is no template '{which}'.", f"There is: {', '.join(each['name'] for each in items)}.")


def _given(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 (whatever an option holds)
    return {name: value for name, value in fields.items() if value not in (None, "")}


def _times(standby_after: str, archive_after: str) -> dict[str, Any]:
    given = {"standby_after_seconds": standby_after, "archive_after_seconds": archive_after}
    return {field: idle_time(text) for field, text in given.items() if text}


def _limits(cpus: float | None, memory: str, disk: str, pids: int | None) -> dict[str, Any]:
    limits = _given(cpus=cpus, pids=pids, memory_bytes=size(memory) if memory else None)
    limits |= _given(disk_bytes=size(disk) if disk else None)
    return {"resources": limits} if limits else {}


def _environment(variables: list[str] | None) -> dict[str, Any]:
    pairs = [each.partition("=") for each in variables or []]
    for name, equals, _ in pairs:
        if not equals:
            raise typer.BadParameter(f"'{name}' is not of the form NAME=VALUE.", param_hint="--env")
    return {"environment": {name: value for name, _, value in pairs}} if pairs else {}
