"""A soak as a page: what was sampled, whether it stayed flat, and a plot of each figure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.crowd import Crowd
from tests.soak.sampling import Sampled
from tests.soak.series import BOUNDS, Samples, Verdict, second_half, verdicts

WIDTH, ROW, LEFT = 720, 60, 220
SVG = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'
RULE = """The first half is left to caches and pools to fill. A figure's rise is that of its line through the second
half (Theil and Sen: the median of the slopes between any two samples, which spikes do not move), from its first sample
to its last. It grows where that is more than a share of its median (or than a little, where the figure is small), and
is no chance (Mann and Kendall: samples that only jitter look so once in a thousand times). What is allowed:"""
ABOUT = """- {workspaces:,} workspaces on the memory runtime, which are woken, put to sleep and archived, one
  every few seconds. {streams:,} event streams heard {heard:,.1f} MB.
- {containers:,} workspaces on Docker, some of which nobody visits: they were put to sleep or woken {wishes:,} times
  ({unheard_wishes:,} without an answer). To the others {websockets:,} WebSockets through the front door, which were
  answered {answers:,} times.
- {left:,} of these connections were closed by those who made them, after 5 to 15 minutes, and made again; {lost:,}
  were refused or cut off{why}."""


@dataclass
class Run:
    """What is told while it lasts."""

    sizes: Mapping[str, int]
    crowd: Crowd = field(default_factory=Crowd)
    installations: list[Sampled] = field(default_factory=list)
    samples: list[dict[str, float]] = field(default_factory=list)


def write_report(run: Run, page: Path) -> list[Verdict]:
    """The page, and its plot beside it. What was found."""
    found = verdicts(run.samples)
    plot = page.with_suffix(".svg")
    plot.write_text(drawn(run.samples, found))
    page.write_text("\n".join(_page(run, found, plot.name)))
    return found


def _page(run: Run, found: Sequence[Verdict], plot: str) -> list[str]:
    flat = f"{sum(verdict.is_flat for verdict in found)} of {len(found)} figures are flat"
    return [
        "# Soak",
        "",
        f"What `python -m tests.soak` last found, in {_minutes(run.samples):.0f} minutes: {flat}.",
        "",
        *_about(run),
        "",
        *RULE.splitlines(),
        "",
        *(f"- {unit}: {bound.share:.0%}, or {bound.least:,g}" for unit, bound in BOUNDS.items()),
        "",
        "| figure | median | rise | allowed | |",
        "|---|---|---|---|---|",
        *(
            f"| {each.figure} | {each.median:,.1f} | {each.rise:+,.1f} | {each.allowed:,.1f} |"
            f" {'flat' if each.is_flat else 'GROWS'} |"
            for each in found
        ),
        "",
        f"![Every figure over time; the second half decides]({plot})",
        "",
    ]


def _about(run: Run) -> list[str]:
    lost = run.crowd.cut_off
    why = "".join(f"; {count:,} times {reason}" for reason, count in lost.most_common())
    heard = run.crowd.heard_bytes / 1e6
    told = ABOUT.format(**run.sizes, **vars(run.crowd), heard=heard, lost=lost.total(), why=why).splitlines()
    told += (
        f"- {each.name}: {each.events:,} events of workspaces, {each.errors} of them in ERROR at the end,"
        f" {each.replaced} processes ended."
        for each in run.installations
    )
    return [*told, f"- The machine: {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f} in the last 15 minutes."]


def _minutes(samples: Samples) -> float:
    return (samples[-1]["at"] - samples[0]["at"]) / 60


def drawn(samples: Samples, found: Sequence[Verdict]) -> str:
    """A line for each figure, from nothing to its largest value, on grey where it does not count yet."""
    height = ROW * len(found) + 10
    last, half = samples[-1]["at"], second_half(samples)[0]["at"]
    across = (WIDTH - LEFT - 20) / last
    lines = [
        f'<svg {SVG} viewBox="0 0 {WIDTH} {height}">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<rect x="{LEFT}" width="{half * across:.1f}" height="{height}" fill="#f5f5f5"/>',
    ]
    for row, verdict in enumerate(found):
        known = [(each["at"], each[verdict.figure]) for each in samples if verdict.figure in each]
        most = max(value for _, value in known) or 1
        foot = ROW * (row + 1)
        points = " ".join(f"{LEFT + at * across:.1f},{foot - value * (ROW - 14) / most:.1f}" for at, value in known)
        lines.append(f'<text x="{LEFT - 10}" y="{foot - 20}" text-anchor="end">{verdict.figure}</text>')
        lines.append(f'<text x="{LEFT - 10}" y="{foot - 6}" text-anchor="end" fill="#888">up to {most:,.0f}</text>')
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{foot}" y2="{foot}" stroke="#ddd"/>')
        colour = "#2563eb" if verdict.is_flat else "#dc2626"
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return "\n".join([*lines, "</svg>", ""])
