"""What must survive any kill: a growing set of rows, keys and objects, each written once and confirmed."""

import asyncio
import json
from dataclasses import dataclass

import asyncpg
from redis.asyncio import Redis

from codehub.archives.object_store import ObjectStore, read_all
from codehub.archives.open import open_store
from codehub.stack.seaweedfs import URL, store_access
from tests.stack.installation import Installation


@dataclass
class Witness:
    codehub: Installation
    with_objects: bool = False
    written: int = 0

    def write(self) -> None:
        """Add one more of each, durable when this returns."""
        asyncio.run(self._write())

    def check(self) -> None:
        """All that was ever written is there, and nothing else."""
        asyncio.run(self._check())

    async def _write(self) -> None:
        number = self.written + 1
        connection = await asyncpg.connect(self.codehub.database_url)
        try:
            await connection.execute("CREATE TABLE IF NOT EXISTS witness (number int PRIMARY KEY, filler text)")
            await connection.execute("INSERT INTO witness VALUES ($1, repeat('x', 2000))", number)
        finally:
            await connection.close()
        async with Redis.from_url(self.codehub.redis_url) as redis:
            await redis.sadd("witness", number)
            await redis.waitaof(1, 0, 10_000)
        if self.with_objects:
            await self._store().put(f"witness/{number}", b"home" * number)
        self.written = number

    async def _check(self) -> None:
        everything = set(range(1, self.written + 1))
        connection = await asyncpg.connect(self.codehub.database_url)
        try:
            rows = await connection.fetch("SELECT number, length(filler) AS size FROM witness")
        finally:
            await connection.close()
        assert {row["number"] for row in rows if row["size"] == 2000} == everything
        async with Redis.from_url(self.codehub.redis_url) as redis:
            assert {int(member) for member in await redis.smembers("witness")} == everything
        if self.with_objects:
            for number in everything:
                assert await read_all(self._store(), f"witness/{number}", limit=10_000) == b"home" * number

    def _store(self) -> ObjectStore:
        ports = json.loads((self.codehub.data / "ports.json").read_text())
        secrets = self.codehub.credentials
        return open_store(URL, **store_access(ports, secrets["s3_access_key"], secrets["s3_secret_key"]))
