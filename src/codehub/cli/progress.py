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
    from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Bar(ProgressColumn):
        """Only where it is known how much there is."""

        _bar = BarColumn(bar_width=24)

        def render(self, task: Task) -> "RenderableType":
            return self._bar.render(task) if task.total else Text()

    words, figures = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[figures]}", markup=False)
    columns = (SpinnerColumn(), TimeElapsedColumn(), words, Bar(), figures)
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task("", total=None, figures="")

        def show(workspace: Workspace) -> None:
            progress = _progress(workspace)
            total, done = progress.get("total"), progress.get("bytes")
            display.update(
                task,
                description=summary(workspace),
                total=total or None,
                completed=done or 0,
                figures=figures_of(progress),
            )

        yield show


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
    """Bytes, rate and time that is left, as far as they are known."""
    done, total, rate, eta = (progress.get(name) for name in ("bytes", "total", "rate", "eta"))
    if done is None:
        return ""
    parts = [f"{told_size(done)} of {told_size(total)}" if total else told_size(done)]
    if rate:
        parts.append(f"{told_size(rate)}/s")
    if eta is not None:
        parts.append(f"{told_duration(eta)} left")
    return ", ".join(parts)


def _progress(workspace: Workspace) -> dict[str, Any]:
    return (workspace["operation"] or {}).get("progress") or {}
