"""A writer in a process of its own, to be killed: `object_store_writer.py upload|put|create PLACE`, the place as JSON.

Prints a line whenever it is in the middle of its work.
"""

import asyncio
import json
import sys

from codehub.archives.object_store import ObjectStore
from codehub.archives.open import open_store

MIB = 1024 * 1024


async def upload(store: ObjectStore) -> None:
    async with store.upload("folder/key") as unfinished:
        await unfinished.write(bytes(40 * MIB))
        say("begun")
        await asyncio.Event().wait()


async def put(store: ObjectStore) -> None:
    """Replace one object by another, for ever; each is of one letter."""
    while True:
        for letter in b"ab":
            await store.put("folder/key", bytes([letter]) * MIB)
            say("put")


async def create(store: ObjectStore) -> None:
    for number in range(1_000_000):
        await store.create(f"folder/{number}", b"x" * MIB)
        say("created")


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    place = json.loads(sys.argv[2])
    work = {"upload": upload, "put": put, "create": create}[sys.argv[1]]
    asyncio.run(work(open_store(place["url"], **place["options"])))
