"""The words of a workspace's life: what is wanted, what follows from what was seen, what is being done about it."""

from enum import StrEnum


class Desired(StrEnum):
    """What the owner wants. PENDING is missing on purpose: nobody can ask for it."""

    RUNNING = "RUNNING"
    STANDBY = "STANDBY"
    ARCHIVED = "ARCHIVED"
    DELETED = "DELETED"


class Phase(StrEnum):
    """What follows from the conditions and from what the row remembers; derived, never chosen."""

    PENDING = "PENDING"
    ARCHIVED = "ARCHIVED"
    STANDBY = "STANDBY"
    RUNNING = "RUNNING"
    ERROR = "ERROR"
    DELETING = "DELETING"
    DELETED = "DELETED"


LEVEL = {Phase.PENDING: 0, Phase.ARCHIVED: 5, Phase.STANDBY: 10, Phase.RUNNING: 20}
"""The ladder of contract 5; the other phases stand outside it."""


class Operation(StrEnum):
    """What is being done. At most one at a time for a workspace (contract 4)."""

    NONE = "NONE"
    PROVISIONING = "PROVISIONING"
    RESTORING = "RESTORING"
    STARTING = "STARTING"
    STOPPING = "STOPPING"
    ARCHIVING = "ARCHIVING"
    CREATE_EMPTY_ARCHIVE = "CREATE_EMPTY_ARCHIVE"
    DELETING = "DELETING"


class Step(StrEnum):
    """How far an operation is. A step that *does* is an order to act, recorded before the act; one that *sees* waits
    until an observation begun after the act confirms it (contract 1)."""

    CREATE = "create"
    CREATED = "created"
    RESTORE = "restore"
    RESTORED = "restored"
    PULL = "pull"
    START = "start"
    STARTED = "started"
    STOP = "stop"
    STOPPED = "stopped"
    ARCHIVE = "archive"
    VERIFY = "verify"
    VERIFIED = "verified"
    RELEASE = "release"  # past the point of no return: the row has let go of the volume that is to be deleted
    RELEASED = "released"
    UPLOAD = "upload"
    UPLOADED = "uploaded"
    DELETE = "delete"
    REMOVED = "removed"


class ErrorReason(StrEnum):
    """Why a workspace is in ERROR, or what its last failed attempt ran into."""

    TIMEOUT = "Timeout"
    RETRY_EXCEEDED = "RetryExceeded"
    ACTION_FAILED = "ActionFailed"
    UNREACHABLE = "Unreachable"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    CONTAINER_WITHOUT_VOLUME = "ContainerWithoutVolume"
    DATA_LOST = "DataLost"
    ARCHIVE_CORRUPTED = "ArchiveCorrupted"


class Service(StrEnum):
    """What many workspaces share. When one is away it is one fault, not one for each workspace."""

    RUNTIME = "runtime"
    ARCHIVE_STORE = "archive_store"
    ARCHIVE_ROOM = "archive_room"
    """Room in the archive store: one that is full, or may only be read, gives homes back and takes none."""
    REGISTRY = "registry"
    """Where the image of this workspace comes from. Others may come from elsewhere, or be at hand."""
    JOBS = "jobs"
    """What jobs run in. It may have to be made first, after codehub was installed or upgraded."""
    NEWEST_DATABASE = "newest_database"
    """Whoever knows that the database is not restored from an old backup: without them no home is removed."""


class ImageState(StrEnum):
    """Whether the image that a start needs is there to be run."""

    BUILDING = "building"
    READY = "ready"
    FAILED = "failed"
