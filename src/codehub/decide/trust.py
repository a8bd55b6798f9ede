"""Whether a whole listing may be believed, before any workspace is judged by it."""

from dataclasses import dataclass

LARGEST_CREDIBLE_LOSS = 0.2
"""More homes gone at once than this share is a wrong engine or a wrong disk, not so many lost homes."""


@dataclass(frozen=True, slots=True)
class Trusted:
    pass


@dataclass(frozen=True, slots=True)
class Doubted:
    """The listing counts as failed, and this is the one alarm."""

    why: str


def trust(recorded_engine: str | None, seen_engine: str, homes: int, homes_missing: int) -> Trusted | Doubted:
    """Hold a listing of volumes against what the rows remember. An engine that is not the recorded one, or that has
    lost more than a fifth of all homes at once, must not turn a thousand workspaces into DataLost."""
    if recorded_engine is not None and seen_engine != recorded_engine:
        return Doubted(f"the engine is {seen_engine}, but the homes were made on {recorded_engine}")
    if homes_missing > 1 and homes_missing > homes * LARGEST_CREDIBLE_LOSS:
        return Doubted(f"{homes_missing} of {homes} homes are gone at once")
    return Trusted()
