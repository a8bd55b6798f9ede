"""What one look at the outside world brought back, before it is held against a row."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from codehub.model.conditions import Endpoint


class ContainerState(Enum):
    STARTING = "starting"
    READY = "ready"
    PROBE_FAILING = "probe failing"
    EXITED = "exited"


@dataclass(frozen=True, slots=True)
class SeenContainer:
    id: str
    volume: str
    """The incarnation of the home that it holds."""
    state: ContainerState
    endpoint: Endpoint | None = None
    message: str = ""


class ArchiveState(Enum):
    WHOLE = "whole"
    MISSING = "missing"  # the archive or its commit marker was looked for and is not there
    MISMATCH = "mismatch"  # both are there, but the size is not the one in the marker


@dataclass(frozen=True, slots=True)
class SeenArchive:
    key: str
    state: ArchiveState
    looked_at: datetime


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen of one workspace. None stands for a look that failed, or was not made: absence has to be seen."""

    looked_at: datetime
    """When the listings of containers and volumes began."""
    containers: tuple[SeenContainer, ...] | None = None
    volumes: frozenset[str] | None = None
    archive: SeenArchive | None = None
