"""Find out what a store really does. Some accept a condition and ignore it; a marker must not rest on their word. Some
answer, and take nothing."""

import secrets
from collections.abc import Awaitable
from dataclasses import dataclass, fields

from codehub.archives.errors import AlreadyExists, StoreError
from codehub.archives.object_store import ObjectStore, read_all

TRIED_KEY = "health-check"
TRIED_BYTES = 64 * 1024
"""More than may be left in what a full disk has begun to fill."""

_SAID = {
    "reads_back": "an object reads back as it was written",
    "creates_once": "a create-only write (If-None-Match) is refused when the object is there",
    "serves_ranges": "a range of an object is served exactly",
    "lists_at_once": "a new object is listed at once",
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a store was seen to do, each by trying."""

    reads_back: bool
    creates_once: bool
    serves_ranges: bool
    lists_at_once: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """One phrase for each promise that the store does not keep, for `doctor` and the log."""
        return tuple(_SAID[field.name] for field in fields(self) if not getattr(self, field.name))


async def probe(store: ObjectStore) -> Capabilities:
    """Try each promise on a throw-away object, and remove it.

    Raises the StoreError of a store that cannot be written to at all. A store that is down is down, not a liar: a
    promise counts as broken only if the store still answers afterwards.
    """
    key = f"probe-{secrets.token_hex(8)}"
    first, second = secrets.token_bytes(64), secrets.token_bytes(64)
    try:
        await store.put(key, first)
        refused = await _kept(store, _refuses_second(store, key, second))
        content = await read_all(store, key, limit=1024)
        return Capabilities(
            reads_back=content == first or (content == second and not refused),
            creates_once=refused and content == first,
            serves_ranges=await _kept(store, _serves(store, key, content, 10, 20)),
            lists_at_once=await _kept(store, _lists(store, key)),
        )
    finally:
        await store.delete(key)


async def try_to_write(store: ObjectStore) -> None:
    """Raises the StoreError of a store that takes nothing. One object under one key, whoever tries: at most one is ever
    left behind."""
    await store.put(TRIED_KEY, bytes(TRIED_BYTES))
    await store.delete(TRIED_KEY)


async def _kept(store: ObjectStore, promise: Awaitable[bool]) -> bool:
    try:
        return await promise
    except StoreError:
        await store.ping()
        return False


async def _refuses_second(store: ObjectStore, key: str, data: bytes) -> bool:
    try:
        await store.create(key, data)
    except AlreadyExists:
        return True
    return False


async def _serves(store: ObjectStore, key: str, content: bytes, start: int, length: int) -> bool:
    served = b"".join([piece async for piece in store.read(key, start, length)])
    return served == content[start : start + length]


async def _lists(store: ObjectStore, key: str) -> bool:
    return [found.key async for found in store.list(key)] == [key]
