"""`codehub token`, `session` and `password`: one's own account. All of it needs the password, which is asked for."""

from typing import TYPE_CHECKING, Annotated

import typer

from codehub.cli.asked import Asked, command
from codehub.cli.measures import duration

if TYPE_CHECKING:
    from codehub.cli.server import Document

token = typer.Typer(name="token", help="Tokens for your programs.", no_args_is_help=True)
session = typer.Typer(name="session", help="The browsers that you are logged in with.", no_args_is_help=True)

TokenId = Annotated[str, typer.Argument(help="Its name, or the beginning of its id.")]
SessionId = Annotated[str, typer.Argument(help="The beginning of its id.")]


def register(app: typer.Typer) -> None:
    app.add_typer(token)
    app.add_typer(session)
    command(app, "password")(change_password)


@command(token, "list")
def list_tokens(asked: Asked) -> None:
    """List your tokens, without their secrets."""
    from codehub.cli import passwords
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    with passwords.proven(asked) as server:
        found = server.get("/tokens")
    rows = [
        (
            each["id"][:8],
            each["name"],
            f"...{each['hint']}",
            each["scopes"],
            told_time(each["last_used_at"]),
            told_time(each["expires_at"]),
        )
        for each in found["items"]
    ]
    asked.tell(found, lambda: table(("id", "name", "secret", "good for", "last used", "ends"), rows))


@command(token, "create")
def create_token(
    asked: Asked,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    scope: Annotated[str, typer.Option(help="hold, read, workspaces (to change them too) or admin.")] = "workspaces",
    lasts: Annotated[
        int | None, typer.Option(help="How long: 12h, 30d (default: as long as allowed).", parser=duration)
    ] = None,
) -> None:
    """Make a token for a program. Its secret is shown only now.

    Example: codehub token create ci --scope workspaces --lasts 30d
    """
    from codehub.cli import passwords

    with passwords.proven(asked) as server:
        made = server.post_once("/tokens", {"name": name, "scopes": [scope], "expires_in_seconds": lasts})
    asked.tell(made, lambda: f"{made['token']}\nIt is shown only now. Programs take it from CODEHUB_TOKEN.")


@command(token, "revoke")
def revoke_token(asked: Asked, which: TokenId) -> None:
    """Revoke a token: whoever sends it is nobody from then on."""
    from codehub.cli import passwords

    with passwords.proven(asked) as server:
        found = _one(server.get("/tokens")["items"], which, "token")
        server.delete_once(f"/tokens/{found['id']}")
    asked.tell(found, lambda: f"{found['name']} is revoked.")


@command(session, "list")
def list_sessions(asked: Asked) -> None:
    """List where you are logged in with a browser. The one of this command ends with it."""
    from codehub.cli import passwords
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    with passwords.proven(asked) as server:
        items = [each for each in server.get("/sessions")["items"] if not each["current"]]
    rows = [(each["id"][:8], each["address"], told_time(each["last_used_at"]), each["user_agent"]) for each in items]
    asked.tell(
        {"items": items},
        lambda: table(("id", "from", "last used", "browser"), rows) if rows else "You are logged in nowhere else.",
    )


@command(session, "revoke")
def revoke_session(
    asked: Asked,
    which: SessionId = "",
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
) -> None:
    """Log a browser out, or all of them."""
    from codehub.cli import passwords

    if bool(which) == every:
        raise typer.BadParameter("Name one, or say --all.")
    with passwords.proven(asked) as server:
        if every:
            ended = server.delete_once("/sessions")
        else:
            found = _one(server.get("/sessions")["items"], which, "session")
            server.delete_once(f"/sessions/{found['id']}")
            ended = {"ended": 1}
    asked.tell(ended, lambda: f"Logged out: {ended['ended']}.")


def change_password(
    asked: Asked,
    revoke_tokens: Annotated[bool, typer.Option("--revoke-tokens", help="Revoke your tokens as well.")] = False,
) -> None:
    """Change your password. Browsers are logged out; tokens stay good unless you say otherwise.

    Without a terminal, the present and the new password are read from stdin, a line each.
    """
    import sys

    from codehub.cli import passwords

    login = asked.server.get("/me")["login"]
    present = passwords.ask(f"Present password of {login}")
    new = passwords.ask("New password, 12 characters or more")
    if sys.stdin.isatty() and passwords.ask("The same again") != new:
        raise typer.BadParameter("The two are not the same.")
    server, _ = asked.server.log_in(login, present)
    body = {"present": present, "new": new, "revoke_tokens": revoke_tokens}
    with passwords.ended(server):
        newer, changed = server.change_password(body)
        with passwords.ended(newer):
            counts = {name: changed[name] for name in ("sessions_ended", "tokens_revoked")}
    ended = f"Browsers logged out: {counts['sessions_ended']}; tokens revoked: {counts['tokens_revoked']}."
    asked.tell(counts, lambda: f"Your password is changed. {ended}")


def _one(items: "list[Document]", which: str, what: str) -> "Document":
    from codehub.cli.refusals import NotFound, Refused

    found = [each for each in items if each["id"].startswith(which) or each.get("name") == which]
    if len(found) > 1:
        raise Refused(f"{len(found)} {what}s match '{which}'.", "Write more of the id.")
    if not found:
        raise NotFound(f"There is no {what} '{which}'.", f"See: codehub {what} list")
    return found[0]
