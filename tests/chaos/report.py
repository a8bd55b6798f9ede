"""What the histories of a folder say together, as a page with a plot."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, log10
from pathlib import Path

from tests.chaos.checker import breaches
from tests.chaos.history import (
    Answered,
    Created,
    Event,
    Failed,
    Recovered,
    Restored,
    Struck,
    Synced,
    Under,
    Visited,
    read,
)

GROUND = "Two replicas and two front doors, PostgreSQL, Valkey and SeaweedFS of their own, workspaces on Docker."
RECOVERY = """Recovery is the time from the fault, which may last up to 6 s (a full disk: 12 s), until a workspace
that was asked for in that moment was there (in the archive, where the store or a job was struck), and the container of
a workspace that was killed was out of the way."""
SVG = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'
WIDTH, ROW, LEFT = 720, 26, 190
SCALE = (0.5, 1, 2, 5, 10, 20, 50, 100, 200)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of them does not exceed; with few values the largest."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def write_report(histories: Path, page: Path) -> None:
    """The page, and its plot beside it."""
    told = {path.stem: read(path.read_text().splitlines()) for path in sorted(histories.glob("*.jsonl"))}
    plot = page.with_suffix(".svg")
    seconds = recovery([event for events in told.values() for event in events])
    plot.write_text(drawn(seconds))
    page.write_text("\n".join(_page(told, seconds, plot.name)))


def recovery(events: Sequence[Event]) -> dict[str, list[float]]:
    """Seconds until a workspace that was asked for in the moment of the fault was there."""
    found = defaultdict(list)
    for event in events:
        if isinstance(event, Recovered):
            found[f"{event.fault}: {event.target}"].append(event.seconds)
    return dict(sorted(found.items()))


def _page(told: Mapping[str, Sequence[Event]], seconds: Mapping[str, Sequence[float]], plot: str) -> list[str]:
    everything = [event for events in told.values() for event in events]
    kinds = Counter(type(event) for event in everything)
    lost = {part: breaches(events) for part, events in told.items()}
    return [
        "# Real kills",
        "",
        "What `python -m tests.chaos` last found. Each part is one run with a seed; how to repeat it:",
        "",
        "```",
        *(f"python -m tests.chaos --seed {part.removeprefix('seed-')} --report docs/chaos-report.md" for part in told),
        "```",
        "",
        GROUND,
        "",
        "| part | at commit | load | faults | breaches |",
        "|---|---|---|---|---|",
        *(
            f"| {part} | {_under(events)} | {_count(events, Struck)} | {len(lost[part])} |"
            for part, events in told.items()
        ),
        "",
        *(f"- {breach}" for found in lost.values() for breach in found),
        "Meanwhile "
        + ", ".join(
            f"{kinds[kind]} {words}"
            for kind, words in {
                Created: "workspaces were made",
                Answered: "wishes and names were acknowledged",
                Synced: "pages were synced",
                Restored: "times an older archive was restored",
                Visited: "pages were visited",
                Failed: "times an owner found a workspace in ERROR and asked it to go on",
            }.items()
        )
        + ".",
        "",
        RECOVERY,
        "",
        "| fault | times | p50 s | p99 s | longest s |",
        "|---|---|---|---|---|",
        *(f"| **{kind}** {_figures(each)}" for kind, each in _kinds(seconds).items()),
        *(f"| {fault} {_figures(each)}" for fault, each in seconds.items()),
        "",
        f"![Recovery times]({plot})",
        "",
    ]


def _under(events: Sequence[Event]) -> str:
    """The commit, and the load when it began and when it was over."""
    found = [event for event in events if isinstance(event, Under)]
    loads = " to ".join(f"{event.load:g}" for event in found)
    return f"{', '.join(sorted({event.commit for event in found}))} | {loads} on {found[0].cores} cores"


def _kinds(seconds: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """All faults of a kind, whatever they struck."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for fault, each in seconds.items():
        found[re.split("[ :]", fault)[0]] += each
    return dict(found)


def _figures(seconds: Sequence[float]) -> str:
    p50, p99 = percentile(seconds, 0.5), percentile(seconds, 0.99)
    return f"| {len(seconds)} | {p50:.1f} | {p99:.1f} | {max(seconds):.1f} |"


def _count(events: Sequence[Event], kind: type[Event]) -> int:
    return sum(isinstance(event, kind) for event in events)


def drawn(seconds: Mapping[str, Sequence[float]]) -> str:
    """A point for each fault, in rows, on a logarithmic scale."""
    height = ROW * len(seconds) + 40
    lines = [
        f'<svg {SVG} viewBox="0 0 {WIDTH} {height}">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for mark in SCALE:
        lines.append(f'<line x1="{_x(mark)}" x2="{_x(mark)}" y1="10" y2="{height - 25}" stroke="#ddd"/>')
        lines.append(f'<text x="{_x(mark)}" y="{height - 10}" text-anchor="middle">{mark:g} s</text>')
    for row, (fault, each) in enumerate(seconds.items()):
        y = ROW * row + 24
        lines.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{fault}</text>')
        lines += [f'<circle cx="{_x(one)}" cy="{y}" r="3" fill="#2563eb" fill-opacity="0.35"/>' for one in each]
    return "\n".join([*lines, "</svg>", ""])


def _x(seconds: float) -> float:
    least, most = log10(SCALE[0]), log10(SCALE[-1])
    share = (log10(min(max(seconds, SCALE[0]), SCALE[-1])) - least) / (most - least)
    return round(LEFT + share * (WIDTH - LEFT - 20), 1)
