"""From a look at the outside world to a row's conditions."""

from dataclasses import replace
from datetime import datetime

from codehub.decide.judge import broken_invariant
from codehub.decide.view import ARCHIVE_JUST_STORED, CONFIRM_LOSS_AFTER, view_of
from codehub.model.conditions import Condition, Conditions, Endpoint, Reason, Status
from codehub.model.sightings import ArchiveState, ContainerState, SeenContainer, Sighting
from codehub.model.states import ErrorReason, Operation
from codehub.model.workspace import Workspace

_CONTAINER_REASON = {
    ContainerState.READY: Reason.CONTAINER_RUNNING,
    ContainerState.STARTING: Reason.CONTAINER_STARTING,
    ContainerState.PROBE_FAILING: Reason.PROBE_FAILING,
    ContainerState.EXITED: Reason.CONTAINER_EXITED,
}
_MOST_ALIVE_FIRST = (ContainerState.READY, ContainerState.PROBE_FAILING, ContainerState.STARTING, ContainerState.EXITED)
_ARCHIVE = {
    ArchiveState.WHOLE: (Status.TRUE, Reason.ARCHIVE_UPLOADED),
    ArchiveState.MISSING: (Status.FALSE, Reason.ARCHIVE_MISSING),
    ArchiveState.MISMATCH: (Status.FALSE, Reason.ARCHIVE_MISMATCH),
}
_BROKEN = {
    ErrorReason.CONTAINER_WITHOUT_VOLUME: Reason.CONTAINER_WITHOUT_VOLUME,
    ErrorReason.DATA_LOST: Reason.DATA_LOST,
    ErrorReason.ARCHIVE_CORRUPTED: Reason.ARCHIVE_CORRUPTED,
}


def observe(workspace: Workspace, sighting: Sighting) -> Conditions:
    """The row's conditions after this look. What was not looked at keeps its old value (absence has to be seen), and
    a look that began earlier than the stored one changes nothing: listings may come back out of order."""
    before = workspace.conditions
    if sighting.containers is None and sighting.volumes is None and sighting.archive is None:
        return before
    seen = Conditions(
        volume=_newer(before.volume, _volume(workspace, sighting)),
        archive=_newer(before.archive, _archive(workspace, sighting)),
        container=_newer(before.container, _container(workspace, sighting)),
        healthy=before.healthy,
    )
    return replace(seen, healthy=_newer(before.healthy, _healthy(workspace, seen, sighting.looked_at)))


def worth_writing(workspace: Workspace, after: Conditions) -> bool:
    """Whether the new conditions must reach the row: they say something else, an operation waits for them, what the
    row holds no longer counts, or an absence is still to be confirmed. A settled row that looks as before is left
    alone, so that a settled installation writes nothing."""
    before = workspace.conditions
    if after == before:
        return False
    return workspace.operation is not Operation.NONE or any(
        _differs(old, new, workspace.acted_at)
        for old, new in (
            (before.volume, after.volume),
            (before.archive, after.archive),
            (before.container, after.container),
            (before.healthy, after.healthy),
        )
    )


def wants_another_look(conditions: Conditions) -> bool:
    """Whether something is missing, and has not been missing for long enough to be called lost."""
    return any(each is not None and _unconfirmed(each) for each in (conditions.volume, conditions.archive))


def wants_archive_look(workspace: Workspace) -> bool:
    """Whether its archive has to be looked at now: not seen yet, or not since the act that has stored it; missing for
    not long enough to be called lost; or just found wanting by a restore, which tells nobody why. A deletion does not
    care, but it begins only when the operation before it has seen what it waits for."""
    seen, just_stored = workspace.conditions.archive, workspace.op_step in ARCHIVE_JUST_STORED
    if workspace.archive_key is None or (workspace.deleted_at is not None and not just_stored):
        return False
    if seen is None or seen.subject != workspace.archive_key or _unconfirmed(seen):
        return True
    if just_stored:
        return workspace.acted_at is not None and seen.observed_from < workspace.acted_at
    return workspace.operation is Operation.RESTORING and workspace.next_attempt_at is not None


def _unconfirmed(condition: Condition) -> bool:
    return (
        condition.status is Status.FALSE
        and condition.subject is not None
        and condition.observed_from - condition.last_transition_time < CONFIRM_LOSS_AFTER
    )


def _differs(old: Condition | None, new: Condition | None, acted_at: datetime | None) -> bool:
    if old is None or new is None:
        return old is not new
    if _saying(old) != _saying(new):
        return True
    if old.observed_from == new.observed_from:
        return False
    return _unconfirmed(old) or (acted_at is not None and old.observed_from < acted_at)


def _saying(condition: Condition) -> tuple[Status, Reason, str, str | None, Endpoint | None, tuple[str, ...]]:
    return (
        condition.status,
        condition.reason,
        condition.message,
        condition.subject,
        condition.endpoint,
        condition.surplus,
    )


def _newer(old: Condition | None, new: Condition | None) -> Condition | None:
    if new is None or old is None:
        return new or old
    if new.observed_from < old.observed_from:
        return old
    if new.status is old.status and new.subject == old.subject:
        return replace(new, last_transition_time=old.last_transition_time)
    return new


def _condition(
    status: Status, reason: Reason, subject: str | None, looked_at: datetime, message: str = ""
) -> Condition:
    return Condition(status, reason, message, looked_at, subject, looked_at)


def _volume(workspace: Workspace, sighting: Sighting) -> Condition | None:
    if sighting.volumes is None:
        return None
    name = workspace.current_volume
    if name is None:
        return _condition(Status.FALSE, Reason.NO_VOLUME, None, sighting.looked_at)
    if name in sighting.volumes:
        return _condition(Status.TRUE, Reason.VOLUME_PROVISIONED, name, sighting.looked_at)
    return _condition(Status.FALSE, Reason.VOLUME_NOT_FOUND, name, sighting.looked_at)


def _archive(workspace: Workspace, sighting: Sighting) -> Condition | None:
    if workspace.archive_key is None:
        return _condition(Status.FALSE, Reason.NO_ARCHIVE, None, sighting.looked_at)
    if sighting.archive is None or sighting.archive.key != workspace.archive_key:
        return None
    status, reason = _ARCHIVE[sighting.archive.state]
    return _condition(status, reason, sighting.archive.key, sighting.archive.looked_at)


def _container(workspace: Workspace, sighting: Sighting) -> Condition | None:
    """The one that is most alive speaks for the workspace, and of equals the one that has spoken so far; the others are
    surplus. One that holds another volume than the home is not the workspace's, however well it answers."""
    if sighting.containers is None:
        return None
    if not sighting.containers:
        return _condition(Status.FALSE, Reason.CONTAINER_NOT_FOUND, None, sighting.looked_at)
    before = workspace.conditions.container
    spoken = before.subject if before is not None else None
    container = min(
        sighting.containers,
        key=lambda each: (_is_displaced(workspace, each), _liveliness(each), each.id != spoken, each.id),
    )
    surplus = tuple(sorted(each.id for each in sighting.containers if each is not container))
    message = container.message
    if surplus:
        message = f"{len(sighting.containers)} containers are there. {message}".rstrip()
    reason = _CONTAINER_REASON[container.state]
    if _is_displaced(workspace, container) and container.state is not ContainerState.EXITED:
        reason, message = Reason.CONTAINER_DISPLACED, message or container.volume
    status = Status.TRUE if reason is Reason.CONTAINER_RUNNING else Status.FALSE
    endpoint = container.endpoint if status is Status.TRUE else None
    condition = _condition(status, reason, container.id, sighting.looked_at, message)
    return replace(condition, endpoint=endpoint, surplus=surplus)


def _is_displaced(workspace: Workspace, container: SeenContainer) -> bool:
    return container.volume != workspace.home_volume


def _liveliness(container: SeenContainer) -> int:
    return _MOST_ALIVE_FIRST.index(container.state)


def _healthy(workspace: Workspace, seen: Conditions, looked_at: datetime) -> Condition:
    broken = broken_invariant(workspace, view_of(workspace, seen))
    if broken is None:
        return _condition(Status.TRUE, Reason.ALL_CONDITIONS_MET, None, looked_at)
    return _condition(Status.FALSE, _BROKEN[broken], None, looked_at)
