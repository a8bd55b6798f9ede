"""What a test asks of a store, in one call each."""

from codehub.archives.object_store import ObjectStore, UnfinishedUpload


async def keys_of(store: ObjectStore, prefix: str = "") -> list[str]:
    return [info.key async for info in store.list(prefix)]


async def uploads_of(store: ObjectStore, prefix: str = "") -> list[UnfinishedUpload]:
    return [upload async for upload in store.unfinished(prefix)]


async def content_of(store: ObjectStore, key: str, start: int = 0, length: int | None = None) -> bytes:
    return b"".join([piece async for piece in store.read(key, start, length)])
