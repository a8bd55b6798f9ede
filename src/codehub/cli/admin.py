"""`codehub admin`: the installation, for administrators."""

import json
from typing import Annotated

import typer

from codehub.cli.asked import Asked, command

admin = typer.Typer(name="admin", help="Limits, coordinators, and who did what.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    app.add_typer(admin)


@command(admin)
def limits(asked: Asked) -> None:
    """Show how many workspaces may run, and how many places are taken."""
    from codehub.cli.tables import facts

    found = asked.server.get("/admin/limits")
    rows = (
        ("running", f"{found['running']} of {found['max_running_global']}"),
        ("for each user", found["max_running_per_user"]),
        ("users with a limit of their own", found["users_with_own_limit"]),
    )
    asked.tell(found, lambda: facts(rows))


@command(admin)
def coordinators(asked: Asked) -> None:
    """Show which process does the work that one does for all."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    found = asked.server.get("/admin/coordinators")
    rows = [
        (each["name"], each["holder"] if each["held"] else f"nobody (last: {each['holder']})", told_time(each["since"]))
        for each in found["items"]
    ]
    asked.tell(found, lambda: table(("work", "done by", "since"), rows))


@command(admin)
def audit(
    asked: Asked,
    actor: Annotated[str, typer.Option(help="Only what this login did.")] = "",
    action: Annotated[str, typer.Option(help="Only this action, or all that begin with this word: user.")] = "",
    subject: Annotated[str, typer.Option(help="Only what was done to this id.")] = "",
    since: Annotated[str, typer.Option(help="Only from then on: 2026-01-31T12:00:00Z.")] = "",
    until: Annotated[str, typer.Option(help="Only before that.")] = "",
    limit: Annotated[int, typer.Option(help="How many, of the newest.", min=1)] = 50,
) -> None:
    """Tell who did what, the newest first."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    found = asked.server.pages(
        "/admin/audit", limit, actor=actor, action=action, subject_id=subject, since=since, until=until
    )
    rows = [
        (
            told_time(each["at"]),
            each["actor"],
            each["action"],
            each["subject"],
            each["address"],
            json.dumps(each["detail"]) if each["detail"] else "",
        )
        for each in found["items"]
    ]
    more = "\nThere are older ones: --limit" if found["next"] else ""
    asked.tell(found, lambda: table(("when", "who", "what", "to", "from", "more"), rows) + more)
