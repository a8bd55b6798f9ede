"""What can be refused to somebody about workspaces and templates."""

from codehub.store.admission import LimitReached
from codehub.store.holds import MOST as MOST_HOLDS
from codehub.web.problems import Missing, Refused

RETRY_AFTER_SECONDS = 30
"""At a limit nothing is gained by asking at once: somebody has to stop something."""
_SOON = {"Retry-After": "5"}


class NoSuchWorkspace(Missing):
    def __init__(self) -> None:
        super().__init__("There is no such workspace.")


class NoSuchTemplate(Missing):
    def __init__(self) -> None:
        super().__init__("There is no such template.")


class UnknownTemplate(Refused):
    status = 422
    code = "unknown_template"

    def __init__(self) -> None:
        super().__init__("There is no template of this name or id; see GET /api/v1/templates.")


class AboveTemplate(Refused):
    """Only an administrator gives more than an administrator has set."""

    status = 422
    code = "above_template"


class AboveCeiling(Refused):
    status = 422
    code = "above_ceiling"


class Conflict(Refused):
    """It cannot be done as things are now."""

    status = 409


class NameTaken(Conflict):
    code = "name_taken"

    def __init__(self, what: str = "workspace") -> None:
        super().__init__(f"There is a {what} of this name already.")


class InError(Conflict):
    code = "in_error"

    def __init__(self) -> None:
        super().__init__("It is in ERROR, where it cannot start. Recover it.")


class NotInError(Conflict):
    code = "not_in_error"

    def __init__(self) -> None:
        super().__init__("It is not in ERROR: there is nothing to recover from.")


class RequestPending(Conflict):
    code = "request_pending"

    def __init__(self) -> None:
        super().__init__("Another request for it is still to be answered.")


class NotLost(Conflict):
    code = "not_lost"

    def __init__(self) -> None:
        super().__init__("Its files are not lost: only lost ones are given up for an empty home.")


class NoSuchArchive(Missing):
    def __init__(self) -> None:
        super().__init__("There is no such archive of this workspace.")


class NoArchive(Conflict):
    code = "no_archive"

    def __init__(self) -> None:
        super().__init__("There is no archive of it yet. Archive it first.")


class ArchiveDamaged(Conflict):
    """What the store holds is not what was proven whole, or is not there at all."""

    code = "archive_damaged"


class NotDeleted(Conflict):
    code = "not_deleted"

    def __init__(self) -> None:
        super().__init__("It is not deleted.")


class StillBeingDeleted(Conflict):
    code = "being_deleted"

    def __init__(self) -> None:
        super().__init__("Its home is being taken away at this moment; try again.", headers={"Retry-After": "1"})


class CannotComeBack(Conflict):
    code = "cannot_come_back"


class NotRunning(Conflict):
    code = "not_running"

    def __init__(self) -> None:
        super().__init__("It has no container at the moment, and so nothing to tell of one.")


class Asleep(Conflict):
    code = "not_running"

    def __init__(self) -> None:
        super().__init__("It is not running, or is being stopped: there is nothing to extend. Start it.")


class NoSuchHold(Missing):
    def __init__(self) -> None:
        super().__init__("There is no such hold, or it was let go.")


class TooManyHolds(Conflict):
    code = "too_many_holds"

    def __init__(self) -> None:
        super().__init__(f"A workspace can have {MOST_HOLDS} holds at a time. Let some go.")


class BuiltIn(Conflict):
    code = "built_in"


class TemplateUsed(Conflict):
    code = "in_use"

    def __init__(self) -> None:
        super().__init__("There are workspaces that run it. Delete them first.")


class RuntimeUnavailable(Refused):
    status = 503
    code = "runtime_away"

    def __init__(self) -> None:
        super().__init__("Where workspaces run, nobody answers at the moment; try again.", headers=_SOON)


class ArchiveStoreAway(Refused):
    status = 503
    code = "archive_store_away"

    def __init__(self) -> None:
        super().__init__("The store of the archives does not answer at the moment; try again.", headers=_SOON)


class TooManyDownloads(Refused):
    status = 429
    code = "too_many_downloads"

    def __init__(self, most: int) -> None:
        super().__init__(f"You may have {most} downloads at once; wait for one to end.", headers=_SOON)


class RangeNotThere(Refused):
    """The range begins behind the end."""

    status = 416
    code = "range_not_there"

    def __init__(self, size: int) -> None:
        super().__init__(f"It has {size} bytes.", headers={"Content-Range": f"bytes */{size}"})


class TooManyRunning(Refused):
    """The limit, and the owner's own running workspaces for them to choose from."""

    status = 429
    code = "limit_reached"

    def __init__(self, reached: LimitReached) -> None:
        super().__init__(
            f"{'Everybody together' if reached.everybody else 'One user'} may have {reached.limit} running; stop one.",
            headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
            limit=reached.limit,
            everybody=reached.everybody,
            running=[{"id": str(each.id), "name": each.name} for each in reached.running],
        )
