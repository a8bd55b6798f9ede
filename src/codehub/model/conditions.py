"""What was seen of a workspace: four conditions, each with its subject and the moment the look began."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Status(StrEnum):
    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Reason(StrEnum):
    """Why a condition has its status, in one word."""

    VOLUME_PROVISIONED = "VolumeProvisioned"
    VOLUME_NOT_FOUND = "VolumeNotFound"
    NO_VOLUME = "NoVolume"
    ARCHIVE_UPLOADED = "ArchiveUploaded"
    ARCHIVE_MISSING = "ArchiveMissing"
    ARCHIVE_MISMATCH = "ArchiveMismatch"
    NO_ARCHIVE = "NoArchive"
    CONTAINER_RUNNING = "ContainerRunning"
    CONTAINER_STARTING = "ContainerStarting"
    PROBE_FAILING = "ProbeFailing"
    CONTAINER_DISPLACED = "ContainerDisplaced"
    CONTAINER_EXITED = "ContainerExited"
    CONTAINER_NOT_FOUND = "ContainerNotFound"
    ALL_CONDITIONS_MET = "AllConditionsMet"
    CONTAINER_WITHOUT_VOLUME = "ContainerWithoutVolume"
    DATA_LOST = "DataLost"
    ARCHIVE_CORRUPTED = "ArchiveCorrupted"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the front door finds a running IDE. The container's id is part of it: an address alone may be reused."""

    container_id: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Condition:
    status: Status
    reason: Reason
    message: str
    last_transition_time: datetime
    """When the look began that first found this status; it moves only when the status changes."""
    subject: str | None
    """What was looked at: volume name, archive key or container id."""
    observed_from: datetime
    """When the newest look began. What happened later cannot be in it."""
    endpoint: Endpoint | None = None
    surplus: tuple[str, ...] = ()
    """The containers that were there beside the subject: of a workspace there may be one (contract 6)."""


@dataclass(frozen=True, slots=True)
class Conditions:
    volume: Condition | None = None
    archive: Condition | None = None
    container: Condition | None = None
    healthy: Condition | None = None


CONDITION_NAMES = {
    "volume": "storage.volume_ready",
    "archive": "storage.archive_ready",
    "container": "infra.container_ready",
    "healthy": "policy.healthy",
}
"""The names under which the four stand in the row, in the API and on the pages."""
