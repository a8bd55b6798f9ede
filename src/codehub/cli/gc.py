"""`codehub gc`: what nothing needs any more, for administrators."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from codehub.cli.asked import Asked, ContextName, Json, command

if TYPE_CHECKING:
    from codehub.cli.server import Document

LOOK_SECONDS = 0.5
CONFIRMED = ("round_halted", "database_is_old")
"""The alarms that a person's word ends."""

gc = typer.Typer(name="gc")


def register(app: typer.Typer) -> None:
    app.add_typer(gc)


@gc.callback(invoke_without_command=True)
def collect(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would go, and why the rest stays.")
    ] = False,
    context_name: ContextName = "",
    as_json: Json = False,
) -> None:
    """Make a round of the collector now, and tell what it did."""
    if context.invoked_subcommand is not None:
        return
    asked = Asked(context_name, as_json)
    if dry_run:
        found = asked.server.get("/admin/gc/preview")
        asked.tell(found, lambda: _previewed(found))
        return
    made = _made(asked, asked.server.post("/admin/gc/rounds"))
    asked.tell(made, lambda: _told(made))


@command(gc)
def status(asked: Asked) -> None:
    """Show what the last round did, when the next one is due, and whether the collector waits for a confirmation."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import facts

    found = asked.server.get("/admin/gc")
    last = found["last_round"]
    rows = [
        *(("alarm", each["why"]) for each in found["alarms"]),
        ("last round", told_time(last["ended_at"]) if last else "never"),
        ("", _told(last) if last else ""),
        ("next round", told_time(found["next_round_at"]) if found["next_round_at"] else "now"),
    ]
    asked.tell(found, lambda: facts(rows))


@command(gc)
def rounds(
    asked: Asked, limit: Annotated[int, typer.Option(help="How many, of the newest.", min=1, max=200)] = 20
) -> None:
    """List what the last rounds did."""
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    found = asked.server.get("/admin/gc/rounds", limit=limit)
    rows = [(told_time(each["began_at"]), each["asked_by"], each["seen"], _told(each)) for each in found["items"]]
    asked.tell(found, lambda: table(("when", "asked by", "seen", "what"), rows))


@command(gc)
def confirm(asked: Asked, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Let the collector go on after you have looked at what it asks about: `codehub gc status` says what."""
    from codehub.cli.refusals import Refused

    found = asked.server.get("/admin/gc")["alarms"]
    alarms = [each for each in found if each["code"] in CONFIRMED]
    if not alarms:
        raise Refused("The collector asks about nothing.", *(each["why"] for each in found))
    for alarm in alarms:
        if not yes:
            typer.confirm(f"{alarm['why']}.\nGo on?", abort=True, err=True)
    confirmed = [asked.server.post("/admin/gc/confirm", {"alarm": alarm["code"]}) for alarm in alarms]
    made = _made(asked, confirmed[-1])
    asked.tell(made, lambda: _told(made))


def _made(asked: Asked, round_: "Document") -> "Document":
    """The round, once it has ended. One that cannot be made is tried again by the server; here it is told."""
    from codehub.cli.refusals import Refused

    while round_["ended_at"] is None:
        if round_["failed"] is not None:
            raise Refused(f"The round could not be made: {round_['failed']}.", "It is tried again every minute.")
        time.sleep(LOOK_SECONDS)
        round_ = asked.server.get(f"/admin/gc/rounds/{round_['id']}")
    return round_


def _told(round_: "Document") -> str:
    if round_["halted"] is not None:
        return f"Nothing was deleted: {round_['halted']}."
    if round_["ended_at"] is None:
        return round_["failed"] or "not made yet"
    deleted, pruned = _counted(round_["deleted"]), _counted(round_["pruned"])
    told = f"{deleted or 'nothing'} deleted, {sum(round_['kept'].values())} kept, {round_['waiting']} in their grace"
    return f"{told}; old rows: {pruned}" if pruned else told


def _counted(counts: "Document") -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def _previewed(found: "Document") -> str:
    from codehub.cli.measures import told_time
    from codehub.cli.tables import table

    lines = [f"Nothing would be deleted: {found['halted']}."] if found["halted"] else []
    lines.append(f"Of {found['seen']}, {found['due']} would go now and {len(found['wait'])} are in their grace.")
    for heading, things in (("would go", found["take"]), ("in its grace", found["wait"])):
        if things:
            rows = [(each["kind"], each["key"], told_time(each["unprotected_since"])) for each in things]
            lines.append(table((heading, "key", "since"), rows))
    if found["kept"]:
        lines.append(table(("stay", "because"), [(count, why) for why, count in found["kept"].items()]))
    return "\n\n".join(lines)
