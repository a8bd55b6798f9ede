"""What the collector may take (contract 9). When in doubt, nothing."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from math import floor
from uuid import UUID

from codehub.decide.view import view
from codehub.model.conditions import Status
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace, archive_key


class OrphanKind(StrEnum):
    ARCHIVE = "archive"
    UPLOAD = "upload"
    VOLUME = "volume"
    CONTAINER = "container"
    JOB = "job"


class Stays(StrEnum):
    """Why something must stay, in words for people."""

    KEPT_BY_OWNER = "its owner keeps it"
    NEWEST = "it is among the newest"
    """The number of those follows."""
    ASKED_FOR = "it is asked for"
    BEING_MADE = "it is being made"
    MADE_LAST = "it was made last"
    CURRENT = "it is the current archive"
    OF_ANOTHER = "another workspace was made from it"
    CAN_COME_BACK = "its workspace can still be brought back"
    IN_ERROR = "its workspace is in ERROR"
    MAY_BE_ANOTHERS = "another installation keeps archives in this store, and it may be one of those"
    UNDER_WAY = "an operation is under way"
    CONTROLLERS = "its workspace is the controller's to clean up"
    UNKNOWN = "nobody knows whose home it is"
    HOME = "it is the home"
    BEING_DELETED = "its workspace is being deleted"
    MAYBE_ONLY_COPY = "it may hold the only copy of a home"


@dataclass(frozen=True, slots=True)
class Found:
    """Something that exists outside: an archive by its key, an unfinished upload by key and upload id, a volume or a
    job by its name, a container by its id."""

    kind: OrphanKind
    key: str
    workspace_id: UUID


@dataclass(frozen=True, slots=True)
class Generation:
    key: str
    workspace_id: UUID
    made_at: datetime
    kept: bool


@dataclass(frozen=True, slots=True)
class CollectPolicy:
    grace: timedelta
    max_share: float
    generations: int
    undelete_window: timedelta
    always_allowed: int = 3
    """So many may go in any round, however small the installation."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What it is decided by whether something has to stay."""

    workspaces: Mapping[UUID, Workspace]
    """Those that something was made for, as far as a row knows them."""
    named: Mapping[str, str]
    """The archives that something points to, and what (`named_archives`)."""
    whole: Collection[str] = field(default=frozenset(), repr=False)
    """The volumes, and the archives with their markers, that this very round has seen."""
    shared: bool = False
    """Whether another installation keeps its archives in the same store."""
    stand_ins: Collection[str] = field(default=frozenset(), repr=False)
    """The volumes that no home ever was in: an engine made them for somebody who came too late."""


@dataclass(frozen=True, slots=True)
class Kept:
    found: Found
    why: str


@dataclass(frozen=True, slots=True)
class Round:
    """What one round would do. `note` begins the grace of what is unprotected for the first time, `forget` ends the
    note of what is protected again or gone."""

    take: tuple[Found, ...]
    note: tuple[Found, ...]
    wait: tuple[Found, ...]
    """Unprotected and noted, but still in its grace."""
    forget: tuple[Found, ...]
    keep: tuple[Kept, ...]
    due: int
    """How many would go if nothing halted the round."""
    halted: str | None
    """Why nothing is taken although something could be: an administrator has to look."""


def collect(
    found: Iterable[Found],
    ground: Ground,
    noted: Mapping[Found, datetime],
    policy: CollectPolicy,
    now: datetime,
    confirmed: int = 0,
) -> Round:
    """Decide over everything that was found in whole listings. The caller decides again in the transaction that
    deletes, with rows read there. `confirmed`: so many an administrator has allowed for this one round."""
    reasons = {each: protection(each, ground, policy, now) for each in found}
    unprotected = [each for each, why in reasons.items() if why is None]
    due = tuple(each for each in unprotected if each in noted and now - noted[each] >= policy.grace)
    halted = _halt(len(due), len(reasons), policy, confirmed)
    return Round(
        take=() if halted else due,
        note=tuple(each for each in unprotected if each not in noted),
        wait=tuple(each for each in unprotected if each in noted and now - noted[each] < policy.grace),
        forget=tuple(each for each in noted if each not in reasons or reasons[each] is not None),
        keep=tuple(Kept(each, why) for each, why in reasons.items() if why is not None),
        due=len(due),
        halted=halted,
    )


def _halt(due: int, found: int, policy: CollectPolicy, confirmed: int) -> str | None:
    allowed = max(policy.always_allowed, floor(found * policy.max_share), confirmed)
    if due <= allowed:
        return None
    return f"{due} of {found} would be deleted, more than the {allowed} that one round may take"


_MAKES_ARCHIVE = (Operation.ARCHIVING, Operation.CREATE_EMPTY_ARCHIVE)


def named_archives(
    workspaces: Iterable[Workspace], generations: Sequence[Generation], policy: CollectPolicy, now: datetime
) -> dict[str, str]:
    """The keys that something points to, and what. By key, not by prefix: a fork stands on its source's archive. The
    generations are those of these workspaces, and others do no harm."""
    named: dict[str, str] = {}
    by_workspace: dict[UUID, list[Generation]] = {}
    for generation in sorted(generations, key=lambda each: each.made_at, reverse=True):
        by_workspace.setdefault(generation.workspace_id, []).append(generation)
        if generation.kept:
            named[generation.key] = Stays.KEPT_BY_OWNER
    for workspace in workspaces:
        if workspace.deleted_at is not None and not _can_be_brought_back(workspace, policy, now):
            continue
        for generation in by_workspace.get(workspace.id, [])[: policy.generations]:
            named[generation.key] = f"{Stays.NEWEST} {policy.generations}"
        if workspace.request is not None and workspace.request.archive_key is not None:
            named[workspace.request.archive_key] = Stays.ASKED_FOR
        if workspace.archive_op_id is not None:
            last = archive_key(workspace.id, workspace.archive_op_id)
            if workspace.operation in _MAKES_ARCHIVE:
                named[last] = Stays.BEING_MADE
            else:
                named.setdefault(last, Stays.MADE_LAST)
        if workspace.archive_key is not None:
            named[workspace.archive_key] = Stays.CURRENT
    return named


def protection(found: Found, ground: Ground, policy: CollectPolicy, now: datetime) -> str | None:
    """Why this must stay, in words for people; None where nothing protects it."""
    workspace = ground.workspaces.get(found.workspace_id)
    match found.kind:
        case OrphanKind.ARCHIVE:
            return ground.named.get(found.key) or _archive_protection(workspace, ground, policy, now)
        case OrphanKind.UPLOAD:
            return _others(ground) if workspace is None else _under_way(workspace)
        case OrphanKind.VOLUME:
            return _volume_protection(found, workspace, ground)
        case OrphanKind.CONTAINER:
            return None if workspace is None else Stays.CONTROLLERS
        case OrphanKind.JOB:
            return None if workspace is None else _under_way(workspace)


def _archive_protection(
    workspace: Workspace | None, ground: Ground, policy: CollectPolicy, now: datetime
) -> str | None:
    if workspace is None:
        return _others(ground)
    if workspace.deleted_at is not None:
        return Stays.CAN_COME_BACK if _can_be_brought_back(workspace, policy, now) else None
    return Stays.IN_ERROR if workspace.phase is Phase.ERROR else None


def _others(ground: Ground) -> str | None:
    """Nobody here knows whose it is."""
    return Stays.MAY_BE_ANOTHERS if ground.shared else None


def _under_way(workspace: Workspace) -> str | None:
    return None if workspace.operation is Operation.NONE else Stays.UNDER_WAY


def _can_be_brought_back(workspace: Workspace, policy: CollectPolicy, now: datetime) -> bool:
    return workspace.deleted_at is not None and now - workspace.deleted_at < policy.undelete_window


def _volume_protection(found: Found, workspace: Workspace | None, ground: Ground) -> str | None:
    """A volume goes only where its workspace was seen to have its home elsewhere, in this round too, or where all it
    had is deleted. What only stands in for a home nothing protects."""
    if found.key in ground.stand_ins:
        return None
    if workspace is None:
        return Stays.UNKNOWN
    if workspace.home_volume == found.key:
        return Stays.HOME
    if workspace.operation is not Operation.NONE:
        return Stays.UNDER_WAY
    if workspace.deleted_at is not None:
        return None if workspace.phase is Phase.DELETED else Stays.BEING_DELETED
    if workspace.phase is Phase.ERROR:
        return Stays.IN_ERROR
    seen = view(workspace)
    home, status = (
        (workspace.archive_key, seen.archive) if workspace.home_volume is None else (workspace.home_volume, seen.volume)
    )
    return None if status is Status.TRUE and home in ground.whole else Stays.MAYBE_ONLY_COPY
