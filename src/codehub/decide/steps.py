"""The operations as tables: which one leads on, through which steps, what shows that a step has had its effect."""

from collections.abc import Callable
from enum import Enum

from codehub.decide.judge import nothing_left
from codehub.decide.view import Container, View
from codehub.model.conditions import Status
from codehub.model.states import Desired, Operation, Phase, Service, Step
from codehub.model.workspace import Workspace

LADDER: dict[tuple[Phase, Desired], Operation] = {
    (Phase.PENDING, Desired.ARCHIVED): Operation.CREATE_EMPTY_ARCHIVE,
    (Phase.PENDING, Desired.STANDBY): Operation.PROVISIONING,
    (Phase.PENDING, Desired.RUNNING): Operation.PROVISIONING,
    (Phase.ARCHIVED, Desired.STANDBY): Operation.RESTORING,
    (Phase.ARCHIVED, Desired.RUNNING): Operation.RESTORING,
    (Phase.STANDBY, Desired.RUNNING): Operation.STARTING,
    (Phase.STANDBY, Desired.ARCHIVED): Operation.ARCHIVING,
    (Phase.RUNNING, Desired.STANDBY): Operation.STOPPING,
    (Phase.RUNNING, Desired.ARCHIVED): Operation.STOPPING,
    (Phase.DELETING, Desired.DELETED): Operation.DELETING,
}
"""One rung at a time (contract 5). A pair that is missing has nothing to do."""

FIRST_STEP = {
    Operation.PROVISIONING: Step.CREATE,
    Operation.RESTORING: Step.RESTORE,
    Operation.STARTING: Step.PULL,
    Operation.STOPPING: Step.STOP,
    Operation.ARCHIVING: Step.ARCHIVE,
    Operation.CREATE_EMPTY_ARCHIVE: Step.UPLOAD,
    Operation.DELETING: Step.DELETE,
}

AFTER_ACTION = {
    Step.CREATE: Step.CREATED,
    Step.RESTORE: Step.RESTORED,
    Step.PULL: Step.START,
    Step.START: Step.STARTED,
    Step.STOP: Step.STOPPED,
    Step.ARCHIVE: Step.VERIFY,
    Step.VERIFY: Step.VERIFIED,
    Step.RELEASE: Step.RELEASED,
    Step.UPLOAD: Step.UPLOADED,
    Step.DELETE: Step.REMOVED,
}
"""The steps that act, and what is recorded when the act has returned."""

AFTER_SIGHT = {Step.VERIFIED: Step.RELEASE}
"""Where an operation goes on after it was seen done so far. All other sights finish it."""

RETRY_FROM = {
    Step.CREATED: Step.CREATE,
    Step.RESTORED: Step.RESTORE,
    Step.STARTED: Step.START,
    Step.STOPPED: Step.STOP,
    Step.VERIFY: Step.ARCHIVE,
    Step.VERIFIED: Step.ARCHIVE,
    Step.RELEASED: Step.RELEASE,
    Step.UPLOADED: Step.UPLOAD,
    Step.REMOVED: Step.DELETE,
}
"""Where the next attempt begins when this step failed; a step that is missing is simply done again."""

NEEDS: dict[Step, tuple[Service, ...]] = {
    Step.CREATE: (Service.RUNTIME,),
    Step.CREATED: (Service.RUNTIME,),
    Step.RESTORE: (Service.RUNTIME, Service.ARCHIVE_STORE, Service.JOBS),
    Step.RESTORED: (Service.RUNTIME,),
    Step.PULL: (Service.RUNTIME, Service.REGISTRY),
    Step.START: (Service.RUNTIME, Service.REGISTRY),  # an image may go between its pull and its use
    Step.STARTED: (Service.RUNTIME,),
    Step.STOP: (Service.RUNTIME,),
    Step.STOPPED: (Service.RUNTIME,),
    Step.ARCHIVE: (Service.RUNTIME, Service.ARCHIVE_STORE, Service.ARCHIVE_ROOM, Service.JOBS),
    Step.VERIFY: (Service.RUNTIME, Service.ARCHIVE_STORE, Service.JOBS),
    # The next step is for good, and before it the store is told how far the database has come.
    Step.VERIFIED: (Service.RUNTIME, Service.ARCHIVE_STORE, Service.ARCHIVE_ROOM, Service.NEWEST_DATABASE),
    Step.RELEASE: (Service.RUNTIME, Service.ARCHIVE_ROOM, Service.NEWEST_DATABASE),
    Step.RELEASED: (Service.RUNTIME,),
    Step.UPLOAD: (Service.ARCHIVE_STORE, Service.ARCHIVE_ROOM),
    Step.UPLOADED: (Service.ARCHIVE_STORE,),
    Step.DELETE: (Service.RUNTIME, Service.NEWEST_DATABASE),
    Step.REMOVED: (Service.RUNTIME,),
}
"""The shared services without which a step can neither act nor be seen."""


class Sight(Enum):
    """What an observation says about an act that has returned."""

    DONE = "done"
    NOT_YET = "not yet"
    CONTRADICTED = "contradicted"


def _present(status: Status) -> Sight:
    match status:
        case Status.TRUE:
            return Sight.DONE
        case Status.FALSE:
            return Sight.CONTRADICTED
        case Status.UNKNOWN:
            return Sight.NOT_YET


def _volume_present(_: Workspace, seen: View) -> Sight:
    return _present(seen.volume)


def _archive_present(_: Workspace, seen: View) -> Sight:
    return _present(seen.archive)


def _answering(_: Workspace, seen: View) -> Sight:
    if seen.container in (Container.NONE, Container.EXITED):
        return Sight.CONTRADICTED
    return Sight.DONE if seen.container is Container.READY and seen.volume is Status.TRUE else Sight.NOT_YET


def _stopped(_: Workspace, seen: View) -> Sight:
    if seen.container is Container.UNKNOWN:
        return Sight.NOT_YET
    return Sight.CONTRADICTED if seen.container.is_there else Sight.DONE


def _put_away(_: Workspace, seen: View) -> Sight:
    """The archive is whole, and no container can have written to the home since it was made."""
    if seen.archive is Status.TRUE and seen.container is not Container.NONE:
        return Sight.NOT_YET
    return _present(seen.archive)


def _released(_: Workspace, seen: View) -> Sight:
    if seen.volume is Status.TRUE:
        return Sight.CONTRADICTED
    return Sight.DONE if seen.volume is Status.FALSE and seen.archive is Status.TRUE else Sight.NOT_YET


def _removed(workspace: Workspace, seen: View) -> Sight:
    if nothing_left(workspace, seen):
        return Sight.DONE
    return Sight.CONTRADICTED if seen.volume is Status.TRUE else Sight.NOT_YET


SIGHT: dict[Step, Callable[[Workspace, View], Sight]] = {
    Step.CREATED: _volume_present,
    Step.RESTORED: _volume_present,
    Step.STARTED: _answering,
    Step.STOPPED: _stopped,
    Step.VERIFIED: _put_away,
    Step.RELEASED: _released,
    Step.UPLOADED: _archive_present,
    Step.REMOVED: _removed,
}
"""The steps that see: completion is what was observed, never an actuator's return (contract 1)."""
