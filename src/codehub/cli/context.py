"""`codehub context`: the servers that somebody is logged in to."""

from typing import Annotated

import typer

from codehub.cli import completion
from codehub.cli.asked import Json

context = typer.Typer(name="context", help="The servers that you are logged in to.", no_args_is_help=True)

Name = Annotated[
    str, typer.Argument(help="As `codehub context list` shows it.", autocompletion=completion.context_names)
]


def register(app: typer.Typer) -> None:
    app.add_typer(context)


@context.command("list")
def list_contexts(as_json: Json = False) -> None:
    """List them; the star marks the one that commands mean."""
    import json

    from codehub.cli import contexts
    from codehub.cli.tables import table

    known = contexts.read()
    shown = [
        {"name": each.name, "server": each.server, "login": each.login, "current": each.name == known.current}
        for each in known.contexts
    ]
    if as_json:
        typer.echo(json.dumps({"items": shown}, indent=2))
    elif not shown:
        typer.echo("You are not logged in to any codehub. Log in with: codehub login")
    else:
        rows = [("*" if each["current"] else "", each["name"], each["server"], each["login"]) for each in shown]
        typer.echo(table(("", "name", "server", "login"), rows))


@context.command("use")
def use_context(name: Name) -> None:
    """Mean this server from now on."""
    from codehub.cli import contexts

    contexts.use(name)
    typer.echo(f"Commands mean {contexts.named(name).server} now.")


@context.command("remove")
def remove_context(name: Name) -> None:
    """Forget a server, without a word to it. `codehub logout` also revokes the token."""
    from codehub.cli import contexts

    contexts.named(name)
    contexts.forget(name)
    typer.echo(f"{name} is forgotten here. Its token stays good until it ends: codehub logout would have revoked it.")
