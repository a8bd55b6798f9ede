"""`codehub job`: archive, restore or verify one home, as an order says. For codehub itself, which starts jobs."""

from pathlib import Path
from typing import Annotated

import typer

jobs = typer.Typer(
    name="job", help="Move one home, as an order says; codehub starts these itself.", no_args_is_help=True
)
OrderFile = Annotated[Path, typer.Argument(help="The order, a JSON file (docs/archive-format.md).")]


def register(app: typer.Typer) -> None:
    app.add_typer(jobs)


@jobs.command("archive")
def archive(order: OrderFile) -> None:
    """Send a home to its archive, unless that is there already.

    Example: codehub job archive /run/order.json
    """
    _run("archive", order)


@jobs.command("restore")
def restore(order: OrderFile) -> None:
    """Bring a home back into an empty folder.

    Example: codehub job restore /run/order.json
    """
    _run("restore", order)


@jobs.command("verify")
def verify(order: OrderFile) -> None:
    """Read an archive back and compare it with what was sent.

    Example: codehub job verify /run/order.json
    """
    _run("verify", order)


def _run(kind: str, order: Path) -> None:
    from codehub.job.order import Kind
    from codehub.job.run import run

    raise typer.Exit(run(Kind(kind), order))
