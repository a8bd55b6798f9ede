"""What a running workspace used at one moment: for people to look at, and nothing is decided by it."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Sample:
    at: datetime
    cpus: float | None
    """How many processors it kept busy since the sample before; None for the first one of a container."""
    cpus_limit: float | None
    memory_bytes: int
    memory_limit_bytes: int | None
    pids: int
    home_bytes: int | None
    """What its home held when that was last counted, which is done rarely."""
