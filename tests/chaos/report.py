"""What the histories of a folder say together, as a page with a plot."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, log10
from pathlib import Path

from tests.chaos.checker import breaches
from tests.chaos.history import Answered, Created, Event, Failed, Recovered, Struck, Synced, Visited, read

GROUND = "Two replicas and two front doors, PostgreSQL, Valkey and SeaweedFS of their own, workspaces on Docker."
RECOVERY = """Recovery is the time from the fault, which may last up to 6 s itself, until a workspace that was asked for
in that moment was there (in the archive, where the store or a job was struck)."""
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
    faults = Counter(event.fault.partition(" ")[0] for event in everything if isinstance(event, Struck))
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
        "| part | faults | breaches |",
        "|---|---|---|",
        *(f"| {part} | {_count(events, Struck)} | {len(lost[part])} |" for part, events in told.items()),
        "",
        *(f"- {breach}" for found in lost.values() for breach in found),
        "Meanwhile "
        + ", ".join(
            f"{kinds[kind]} {words}"
            for kind, words in {
                Created: "workspaces were made",
                Answered: "wishes and names were acknowledged",
                Synced: "pages were synced",
                Visited: "pages were visited",
                Failed: "times an owner found a workspace in ERROR and asked it to go on",
            }.items()
        )
        + ".",
        "",
        "| fault | times |",
        "|---|---|",
        *(f"| {fault} | {count} |" for fault, count in faults.most_common()),
        "",
        RECOVERY,
        "",
        "| fault | times | p50 s | p99 s | longest s |",
        "|---|---|---|---|---|",
        *(
            f"| {fault} | {len(each)} | {percentile(each, 0.5):.1f} | {percentile(each, 0.99):.1f} | {max(each):.1f} |"
            for fault, each in seconds.items()
        ),
        "",
        f"![Recovery times]({plot})",
        "",
    ]


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
