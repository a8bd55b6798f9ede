"""How far it is, on stderr: a bar that moves on a terminal, a line for each change elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from codehub.cli.measures import told_duration, told_size

if TYPE_CHECKING:
    from rich.console import RenderableType

Workspace = dict[str, Any]
Show = Callable[[Workspace], None]


@contextmanager
def shown() -> Iterator[Show]:
    if not sys.stderr.isatty():
        yield _Lines().show
        return
    from rich.console import Console
    from rich.live import Live

    bar = _Bar()
    with Live(get_renderable=bar.render, console=Console(stderr=True), refresh_per_second=10, transient=True):
        yield bar.show


@contextmanager
def moving(total: int) -> Iterator[Callable[[int], None]]:
    """A bar for bytes, to be told how many have arrived; nothing where nobody looks."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=total)
        yield lambda done: progress.update(bar, completed=done)


class _Bar:
    """What is being done and for how long; below it a bar, where it is known how much there is."""

    def __init__(self) -> None:
        from rich.spinner import Spinner

        self._spinner = Spinner("dots")
        self._began = time.monotonic()
        self._newest: Workspace | None = None

    def show(self, workspace: Workspace) -> None:
        self._newest = workspace

    def render(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        words = summary(self._newest) if self._newest else "asking"
        self._spinner.update(text=Text(f"{told_duration(time.monotonic() - self._began)}  {words}"))
        progress = _progress(self._newest) if self._newest else {}
        figures = figures_of(progress)
        if not figures:
            return self._spinner
        below = Table.grid(padding=(0, 1))
        total = progress.get("total")
        bar = ProgressBar(total, progress["bytes"], width=24) if total else ""
        below.add_row(" ", bar, Text(figures))
        return Group(self._spinner, below)


class _Lines:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = ""

    def show(self, workspace: Workspace) -> None:
        words = summary(workspace)
        if words != self._last:
            typer.echo(f"{time.monotonic() - self._began:6.1f} s  {words}", err=True)
        self._last = words


def summary(workspace: Workspace) -> str:
    """The first sentence of what the server says about it; what follows is about later."""
    return str(workspace["explanation"]["summary"]).partition(". ")[0].rstrip(".")


def figures_of(progress: dict[str, Any]) -> str:
    """Bytes, files, rate and time that is left, as far as they are known."""
    done, total, rate, eta, entries = (progress.get(name) for name in ("bytes", "total", "rate", "eta", "entries"))
    if done is None:
        return ""
    parts = [f"{told_size(done)} of {told_size(total)}" if total else told_size(done)]
    if entries:
        parts.append(f"{entries:,} files")
    if rate:
        parts.append(f"{told_size(rate)}/s")
    if eta is not None:
        parts.append(f"{told_duration(eta)} left")
    return ", ".join(parts)


def _progress(workspace: Workspace) -> dict[str, Any]:
    return (workspace["operation"] or {}).get("progress") or {}
