"""The services by themselves: what they are, who may use them, and that they cannot outlive the process above them."""

import asyncpg
import obstore
import pytest
from obstore.exceptions import BaseError
from obstore.store import S3Store
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub.stack.seaweedfs import BUCKET, REGION, SeaweedFS


async def test_postgres_is_18_in_utf8_with_checksums(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        seen = {name: await connection.fetchval(f"SHOW {name}") for name in ("server_version_num", "server_encoding")}
        checksums = await connection.fetchval("SHOW data_checksums")
    finally:
        await connection.close()
    assert seen["server_version_num"].startswith("18")
    assert (seen["server_encoding"], checksums) == ("UTF8", "on")


async def test_postgres_asks_for_the_password(postgres_url: str) -> None:
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(postgres_url, password="guessed")


async def test_valkey_asks_for_the_password(redis_url: str) -> None:
    async with Redis.from_url(redis_url) as client:
        assert await client.ping()
    async with Redis.from_url(redis_url.replace("unix://:", "unix://:x")) as stranger:
        with pytest.raises(RedisError, match="username-password"):
            await stranger.ping()


async def test_seaweedfs_asks_for_the_secret(s3_server: SeaweedFS) -> None:
    stranger = S3Store(
        BUCKET,
        endpoint=s3_server.endpoint,
        region=REGION,
        access_key_id=s3_server.access_key,
        secret_access_key="guessed",
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    with pytest.raises(BaseError, match="403"):
        await obstore.put_async(stranger, "mine", b"mine")
