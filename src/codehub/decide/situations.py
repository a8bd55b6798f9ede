"""The situations that a workspace can be in for its owner, and what leads to each. Their words are in wording.py."""

from enum import StrEnum

from codehub.model.plans import Waiting
from codehub.model.shown import Next
from codehub.model.states import Desired, Operation, Phase, Step


class Code(StrEnum):
    """The situations that a workspace can be in, for its owner."""

    RUNNING = "running"
    STOPPED = "stopped"
    ARCHIVED = "archived"
    STARTS_SOON = "starts_soon"
    STOPS_SOON = "stops_soon"
    PREPARES_SOON = "prepares_soon"
    ARCHIVES_SOON = "archives_soon"
    MAKING_HOME = "making_home"
    RESTORING = "restoring"
    FETCHING_IMAGE = "fetching_image"
    STARTING = "starting"
    WAITING_FOR_IDE = "waiting_for_ide"
    STOPPING = "stopping"
    ARCHIVING = "archiving"
    PROVING_ARCHIVE = "proving_archive"
    FREEING_HOME = "freeing_home"
    STORING_EMPTY_HOME = "storing_empty_home"
    DELETING = "deleting"
    DELETED = "deleted"
    GONE = "gone"
    RETURNING = "returning"
    WAITING_FOR_IMAGE = "waiting_for_image"
    WAITING_FOR_SERVICE = "waiting_for_service"
    WAITING_FOR_TURN = "waiting_for_turn"
    RETRYING = "retrying"
    RESTARTING = "restarting"
    ERROR = "error"
    CRASHED = "crashed"
    EXAMINED = "examined"
    REQUESTED = "requested"


AT_REST = {
    (Phase.RUNNING, Desired.RUNNING): Code.RUNNING,
    (Phase.STANDBY, Desired.STANDBY): Code.STOPPED,
    (Phase.ARCHIVED, Desired.ARCHIVED): Code.ARCHIVED,
}

SOON = {
    Desired.RUNNING: Code.STARTS_SOON,
    Desired.STANDBY: Code.STOPS_SOON,
    Desired.ARCHIVED: Code.ARCHIVES_SOON,
    Desired.DELETED: Code.DELETING,
}

UNDER_WAY = {
    Operation.PROVISIONING: Code.MAKING_HOME,
    Operation.RESTORING: Code.RESTORING,
    Operation.STARTING: Code.STARTING,
    Operation.STOPPING: Code.STOPPING,
    Operation.ARCHIVING: Code.ARCHIVING,
    Operation.CREATE_EMPTY_ARCHIVE: Code.STORING_EMPTY_HOME,
    Operation.DELETING: Code.DELETING,
}
AT_STEP = {
    Step.PULL: Code.FETCHING_IMAGE,
    Step.STARTED: Code.WAITING_FOR_IDE,
    Step.VERIFY: Code.PROVING_ARCHIVE,
    Step.VERIFIED: Code.PROVING_ARCHIVE,
    Step.RELEASE: Code.FREEING_HOME,
    Step.RELEASED: Code.FREEING_HOME,
}
"""Steps that an owner is told more of."""

WAITING = {
    Waiting.SERVICE: Code.WAITING_FOR_SERVICE,
    Waiting.TURN: Code.WAITING_FOR_TURN,
    Waiting.IMAGE_BUILDING: Code.WAITING_FOR_IMAGE,
}
"""What is worth telling an owner of what is waited for; the rest is over in a moment."""


LEADS_TO = {
    Code.MAKING_HOME: Desired.STANDBY,
    Code.RESTORING: Desired.STANDBY,
    Code.FETCHING_IMAGE: Desired.RUNNING,
    Code.STARTING: Desired.RUNNING,
    Code.WAITING_FOR_IDE: Desired.RUNNING,
    Code.STOPPING: Desired.STANDBY,
    Code.ARCHIVING: Desired.ARCHIVED,
    Code.PROVING_ARCHIVE: Desired.ARCHIVED,
    Code.FREEING_HOME: Desired.ARCHIVED,
    Code.STORING_EMPTY_HOME: Desired.ARCHIVED,
}
"""What an operation ends with, whatever is wished meanwhile."""
ON_THE_WAY = frozenset({(Operation.STOPPING, Desired.ARCHIVED), (Operation.STOPPING, Desired.DELETED)})
"""Operations that are a step towards another wish, and have the same reason."""
MAKES_ROOM = frozenset({Operation.STOPPING, Operation.ARCHIVING})

TOWARDS = {
    Desired.RUNNING: Next.RUN,
    Desired.STANDBY: Next.STOP,
    Desired.ARCHIVED: Next.ARCHIVE,
    Desired.DELETED: Next.DELETE,
}
