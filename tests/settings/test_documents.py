"""docs/configuration.md says what the code does: its tables are compared with the declarations, row by row."""

from itertools import groupby
from pathlib import Path

from codehub.settings.load import Settings, variables
from codehub.settings.variables import Variable

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def tables() -> str:
    """What the document has to say about every setting. Paste it there when this test fails."""
    return "\n".join(table(name, list(rows)) for name, rows in groupby(variables(), lambda row: row.group))


def table(group: str, rows: list[Variable]) -> str:
    model = Settings.model_fields[group].annotation
    assert model is not None
    lines = [
        f"## {group.replace('_', ' ').capitalize()}",
        "",
        (model.__doc__ or "").strip(),
        "",
        "| variable | default | allowed | meaning |",
        "|---|---|---|---|",
        *(f"| `{row.name}` | {row.default} | {row.allowed} | {row.meaning} |" for row in rows),
        "",
    ]
    return "\n".join(lines)


def test_the_document_lists_every_setting_as_it_is_declared() -> None:
    assert tables() in DOCUMENT.read_text()


def test_every_setting_says_what_it_means() -> None:
    silent = [row.name for row in variables() if not row.meaning or "|" in row.meaning + row.allowed + row.default]
    assert silent == []


def test_every_number_of_seconds_says_so() -> None:
    endings = ("_SECONDS", "_INTERVAL", "_TIMEOUT", "_DURATION", "_BACKOFF", "_DELAY_MAX")
    silent = [row.name for row in variables() if row.name.endswith(endings) and row.unit != "seconds"]
    assert silent == []
