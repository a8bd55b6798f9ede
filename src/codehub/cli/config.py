"""`codehub config`: every setting as it is in effect, and where its value comes from."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from codehub.settings import Settings
    from codehub.settings.variables import Variable


def register(app: typer.Typer) -> None:
    app.command("config")(config)


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object, for programs.")] = False,
) -> None:
    """Show every setting, its value and where it comes from. Secrets are hidden.

    Example: TTL_STANDBY_SECONDS=10800 codehub config
    """
    from codehub.settings import Settings
    from codehub.settings.load import variables

    settings = Settings.load()
    rows = list(variables())
    if as_json:
        values = {row.name: {"value": _plain(settings, row), "source": settings.source(row)} for row in rows}
        typer.echo(json.dumps(values, indent=2))
    else:
        _print_table(settings, rows)


def _plain(settings: "Settings", variable: "Variable") -> str | int | float | None:
    """The value as JSON knows it: null where nothing is set, hidden where it is secret."""
    value = settings.value(variable)
    return value if value is None or isinstance(value, int | float) else variable.shown(value)


def _print_table(settings: "Settings", rows: "list[Variable]") -> None:
    """What was set stands out from the defaults. Long values are folded, never cut, also in a narrow terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("setting", "value", "source", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    for row in rows:
        source = settings.source(row)
        style = "dim" if source == "default" else "bold"
        cells = (row.name, row.shown(settings.value(row)), source)
        table.add_row(*(Text(cell, style) for cell in cells))
    Console().print(table)
