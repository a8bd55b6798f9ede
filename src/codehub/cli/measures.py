"""Times and sizes as people write and read them."""

import re
from datetime import UTC, datetime

import typer

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
BYTES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
NEVER = 0


def duration(text: str) -> int:
    """Seconds of `90`, `10m`, `2h`, `3d`."""
    found = re.fullmatch(r"(\d+)([smhd]?)", text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"'{text}' is no time; write 90 (seconds), 10m, 2h or 3d.")
    return int(found[1]) * SECONDS[found[2]]


def idle_time(text: str) -> int | None:
    """Seconds, `never`, or `default` for what the template or the installation says."""
    words = {"never": NEVER, "default": None}
    return words[text] if text in words else duration(text)


def size(text: str) -> int:
    """Bytes of `512m`, `2g`, `1.5g`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise typer.BadParameter(f"'{text}' is no size; write 512m or 2g.")
    return int(float(found[1]) * BYTES[found[2]])


def told_size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def told_duration(seconds: float) -> str:
    """Roughly, as one says it."""
    for unit, length in (("days", 86400), ("hours", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def told_idle_time(seconds: int) -> str:
    return "never" if seconds == NEVER else f"after {told_duration(seconds)}"


def told_time(text: str | None) -> str:
    """A moment as the explanations tell it."""
    return f"{datetime.fromisoformat(text).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if text else "never"


def told_until(text: str | None, now: datetime) -> str:
    seconds = (datetime.fromisoformat(text) - now).total_seconds() if text else 0
    return f"in {told_duration(seconds)}" if seconds > 0 else "soon"
