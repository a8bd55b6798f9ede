"""What explanations say in English. The codes are stable, so that pages can say the same in other languages."""

from enum import StrEnum

from codehub.model.activity import Kind
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


SENTENCES = {
    Code.RUNNING: "Running since {since}{because}.{used}{activity}",
    Code.STOPPED: "Stopped since {since}{because}. Start it to go on; its files are kept.",
    Code.ARCHIVED: "In the archive since {since}{because}. Start it to bring its files back{opens_in}.",
    Code.STARTS_SOON: "It starts in a moment{because}.",
    Code.STOPS_SOON: "It is stopped in a moment{because}.",
    Code.PREPARES_SOON: "Its home is made ready in a moment{because}.",
    Code.ARCHIVES_SOON: "Its files move to the archive in a moment{because}.",
    Code.MAKING_HOME: "A home for its files is being made.",
    Code.RESTORING: "Its {files} are being brought back from the archive.",
    Code.FETCHING_IMAGE: "It is starting: what it runs is being fetched.",
    Code.STARTING: "It is starting.",
    Code.WAITING_FOR_IDE: "It is starting: the IDE was started and does not answer yet.",
    Code.STOPPING: "It is being stopped{because}.",
    Code.ARCHIVING: "Its files are being moved to the archive{because}.",
    Code.PROVING_ARCHIVE: "Its files were copied to the archive{because}, which is read back before it is relied on.",
    Code.FREEING_HOME: "Its files are safe in the archive{because}, and the room that they took is being freed.",
    Code.STORING_EMPTY_HOME: "Its home, which is still empty, is being put into the archive.",
    Code.DELETING: "It is being deleted{because}.",
    Code.DELETED: "Deleted{because}. Its files are kept as they were at {made_at}.",
    Code.GONE: "Deleted{because}. It cannot be brought back.",
    Code.RETURNING: "It was deleted and is wanted again: it comes back in a moment.",
    Code.WAITING_FOR_IMAGE: "It starts as soon as what it runs ({template}) has been built, which is under way.",
    Code.WAITING_FOR_SERVICE: "{intent} as soon as {service} answers again. Nothing has to be done for that.",
    Code.WAITING_FOR_TURN: "{intent} when its turn comes: others are being worked on first.",
    Code.RETRYING: "{trying} failed: {fault}. It is tried again{from_then_on}.",
    Code.RESTARTING: "Its IDE ended by itself. It is started again{from_then_on}.",
    Code.ERROR: "It cannot go on: {fault}. {choice}{way_out}",
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

INTENT = {
    Code.STARTS_SOON: "It starts",
    Code.STOPS_SOON: "It is stopped",
    Code.PREPARES_SOON: "Its home is made ready",
    Code.ARCHIVES_SOON: "Its files move to the archive",
    Code.DELETING: "It is deleted",
}
"""The same, where something has to come first."""

SERVICE = {
    Service.RUNTIME: "the engine that workspaces run on",
    Service.ARCHIVE_STORE: "the store that archives are kept in",
    Service.REGISTRY: "the registry that its image comes from",
    Service.NEWEST_DATABASE: "whoever can say that the database is the newest (the archive store, or an administrator)",
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
    ErrorReason.TIMEOUT: "the attempt took too long",
    ErrorReason.RETRY_EXCEEDED: "several attempts failed, as its history tells",
    ErrorReason.ACTION_FAILED: "the attempt ended with an error, which its history names",
    ErrorReason.UNREACHABLE: "what it runs on did not answer",
    ErrorReason.IMAGE_PULL_FAILED: "what it runs could not be fetched or built",
    ErrorReason.CONTAINER_WITHOUT_VOLUME: "it was found running without its files",
    ErrorReason.DATA_LOST: "its files were there and cannot be found any more",
    ErrorReason.ARCHIVE_CORRUPTED: "the archive that holds its files is damaged",
}
FAULT_SENTENCE = {reason: f"{fault[0].upper()}{fault[1:]}." for reason, fault in FAULT.items()}

_TRY_AGAIN = "Recover it to try again."
WAY_OUT = dict.fromkeys(ErrorReason, _TRY_AGAIN) | {
    ErrorReason.IMAGE_PULL_FAILED: "Ask an administrator to mend its template, then recover it.",
    ErrorReason.CONTAINER_WITHOUT_VOLUME: "Recover it: what runs there is taken away, and its files are looked for.",
    ErrorReason.DATA_LOST: "Recover it when they are back, or start it with an empty home.",
    ErrorReason.ARCHIVE_CORRUPTED: "Recover it when the archive has been mended, or start it with an empty home.",
}
CHOICE = "Restore it from one of {count} archives, the newest of {newest}. "
ONLY_CHOICE = "Restore it from its archive of {newest}. "
NO_CHOICE = "There is no archive to restore it from. "
"""What an owner of lost files is told before the way out that is always there."""

REQUEST = {
    RequestKind.RECOVER: "Recovering it",
    RequestKind.RESTORE: "Bringing back older files",
    RequestKind.START_EMPTY: "Starting it with an empty home",
    RequestKind.FORK: "Filling it with the files of another workspace",
}

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
THEN = {
    Desired.RUNNING: " Then it starts.",
    Desired.STANDBY: " Then it is stopped.",
    Desired.ARCHIVED: " After that it goes to the archive.",
}
"""What follows an operation that does not yet lead to the wish."""
MAKES_ROOM = frozenset({Operation.STOPPING, Operation.ARCHIVING})
THEN_RESTORED = " Then its older files are brought back."
"""What follows the operations that put the present files away, where older ones were asked for."""

TOWARDS = {
    Desired.RUNNING: Next.RUN,
    Desired.STANDBY: Next.STOP,
    Desired.ARCHIVED: Next.ARCHIVE,
    Desired.DELETED: Next.DELETE,
}
AT_TIME = {
    Next.SLEEP: " It goes to sleep at {at}, unless it is used before.",
    Next.ARCHIVE: " Its files move to the archive at {at}, unless it is started before.",
    Next.FORGET: " It can be brought back until {at}.",
}

HELD = " The hold '{hold}' keeps it awake until {at}."
"""In place of when it goes to sleep, where that would be before."""

ACTIVITY = {
    Kind.TERMINAL_INPUT: "typing in a terminal",
    Kind.TERMINAL_OUTPUT: "terminal output",
    Kind.EDIT: "editing",
    Kind.SAVE: "saving",
    Kind.COMPLETION: "completion of code",
    Kind.COMMAND: "a command",
    Kind.TASK: "a task",
    Kind.DEBUGGING: "debugging",
    Kind.NOTEBOOK: "a notebook",
    Kind.PAGE: "opening a page",
    Kind.REQUEST: "requests of an app",
    Kind.TRANSFER: "sending or fetching files",
    Kind.MESSAGE: "messages of an app",
    Kind.EXTENSION: "asking for more time",
}

_AWAY = (Desired.STANDBY, Desired.ARCHIVED)
BECAUSE = {
    ("wake", Desired.RUNNING): ", because {by} opened it",
    **{("owner", desired): ", as {by} asked" for desired in Desired},
    **{("admin", desired): ", as {by} asked" for desired in Desired},
    **{("idle", desired): ", because nobody used it{after}" for desired in _AWAY},
    **{("limit", desired): ", to make room for another workspace" for desired in _AWAY},
}
"""Why the wish is as it is; a pair that is missing says nothing, rather than something that makes no sense."""
WHO = {"owner": "{}", "wake": "{}", "admin": "the administrator {}"}
SOMEBODY = {"owner": "its owner", "wake": "somebody", "admin": "an administrator"}
"""Where it is not known who."""
