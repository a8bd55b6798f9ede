"""What of a count that only grows was used between two looks at it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counted:
    """The processor time of a container, and when it was read."""

    cpu_seconds: float
    at: float


def cpus_used(before: Counted | None, now: Counted) -> float | None:
    """How many processors were kept busy in between; None where the count has just begun, or began anew, as that of a
    container does that was started again."""
    if before is None or now.at <= before.at or now.cpu_seconds < before.cpu_seconds:
        return None
    return (now.cpu_seconds - before.cpu_seconds) / (now.at - before.at)
