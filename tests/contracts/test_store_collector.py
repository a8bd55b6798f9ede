"""What the collector remembers: generations, and since when something was seen unprotected."""

from uuid import uuid4

from codehub.decide.orphans import Found, OrphanKind
from codehub.model.states import Desired
from codehub.model.workspace import RequestKind, Workspace
from codehub.store.protocols import CollectorStore, ControllerStore, Evidence
from tests.contracts.store_backends import Backend
from tests.contracts.store_lives import archived, done, made, request


def found(kind: OrphanKind = OrphanKind.VOLUME, key: str = "a volume") -> Found:
    return Found(kind, key, uuid4())


async def test_archives_are_generations(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    rows = [await archived(backend, controller) for _ in range(2)]
    generations = await collector.generations([row.id for row in rows])
    expected = sorted((row.id, made(row).key) for row in rows)
    assert [(each.workspace_id, each.key) for each in generations] == expected
    assert not any(each.kept for each in generations)


async def test_the_archives_of_others_are_left_out(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    await archived(backend, controller)
    row = await archived(backend, controller)
    assert [each.key for each in await collector.generations([row.id])] == [made(row).key]
    assert await collector.generations([]) == []


async def test_every_row_is_read_page_by_page(backend: Backend, collector: CollectorStore) -> None:
    rows = sorted([await backend.create() for _ in range(5)], key=lambda row: row.id)
    deleted = done(await backend.wish(rows[1], Desired.DELETED))
    first = await collector.rows(None, 3)
    assert [row.id for row in first] == [row.id for row in rows[:3]]
    assert [row.id for row in await collector.rows(first[-1].id, 3)] == [row.id for row in rows[3:]]
    assert first[1].deleted_at == deleted.deleted_at is not None


async def test_unknown_workspaces_are_left_out(backend: Backend, collector: CollectorStore) -> None:
    row = await backend.create()
    assert [each.id for each in await collector.workspaces([row.id, uuid4()])] == [row.id]


def archive_of(row: Workspace) -> Found:
    return Found(OrphanKind.ARCHIVE, made(row).key, row.id)


async def test_what_is_taken_has_lost_its_row(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    row, other = await archived(backend, controller), await archived(backend, controller)
    assert await collector.take(archive_of(row), lambda _: None) is None
    assert await backend.archives(row.id) == []
    assert len(await backend.archives(other.id)) == 1


async def test_what_a_second_look_protects_keeps_its_row(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    row = await archived(backend, controller)
    before = await backend.archives(row.id)
    assert await collector.take(archive_of(row), lambda _: "it is the current archive") == "it is the current archive"
    assert await backend.archives(row.id) == before


async def seen_of(collector: CollectorStore, found: Found) -> Evidence:
    """What the second look is shown."""
    shown = []

    def look(evidence: Evidence) -> str:
        shown.append(evidence)
        return "only looking"

    await collector.take(found, look)
    return shown[0]


async def test_the_second_look_is_made_with_rows_read_there(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    row = await archived(backend, controller)
    row = done(await backend.wish(row, Desired.DELETED))
    seen = await seen_of(collector, archive_of(row))
    assert list(seen.workspaces) == [await backend.row(row.id)]
    assert [each.key for each in seen.generations] == [made(row).key]
    assert row.deleted_at is not None
    assert seen.now > row.deleted_at


async def test_the_second_look_is_shown_whoever_asks_for_the_archive(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    row, fork = await archived(backend, controller), await backend.create()
    await backend.create()
    done(await backend.place_request(fork, request(RequestKind.FORK, made(row).key)))
    seen = await seen_of(collector, archive_of(row))
    assert {each.id for each in seen.workspaces} == {row.id, fork.id}


async def test_a_thing_that_no_row_knows_has_no_evidence(backend: Backend, collector: CollectorStore) -> None:
    await backend.create()
    for kind in OrphanKind:
        seen = await seen_of(collector, found(kind))
        assert (list(seen.workspaces), list(seen.generations)) == ([], [])


async def test_what_is_no_archive_takes_no_archive_along(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    row = await archived(backend, controller)
    for kind in set(OrphanKind) - {OrphanKind.ARCHIVE}:
        assert await collector.take(Found(kind, made(row).key, row.id), lambda _: None) is None
    assert len(await backend.archives(row.id)) == 1


async def test_what_is_noted_again_keeps_its_first_time(collector: CollectorStore) -> None:
    volume, archive = found(), found(OrphanKind.ARCHIVE, "a key")
    await collector.note_orphans([volume])
    noted = await collector.noted_orphans()
    await collector.note_orphans([volume, archive])
    again = await collector.noted_orphans()
    assert again[volume] == noted[volume]
    assert set(again) == {volume, archive}


async def test_what_is_noted_twice_at_once_is_one_note(collector: CollectorStore) -> None:
    volume = found()
    await collector.note_orphans([volume, volume])
    assert set(await collector.noted_orphans()) == {volume}


async def test_the_same_key_of_another_kind_is_another_thing(collector: CollectorStore) -> None:
    volume, *others = (found(kind) for kind in (OrphanKind.VOLUME, *(set(OrphanKind) - {OrphanKind.VOLUME})))
    await collector.note_orphans([volume, *others])
    await collector.forget_orphans([volume])
    assert set(await collector.noted_orphans()) == set(others)


async def test_nothing_noted_or_forgotten_is_no_trouble(collector: CollectorStore) -> None:
    await collector.note_orphans([])
    await collector.forget_orphans([])
    await collector.forget_orphans([found()])
    assert await collector.noted_orphans() == {}


async def test_a_store_with_very_many_orphans_is_noted_and_forgotten(collector: CollectorStore) -> None:
    many = [found(key=f"volume {n}") for n in range(20_000)]
    await collector.note_orphans(many)
    assert len(await collector.noted_orphans()) == 20_000
    await collector.forget_orphans(many)
    assert await collector.noted_orphans() == {}
