"""Workspaces in words, for the terminal."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from codehub.cli.measures import told_idle_time, told_size, told_time, told_until
from codehub.cli.progress import figures_of
from codehub.cli.tables import facts, table

Workspace = Mapping[str, Any]

_NEXT = {"sleep": "sleeps {}", "archive": "moves to the archive {}", "retry": "is tried again {}"}
"""What comes by itself and at a time, in a few words."""
_YOU_CAN = {
    "start": "start it",
    "stop": "stop it",
    "archive": "archive it",
    "recover": "recover it",
    "restore": "restore an archive",
    "start_empty": "start it empty",
    "extend": "extend it",
    "hold": "hold it",
    "change_idle_time": "edit its idle times",
    "delete": "delete it",
    "undelete": "undelete it",
}


def many(workspaces: Iterable[Workspace], now: datetime, *, with_owner: bool) -> str:
    headings = ("id", *(("owner",) if with_owner else ()), "name", "phase", "template", "now")
    rows = (
        (
            each["id"][:8],
            *((each["owner"]["login"],) if with_owner else ()),
            each["name"],
            each["phase"],
            (each["template"] or {}).get("name"),
            doing(each, now),
        )
        for each in workspaces
    )
    return table(headings, rows)


def doing(workspace: Workspace, now: datetime) -> str:
    """The one thing that is worth knowing besides the phase."""
    operation, explanation = workspace["operation"], workspace["explanation"]
    if operation is not None:
        figures = figures_of(operation["progress"] or {})
        trouble = f"(failed {workspace['error']['count']} times)" if workspace["error"] else ""
        return " ".join(filter(None, (f"{operation['name'].lower()}: {operation['step']}", figures, trouble)))
    if workspace["phase"] == "ERROR":
        return str(workspace["error"]["sentence"]) if workspace["error"] else "is being looked at"
    if workspace["deleted_at"] is not None:
        return f"until {told_time(workspace['undo_until'])}: undelete" if workspace["undo_until"] else "is gone"
    coming = explanation["next"]
    if coming is not None and coming["what"] in _NEXT:
        return _NEXT[coming["what"]].format(told_until(coming["at"], now))
    return "" if workspace["phase"] == workspace["desired_state"] else f"{workspace['desired_state']} is wished"


def one(workspace: Workspace) -> str:
    idle = workspace["idle"]
    known = facts(
        (
            ("id", workspace["id"]),
            ("owner", workspace["owner"]["login"]),
            ("template", (workspace["template"] or {}).get("name")),
            ("description", workspace["description"]),
            ("memo", workspace["memo"]),
            ("repository", workspace["git_url"]),
            ("resources", resources(workspace["resources"])),
            ("stops", f"{told_idle_time(idle['standby_after_seconds'])} without use"),
            ("archived", f"{told_idle_time(idle['archive_after_seconds'])} stopped"),
            ("last used", told_time(workspace["last_access_at"])),
            ("made", told_time(workspace["created_at"])),
            ("address", workspace["url"]),
            ("you can", [_YOU_CAN[each] for each in workspace["explanation"]["would_change"]]),
        )
    )
    return f"{workspace['name']}: {workspace['phase']}\n{workspace['explanation']['summary']}\n\n{known}"


def resources(given: Mapping[str, float]) -> str:
    words: dict[str, Callable[[float], str]] = {
        "cpus": lambda count: f"{count:g} processors",
        "memory_bytes": lambda count: f"{told_size(count)} memory",
        "disk_bytes": lambda count: f"{told_size(count)} home",
        "pids": lambda count: f"{count:.0f} processes",
    }
    return ", ".join(told(given[name]) for name, told in words.items() if given.get(name) is not None)


def history(events: Iterable[Mapping[str, Any]]) -> str:
    """The oldest first, as it is read."""
    return "\n".join(map(event, events))


def event(happened: Mapping[str, Any]) -> str:
    change = " -> ".join(str(happened[name]) for name in ("before", "after") if happened[name])
    more = ", ".join(str(happened[name]) for name in ("reason", "actor", "detail") if happened[name])
    return f"{told_time(happened['at'])}  {happened['kind']:<10} {change}{f'  ({more})' if more else ''}"
