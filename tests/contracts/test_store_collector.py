"""What the collector remembers: generations, and since when something was seen unprotected."""

from uuid import uuid4

from codehub.decide.orphans import Found, OrphanKind
from codehub.store.protocols import CollectorStore, ControllerStore
from tests.contracts.store_backends import Backend
from tests.contracts.store_lives import archived, made


def found(kind: OrphanKind = OrphanKind.VOLUME, key: str = "a volume") -> Found:
    return Found(kind, key, uuid4())


async def test_archives_are_generations(
    backend: Backend, controller: ControllerStore, collector: CollectorStore
) -> None:
    rows = [await archived(backend, controller) for _ in range(2)]
    generations = await collector.generations()
    expected = sorted((row.id, made(row).key) for row in rows)
    assert [(each.workspace_id, each.key) for each in generations] == expected
    assert not any(each.kept for each in generations)


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
    volume, container = found(), found(OrphanKind.CONTAINER)
    await collector.note_orphans([volume, container])
    await collector.forget_orphans([volume])
    assert set(await collector.noted_orphans()) == {container}


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
