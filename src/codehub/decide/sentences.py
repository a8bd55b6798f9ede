"""What explanations say in English. The codes are stable, so that pages can say the same in other languages."""

from enum import StrEnum

from codehub.model.plans import Waiting
from codehub.model.shown import Next
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Service, Step
from codehub.model.workspace import RequestKind


class Code(StrEnum):
    """The situations that a workspace can be in, for its owner."""

    RUNNING = "running"
    STOPPED = "stopped"
    ARCHIVED = "archived"
    STARTS_SOON = "starts_soon"
    STOPS_SOON = "stops_soon"
    ARCHIVES_SOON = "archives_soon"
    MAKING_HOME = "making_home"
    RESTORING = "restoring"
    FETCHING_IMAGE = "fetching_image"
    STARTING = "starting"
    WAITING_FOR_IDE = "waiting_for_ide"
    STOPPING = "stopping"
    ARCHIVING = "archiving"
    STORING_EMPTY_HOME = "storing_empty_home"
    DELETING = "deleting"
    DELETED = "deleted"
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


SENTENCES = {
    Code.RUNNING: "Running since {since}{because}.",
    Code.STOPPED: "Stopped since {since}{because}. Start it to go on; its files are kept.",
    Code.ARCHIVED: "In the archive since {since}{because}. Start it to bring its files back.",
    Code.STARTS_SOON: "It starts in a moment{because}.",
    Code.STOPS_SOON: "It is stopped in a moment{because}.",
    Code.ARCHIVES_SOON: "Its files move to the archive in a moment{because}.",
    Code.MAKING_HOME: "A home for its files is being made.",
    Code.RESTORING: "Its files are being brought back from the archive.",
    Code.FETCHING_IMAGE: "It is starting: what it runs is being fetched.",
    Code.STARTING: "It is starting.",
    Code.WAITING_FOR_IDE: "It is starting: the IDE was started and does not answer yet.",
    Code.STOPPING: "It is being stopped{because}.",
    Code.ARCHIVING: "Its files are being moved to the archive{because}.",
    Code.STORING_EMPTY_HOME: "Its home, which is still empty, is being put into the archive.",
    Code.DELETING: "It is being deleted{because}.",
    Code.DELETED: "Deleted{because}.",
    Code.RETURNING: "It was deleted and is wanted again: it comes back in a moment.",
    Code.WAITING_FOR_IMAGE: "It starts as soon as what it runs ({template}) has been built, which is under way.",
    Code.WAITING_FOR_SERVICE: "{intent} as soon as {service} answers again. Nothing has to be done for that.",
    Code.WAITING_FOR_TURN: "{intent} when its turn comes: others are being worked on first.",
    Code.RETRYING: "{trying} failed: {fault}. It is tried again{from_then_on}.",
    Code.RESTARTING: "Its IDE ended by itself. It is started again{from_then_on}.",
    Code.ERROR: "It cannot go on: {fault}. {way_out}",
    Code.CRASHED: "It cannot go on: its IDE ended by itself {deaths} times in a short while. Recover it to try again.",
    Code.EXAMINED: "Something is wrong with it, and it is being looked at again.",
    Code.REQUESTED: "{request} was asked for, and is done in a moment.",
}

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
AT_STEP = {Step.PULL: Code.FETCHING_IMAGE, Step.STARTED: Code.WAITING_FOR_IDE}
"""Steps that an owner is told more of."""

WAITING = {
    Waiting.SERVICE: Code.WAITING_FOR_SERVICE,
    Waiting.TURN: Code.WAITING_FOR_TURN,
    Waiting.IMAGE_BUILDING: Code.WAITING_FOR_IMAGE,
}
"""What is worth telling an owner of what is waited for; the rest is over in a moment."""

INTENT = {
    Desired.RUNNING: "It starts",
    Desired.STANDBY: "It is stopped",
    Desired.ARCHIVED: "Its files move to the archive",
    Desired.DELETED: "It is deleted",
}

SERVICE = {
    Service.RUNTIME: "the engine that workspaces run on",
    Service.ARCHIVE_STORE: "the store that archives are kept in",
    Service.REGISTRY: "the registry that what it runs comes from",
}
SOMETHING = "what it needs"
"""Where it is not known which one."""

TRYING = {
    Operation.NONE: "The last attempt",
    Operation.PROVISIONING: "Making its home",
    Operation.RESTORING: "Bringing its files back",
    Operation.STARTING: "Starting it",
    Operation.STOPPING: "Stopping it",
    Operation.ARCHIVING: "Moving its files to the archive",
    Operation.CREATE_EMPTY_ARCHIVE: "Putting its empty home into the archive",
    Operation.DELETING: "Deleting it",
}

FAULT = {
    ErrorReason.TIMEOUT: "it took too long",
    ErrorReason.RETRY_EXCEEDED: "what was tried failed again and again",
    ErrorReason.ACTION_FAILED: "what was tried did not succeed",
    ErrorReason.UNREACHABLE: "what it runs on did not answer",
    ErrorReason.IMAGE_PULL_FAILED: "what it runs could not be fetched or built",
    ErrorReason.CONTAINER_WITHOUT_VOLUME: "it was found running without its files",
    ErrorReason.DATA_LOST: "its files were there and cannot be found any more",
    ErrorReason.ARCHIVE_CORRUPTED: "the archive that holds its files is damaged",
}
FAULT_SENTENCE = {reason: f"{fault[0].upper()}{fault[1:]}." for reason, fault in FAULT.items()}

_TRY_AGAIN = "Recover it to try again."
_LOST = "Nothing takes their place by itself: recover it when they are back, or start it with an empty home."
WAY_OUT = dict.fromkeys(ErrorReason, _TRY_AGAIN) | {
    ErrorReason.IMAGE_PULL_FAILED: "Recover it when its template has been mended, which an administrator can do.",
    ErrorReason.CONTAINER_WITHOUT_VOLUME: "Recover it: that takes away what runs there, and looks for its files again.",
    ErrorReason.DATA_LOST: _LOST,
    ErrorReason.ARCHIVE_CORRUPTED: _LOST,
}

REQUEST = {
    RequestKind.RECOVER: "Recovering it",
    RequestKind.RESTORE: "Bringing back older files",
    RequestKind.START_EMPTY: "Starting it with an empty home",
    RequestKind.FORK: "Filling it with the files of another workspace",
}

LEADS_TO = {
    Operation.NONE: None,
    Operation.PROVISIONING: Desired.STANDBY,
    Operation.RESTORING: Desired.STANDBY,
    Operation.STARTING: Desired.RUNNING,
    Operation.STOPPING: Desired.STANDBY,
    Operation.ARCHIVING: Desired.ARCHIVED,
    Operation.CREATE_EMPTY_ARCHIVE: Desired.ARCHIVED,
    Operation.DELETING: Desired.DELETED,
}
OPEN_ENDED = frozenset({*UNDER_WAY.values(), *AT_STEP.values()})
"""Situations that end with an operation, and not always with the wish."""
THEN = {
    Desired.RUNNING: " Then it starts.",
    Desired.STANDBY: " Then it is stopped.",
    Desired.ARCHIVED: " Then its files move to the archive.",
    Desired.DELETED: " Then it is deleted.",
}
"""What follows an operation that does not yet lead to the wish."""

TOWARDS = {
    Desired.RUNNING: Next.RUN,
    Desired.STANDBY: Next.STOP,
    Desired.ARCHIVED: Next.ARCHIVE,
    Desired.DELETED: Next.DELETE,
}
AT_TIME = {
    Next.SLEEP: " It goes to sleep at {at}, unless it is used before.",
    Next.ARCHIVE: " Its files move to the archive at {at}, unless it is started before.",
}

_AWAY = (Desired.STANDBY, Desired.ARCHIVED)
BECAUSE = {
    ("owner", Desired.RUNNING): ", as {by} asked",
    ("wake", Desired.RUNNING): ", because {by} opened it",
    ("admin", Desired.RUNNING): ", as the administrator {by} asked",
    **{("owner", desired): ", as {by} asked" for desired in (*_AWAY, Desired.DELETED)},
    **{("admin", desired): ", as the administrator {by} asked" for desired in (*_AWAY, Desired.DELETED)},
    **{("idle", desired): ", because nobody used it{after}" for desired in _AWAY},
    **{("limit", desired): ", to make room for another workspace" for desired in _AWAY},
}
"""Why the wish is as it is; a pair that is missing says nothing, rather than something that makes no sense."""
SOMEBODY = {"owner": "its owner", "wake": "somebody", "admin": "of this installation"}
"""Where it is not known who."""
