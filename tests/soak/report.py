"""A soak as a page: what was sampled, whether it stayed flat, and a plot of each figure."""

from collections.abc import Sequence
from pathlib import Path

from tests.soak.series import Samples, Verdict, verdicts

WIDTH, ROW, LEFT = 720, 60, 220
FLAT = "Over the second half they grow, by the line that fits them best, by no more than is allowed."
SVG = 'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"'


def write_report(samples: Samples, about: str, page: Path) -> list[Verdict]:
    """The page, and its plot beside it. What was found."""
    found = verdicts(samples)
    plot = page.with_suffix(".svg")
    plot.write_text(drawn(samples, found))
    page.write_text("\n".join(_page(found, about, plot.name)))
    return found


def _page(found: Sequence[Verdict], about: str, plot: str) -> list[str]:
    flat = sum(verdict.is_flat for verdict in found)
    return [
        "# Soak",
        "",
        f"What `python -m tests.soak` last found: {about}",
        "",
        f"{flat} of {len(found)} figures are flat. {FLAT}",
        "",
        "| figure | median | growth | allowed | |",
        "|---|---|---|---|---|",
        *(
            f"| {each.figure} | {each.median:,.1f} | {each.growth:+,.1f} | {each.allowed:,.1f} |"
            f" {'flat' if each.is_flat else 'GROWS'} |"
            for each in found
        ),
        "",
        f"![Every figure over time]({plot})",
        "",
    ]


def drawn(samples: Samples, found: Sequence[Verdict]) -> str:
    """A line for each figure, from nothing to its largest value."""
    height = ROW * len(found) + 10
    last = samples[-1]["at"]
    lines = [f'<svg {SVG} viewBox="0 0 {WIDTH} {height}">', f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for row, verdict in enumerate(found):
        known = [each for each in samples if verdict.figure in each]
        most = max(each[verdict.figure] for each in known) or 1
        foot = ROW * (row + 1)
        across, up = (WIDTH - LEFT - 20) / last, (ROW - 14) / most
        places = [(LEFT + each["at"] * across, foot - each[verdict.figure] * up) for each in known]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        lines.append(f'<text x="{LEFT - 10}" y="{foot - 20}" text-anchor="end">{verdict.figure}</text>')
        lines.append(f'<text x="{LEFT - 10}" y="{foot - 6}" text-anchor="end" fill="#888">up to {most:,.0f}</text>')
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{foot}" y2="{foot}" stroke="#ddd"/>')
        colour = "#2563eb" if verdict.is_flat else "#dc2626"
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return "\n".join([*lines, "</svg>", ""])
