"""Numbers as people fill them into forms. What is no number stays as it is, and is refused where the API checks it."""

from contextlib import suppress


def number(text: str) -> float | str | None:
    """None for an empty field."""
    with suppress(ValueError):
        return float(text) if text.strip() else None
    return text


def scaled(text: str, unit: int) -> int | float | str | None:
    """A whole number of what the API counts in, where the form asks for `unit` of that."""
    found = number(text)
    if isinstance(found, float) and abs(found) < 1e15:
        return round(found * unit)
    return found
