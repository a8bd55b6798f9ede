"""Tables of plain text: they can be piped, and nothing in them is cut off."""

from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

Row = Sequence[object]


def table(headings: Sequence[str], rows: Iterable[Row]) -> str:
    """Columns as wide as what is in them."""
    cells = [[heading.upper() for heading in headings], *([_cell(each) for each in row] for row in rows)]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_line(row, widths) for row in cells)


def facts(rows: Iterable[tuple[str, object]]) -> str:
    """What is known about one thing, line by line; what is empty is left out."""
    known = [(name, _cell(value)) for name, value in rows if value not in (None, "", [], {})]
    width = max((len(name) for name, _ in known), default=0)
    return "\n".join(f"{name:<{width}}  {value}".replace("\n", "\n" + " " * (width + 2)) for name, value in known)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
    return "  ".join(padded).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _width(text: str) -> int:
    """In places of the terminal, where Korean takes two for each letter."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
