"""`codehub ws usage`: what a workspace used in the last hour."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codehub.cli.asked import Asked
from codehub.cli.finding import Which, called, find

Samples = Sequence[Mapping[str, Any]]

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 40


def usage(asked: Asked, which: Which) -> None:
    """Show what a workspace used in the last hour: a line of bars, what it was last, and the most of it."""
    workspace = find(asked.server, which)
    used = asked.server.get(f"/workspaces/{workspace['id']}/usage")
    nothing = f"Nothing is known yet: {called(workspace)} is looked at while it runs."
    asked.tell(used, lambda: told(used["samples"]) if used["samples"] else nothing)


def told(samples: Samples) -> str:
    """In words, and bars from nothing to the limit; without a limit, to the most that was used."""
    from codehub.cli.measures import told_size, told_time
    from codehub.cli.tables import facts

    last = samples[-1]
    cpus = [each["cpus"] for each in samples if each["cpus"] is not None]
    memory = [each["memory_bytes"] for each in samples]
    limit, memory_limit = last["cpus_limit"], last["memory_limit_bytes"]
    rows = (
        ("processor", _line(cpus, limit, lambda each: f"{each:.2f}") if cpus else None),
        ("memory", _line(memory, memory_limit, told_size)),
        ("home", told_size(last["home_bytes"]) if last["home_bytes"] is not None else None),
        ("processes", last["pids"]),
        ("last seen", told_time(last["at"])),
    )
    return facts(rows)


def _line(values: Sequence[float], limit: float | None, said: Callable[[float], str]) -> str:
    of = f" of {said(limit)}" if limit is not None else ""
    return f"{bars(values, limit or max(values))}  {said(values[-1])}{of}, {said(max(values))} at most"


def bars(values: Sequence[float], top: float) -> str:
    """One for each value; where there are more than fit, one for the greatest of several."""
    each = -(-len(values) // WIDTH)
    greatest = (max(values[start : start + each]) for start in range(0, len(values), each))
    highest = len(BARS) - 1
    return "".join(BARS[min(round(value / top * highest), highest) if top else 0] for value in greatest)
