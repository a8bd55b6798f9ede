"""Explanations in English."""

from codehub.decide.situations import Code
from codehub.decide.wording import Wording
from codehub.model.activity import Kind
from codehub.model.shown import Next
from codehub.model.states import Desired, ErrorReason, Operation, Service
from codehub.model.workspace import RequestKind

_AWAY = (Desired.STANDBY, Desired.ARCHIVED)
_TRY_AGAIN = "Recover it to try again."

ENGLISH = Wording(
    sentences={
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
        Code.PROVING_ARCHIVE: "Its files were copied to the archive{because}, "
        "which is read back before it is relied on.",
        Code.FREEING_HOME: "Its files are safe in the archive{because}, and the room that they took is being freed.",
        Code.STORING_EMPTY_HOME: "Its home, which is still empty, is being put into the archive.",
        Code.DELETING: "It is being deleted{because}.",
        Code.DELETED: "Deleted{because}. Its files are kept as they were at {made_at}.",
        Code.GONE: "Deleted{because}. It cannot be brought back.",
        Code.RETURNING: "It was deleted and is wanted again: it comes back in a moment.",
        Code.WAITING_FOR_IMAGE: "It starts as soon as what it runs ({template}) has been built, which is under way.",
        Code.WAITING_FOR_SERVICE: "{intent} as soon as {service}. Nothing has to be done for that.",
        Code.WAITING_FOR_TURN: "{intent} when its turn comes: others are being worked on first.",
        Code.RETRYING: "{trying} failed: {fault}. It is tried again{from_then_on}.",
        Code.RESTARTING: "Its IDE ended by itself. It is started again{from_then_on}.",
        Code.ERROR: "It cannot go on: {fault}. {choice}{way_out}",
        Code.CRASHED: "It cannot go on: its IDE ended by itself {deaths} times in a short while. "
        "Recover it to try again.",
        Code.EXAMINED: "Something is wrong with it, and it is being looked at again.",
        Code.REQUESTED: "{request} was asked for, and is done in a moment.",
    },
    intent={
        Code.STARTS_SOON: "It starts",
        Code.STOPS_SOON: "It is stopped",
        Code.PREPARES_SOON: "Its home is made ready",
        Code.ARCHIVES_SOON: "Its files move to the archive",
        Code.DELETING: "It is deleted",
    },
    service={
        Service.RUNTIME: "the engine that workspaces run on answers again",
        Service.ARCHIVE_STORE: "the store that archives are kept in answers again",
        Service.ARCHIVE_ROOM: "there is room again in the store that archives are kept in",
        Service.REGISTRY: "the registry that its image comes from answers again",
        Service.JOBS: "the image of the jobs that move homes is there "
        "(it is made by itself, or by codehub image build job)",
        Service.NEWEST_DATABASE: "somebody can say that the database is the newest "
        "(the archive store, or an administrator)",
    },
    something="what it needs is there again",
    trying={
        Operation.NONE: "The last attempt",
        Operation.PROVISIONING: "Making its home",
        Operation.RESTORING: "Bringing its files back",
        Operation.STARTING: "Starting it",
        Operation.STOPPING: "Stopping it",
        Operation.ARCHIVING: "Moving its files to the archive",
        Operation.CREATE_EMPTY_ARCHIVE: "Putting its empty home into the archive",
        Operation.DELETING: "Deleting it",
    },
    fault={
        ErrorReason.TIMEOUT: "the attempt took too long",
        ErrorReason.RETRY_EXCEEDED: "several attempts failed, as its history tells",
        ErrorReason.ACTION_FAILED: "the attempt ended with an error, which its history names",
        ErrorReason.UNREACHABLE: "what it runs on did not answer",
        ErrorReason.IMAGE_PULL_FAILED: "what it runs could not be fetched or built",
        ErrorReason.CONTAINER_WITHOUT_VOLUME: "it was found running without its files",
        ErrorReason.DATA_LOST: "its files were there and cannot be found any more",
        ErrorReason.ARCHIVE_CORRUPTED: "the archive that holds its files is damaged",
    },
    way_out=dict.fromkeys(ErrorReason, _TRY_AGAIN)
    | {
        ErrorReason.IMAGE_PULL_FAILED: "Ask an administrator to mend its template, then recover it.",
        ErrorReason.CONTAINER_WITHOUT_VOLUME: "Recover it: what runs there is taken away, "
        "and its files are looked for.",
        ErrorReason.DATA_LOST: "Recover it when they are back, or start it with an empty home.",
        ErrorReason.ARCHIVE_CORRUPTED: "Recover it when the archive has been mended, or start it with an empty home.",
    },
    choice="Restore it from one of {count} archives, the newest of {newest}. ",
    only_choice="Restore it from its archive of {newest}. ",
    no_choice="There is no archive to restore it from. ",
    request={
        RequestKind.RECOVER: "Recovering it",
        RequestKind.RESTORE: "Bringing back older files",
        RequestKind.START_EMPTY: "Starting it with an empty home",
        RequestKind.FORK: "Filling it with the files of another workspace",
    },
    then={
        Desired.RUNNING: " Then it starts.",
        Desired.STANDBY: " Then it is stopped.",
        Desired.ARCHIVED: " After that it goes to the archive.",
    },
    then_restored=" Then its older files are brought back.",
    at_time={
        Next.SLEEP: " It goes to sleep at {at}, unless it is used before.",
        Next.ARCHIVE: " Its files move to the archive at {at}, unless it is started before.",
        Next.FORGET: " It can be brought back until {at}.",
    },
    held=" The hold '{hold}' keeps it awake until {at}.",
    activity={
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
    },
    because={
        ("wake", Desired.RUNNING): ", because {by} opened it",
        **{("owner", desired): ", as {by} asked" for desired in Desired},
        **{("admin", desired): ", as {by} asked" for desired in Desired},
        **{("idle", desired): ", because nobody used it{after}" for desired in _AWAY},
        **{("limit", desired): ", to make room for another workspace" for desired in _AWAY},
    },
    who={"owner": "{}", "wake": "{}", "admin": "the administrator {}"},
    somebody={"owner": "its owner", "wake": "somebody", "admin": "an administrator"},
    last_used=" Last used at {at}",
    used_for=" ({activity}).",
    after=" after {at}",
    from_then_on=" from {at} on",
    opens_in="; it opens in {duration}",
    durations=((15.0, "a few seconds"), (45.0, "about half a minute"), (90.0, "about a minute")),
    minutes="about {minutes} minutes",
    files="{entries:,} files and folders",
    some_files="files",
    an_image="its image",
)
FAULT_SENTENCE = {reason: f"{fault[0].upper()}{fault[1:]}." for reason, fault in ENGLISH.fault.items()}
