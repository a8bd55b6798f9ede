"""The outside world of one workspace, small enough to walk through all of it: what each act does there, and what no
act may ever do. Contents have an identity, so that a loss is seen."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from codehub.model.sightings import ArchiveState, ContainerState, SeenArchive, SeenContainer, Sighting
from codehub.model.states import Step
from codehub.model.workspace import Workspace
from tests.decide.builders import CONTAINER_ID, LATE_ID, OLDER_KEY
from tests.decide.transitions import own_key


class Content(Enum):
    """What a volume or an archive holds."""

    LIVE = "the home as it is now"
    OLD = "the home as it once was"
    BLANK = "nothing yet"
    HALF = "a part of it"


@dataclass(frozen=True, slots=True)
class Container:
    state: ContainerState
    volume: str


@dataclass(frozen=True, slots=True)
class Archive:
    state: ArchiveState
    content: Content


Volumes = tuple[tuple[str, Content], ...]
Archives = tuple[tuple[str, Archive], ...]


@dataclass(frozen=True, slots=True)
class World:
    container: Container | None = None
    late: Container | None = None
    """A second one: the start of a deposed leader came late."""
    volumes: Volumes = ()
    archives: Archives = ()
    had_home: bool = False
    """Whether there ever was a home that an empty one would replace."""

    @property
    def containers(self) -> tuple[tuple[str, Container], ...]:
        named = (CONTAINER_ID, self.container), (LATE_ID, self.late)
        return tuple((name, each) for name, each in named if each is not None)

    def volume(self, name: str | None) -> Content | None:
        return dict(self.volumes).get(name or "")

    def archive(self, key: str | None) -> Archive | None:
        older = Archive(ArchiveState.WHOLE, Content.OLD) if key == OLDER_KEY else None  # what the owner can choose
        return dict(self.archives).get(key or "", older)

    def holds(self, key: str | None, content: Content) -> bool:
        return self.archive(key) == Archive(ArchiveState.WHOLE, content)

    @property
    def copies(self) -> int:
        """How many whole copies of the present home there are."""
        volumes = sum(content is Content.LIVE for _, content in self.volumes)
        return volumes + sum(self.holds(key, Content.LIVE) for key, _ in self.archives)

    def with_volume(self, name: str | None, content: Content | None) -> "World":
        others = tuple(pair for pair in self.volumes if pair[0] != name)
        return replace(self, volumes=others if name is None or content is None else (*others, (name, content)))

    def with_archive(self, key: str | None, archive: Archive) -> "World":
        assert key is not None
        return replace(self, archives=(*(pair for pair in self.archives if pair[0] != key), (key, archive)))


def look(world: World, row: Workspace, now: datetime) -> Sighting:
    """A whole look at everything."""
    archive = world.archive(row.archive_key)
    return Sighting(
        looked_at=now,
        containers=tuple(SeenContainer(name, each.volume, each.state) for name, each in world.containers),
        volumes=frozenset(name for name, _ in world.volumes),
        archive=SeenArchive(row.archive_key, archive.state if archive else ArchiveState.MISSING, now)
        if row.archive_key
        else None,
    )


def _create(world: World, row: Workspace) -> World:
    assert not world.had_home, "an empty volume is made where a home had been"
    return world.with_volume(row.op_volume, world.volume(row.op_volume) or Content.BLANK)


def _restore(world: World, row: Workspace) -> World | None:
    archive = world.archive(row.archive_key)
    if archive is None or archive.state is not ArchiveState.WHOLE:
        return None
    return world.with_volume(row.op_volume, archive.content)


def _start(world: World, row: Workspace) -> World | None:
    """One container on the home, whatever was there before. It writes: every archive so far is of an older home."""
    if row.home_volume is None or world.volume(row.home_volume) is None:
        return None
    archives = tuple((key, replace(archive, content=Content.OLD)) for key, archive in world.archives)
    started = Container(ContainerState.STARTING, row.home_volume)
    return replace(world, container=started, late=None, archives=archives)


def _stop(world: World, _: Workspace) -> World:
    return replace(world, container=None, late=None)


def thinned_out(world: World, container_ids: Collection[str]) -> World:
    """The world without these containers."""
    (stays,) = (each for name, each in world.containers if name not in container_ids)
    assert stays.state is not ContainerState.EXITED, "what has ended is kept, and what lives is removed"
    return replace(world, container=stays, late=None)


def _archive(world: World, row: Workspace) -> World | None:
    made = world.archive(own_key(row))
    if made is not None and made.state is ArchiveState.WHOLE:
        return world  # its marker is there: the upload is skipped (contract 7)
    content = world.volume(row.home_volume)
    return world.with_archive(own_key(row), Archive(ArchiveState.WHOLE, content)) if content else None


def _verify(world: World, row: Workspace) -> World | None:
    made = world.archive(own_key(row))
    return world if made is not None and made.state is ArchiveState.WHOLE else None


def _upload(world: World, row: Workspace) -> World:
    assert not world.had_home, "an empty archive is made where a home had been"
    return world.with_archive(own_key(row), Archive(ArchiveState.WHOLE, Content.LIVE))


def _release(world: World, row: Workspace) -> World:
    content = world.volume(row.op_volume)
    assert content is None or world.holds(row.archive_key, content), "the volume goes, its archive is not whole"
    assert not world.containers or content is None, "the volume goes under its container"
    return world.with_volume(row.op_volume, None)


def _delete(world: World, row: Workspace) -> World:
    assert row.deleted_at is not None, "the volume of a living workspace is deleted"
    assert not world.containers, "the volume goes under its container"
    return world.with_volume(row.current_volume, None)


EFFECT: dict[Step, Callable[[World, Workspace], World | None]] = {
    Step.CREATE: _create,
    Step.RESTORE: _restore,
    Step.PULL: lambda world, _: world,
    Step.START: _start,
    Step.STOP: _stop,
    Step.ARCHIVE: _archive,
    Step.VERIFY: _verify,
    Step.RELEASE: _release,
    Step.UPLOAD: _upload,
    Step.DELETE: _delete,
}
"""What the act of a step does to the world; None where the world does not let it."""


def half(step: Step, before: World, after: World, row: Workspace) -> World:
    """The world when the act of `step` broke off: a restore leaves a part of the home, an upload lacks its marker."""
    if step is Step.RESTORE:
        return after.with_volume(row.op_volume, Content.HALF)
    if step in (Step.ARCHIVE, Step.UPLOAD) and after != before:
        return after.with_archive(own_key(row), Archive(ArchiveState.MISSING, Content.HALF))
    return after
