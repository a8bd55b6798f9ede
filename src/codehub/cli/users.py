"""`codehub user`: accounts, for administrators."""

from typing import TYPE_CHECKING, Annotated

import typer

from codehub.cli.asked import Asked, command

if TYPE_CHECKING:
    from codehub.cli.server import Document

user = typer.Typer(name="user", help="Accounts.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(help="The login, or the id.")]
Role = Annotated[str, typer.Option(help="user or admin.", show_default=False)]
MaxRunning = Annotated[str, typer.Option(help="How many of their workspaces may run; default for everybody's limit.")]
OwnPassword = Annotated[bool, typer.Option("--ask-password", help="Ask for a password instead of making one.")]


def register(app: typer.Typer) -> None:
    app.add_typer(user)


@command(user, "list")
def list_users(
    asked: Asked,
    search: Annotated[str, typer.Option(help="Only with this in the login.")] = "",
    role: Role = "",
) -> None:
    """List all accounts."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    found = asked.server.pages("/admin/users", q=search, role=role)
    rows = [
        (each["login"], each["role"], _state(each), each["workspaces"], told_time(each["last_login_at"]))
        for each in found["items"]
    ]
    asked.tell(found, lambda: table(("login", "role", "state", "workspaces", "last login"), rows))


@command(user, "create")
def create_user(
    asked: Asked,
    login: Annotated[str, typer.Argument(help="The name to log in with.")],
    role: Role = "user",
    max_running: MaxRunning = "default",
    ask_password: OwnPassword = False,
) -> None:
    """Make an account. Its password is made too, and shown only now.

    Example: codehub user create ada
    """
    body = {"login": login, "role": role, "max_running": _limit(max_running), "password": _password(ask_password)}
    made = asked.server.post_once("/admin/users", body)
    asked.tell(made, lambda: f"{made['user']['login']} can log in{_told(made)}")


@command(user, "show")
def show_user(asked: Asked, who: Who) -> None:
    """Show one account."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import facts

    found = _found(asked, who)
    rows = (
        ("login", found["login"]),
        ("id", found["id"]),
        ("role", found["role"]),
        ("state", _state(found)),
        ("may run", "as many as everybody" if found["max_running"] is None else found["max_running"]),
        ("workspaces", found["workspaces"]),
        ("last login", told_time(found["last_login_at"])),
        ("made", told_time(found["created_at"])),
    )
    asked.tell(found, lambda: facts(rows))


@command(user, "edit")
def edit_user(
    asked: Asked,
    who: Who,
    login: Annotated[str, typer.Option(help="A new name to log in with.")] = "",
    role: Role = "",
    max_running: MaxRunning = "",
) -> None:
    """Change an account's login, role or limit."""
    changes: dict[str, object] = {"login": login, "role": role}
    changes = {name: value for name, value in changes.items() if value}
    if max_running:
        changes["max_running"] = _limit(max_running)
    if not changes:
        raise typer.BadParameter("Say what to change; see: codehub user edit --help")
    _change(asked, who, changes, "is changed")


@command(user, "disable")
def disable_user(asked: Asked, who: Who) -> None:
    """Let nobody log in to an account any more; its sessions and tokens end at once."""
    _change(asked, who, {"disabled": True}, "is disabled")


@command(user, "enable")
def enable_user(asked: Asked, who: Who) -> None:
    """Let somebody log in to a disabled account again."""
    _change(asked, who, {"disabled": False}, "is enabled")


@command(user, "password")
def reset_password(
    asked: Asked,
    who: Who,
    ask_password: OwnPassword = False,
    revoke_tokens: Annotated[bool, typer.Option("--revoke-tokens", help="Revoke its tokens as well.")] = False,
) -> None:
    """Give an account a new password, which is shown only now. Its browsers are logged out."""
    found = _found(asked, who)
    body = {"password": _password(ask_password), "revoke_tokens": revoke_tokens}
    reset = asked.server.post_once(f"/admin/users/{found['id']}/password", body)
    asked.tell(reset, lambda: f"{found['login']} can log in{_told(reset)}")


@command(user, "delete")
def delete_user(
    asked: Asked,
    who: Who,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove an account that has no workspaces. This cannot be undone."""
    found = _found(asked, who)
    if not yes:
        typer.confirm(f"Remove the account {found['login']}? This cannot be undone.", abort=True, err=True)
    asked.server.delete_once(f"/admin/users/{found['id']}")
    asked.tell(found, lambda: f"{found['login']} is removed.")


def _found(asked: Asked, who: str) -> "Document":
    from codehub.cli.refusals import NotFound

    found: list[Document] = asked.server.pages("/admin/users", q=who)["items"]
    for each in found:
        if each["login"].lower() == who.lower():
            return each
    near = ", ".join(each["login"] for each in found[:5])
    if not near and len(who) == len("00000000-0000-0000-0000-000000000000"):
        return asked.server.get(f"/admin/users/{who}")
    raise NotFound(f"There is no account '{who}'.", f"Did you mean {near}?" if near else "See: codehub user list")


def _change(asked: Asked, who: str, changes: dict[str, object], words: str) -> None:
    changed = asked.server.patch(f"/admin/users/{_found(asked, who)['id']}", changes)
    asked.tell(changed, lambda: f"{changed['login']} {words}.")


def _state(account: "Document") -> str:
    return "disabled" if account["disabled"] else "good"


def _limit(text: str) -> int | None:
    if text == "default":
        return None
    if not text.isdigit():
        raise typer.BadParameter(f"'{text}' is no number; write one, or default.")
    return int(text)


def _password(wanted: bool) -> str | None:
    from codehub.cli import passwords

    return passwords.ask("Password, 12 characters or more") if wanted else None


def _told(made: "Document") -> str:
    return f" with: {made['password']}\nIt is shown only now." if made["password"] else "."
