"""The mark that an installation leaves in its archive store: how far its database had come.

It is an object beside the archives, of a name that no archive has. The database has recorded every mark before it was
put here, so a database that does not know this one has been set back: it was restored from an old backup, or it is a
copy of the one that made it."""

import json
import re
from uuid import UUID

from codehub.archives.errors import ObjectNotFound, StoreLied
from codehub.archives.object_store import ObjectStore, read_all
from codehub.model.mark import Mark

FOLDER = "installation/"
LIMIT = 4096


def counter_key(installation: str) -> str:
    return f"{FOLDER}{installation}/counter"


async def read_mark(store: ObjectStore, installation: str) -> Mark | None:
    """None where none was ever left; a mark that cannot be read is an error, not an absence."""
    key = counter_key(installation)
    try:
        stored = json.loads(await read_all(store, key, limit=LIMIT))
        return Mark(UUID(stored["mark"]), int(stored["counter"]))
    except ObjectNotFound:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise StoreLied(f"The object {key} holds something else than the counter that was written.") from error


async def leave_mark(store: ObjectStore, installation: str, mark: Mark) -> None:
    content = {"format": 1, "counter": mark.value, "mark": str(mark.id)}
    await store.put(counter_key(installation), json.dumps(content).encode())


async def installations(store: ObjectStore) -> frozenset[str]:
    """All that keep their archives in this store."""
    names = [re.fullmatch(rf"{FOLDER}([^/]+)/counter", each.key) async for each in store.list(FOLDER)]
    return frozenset(found[1] for found in names if found is not None)
