"""The services by themselves: what they are, who may use them, and that they cannot outlive the process above them."""

import os
from pathlib import Path

import asyncpg
import httpx
import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError

from codehub.archives.errors import StoreRefused
from codehub.archives.open import open_store
from codehub.stack import seaweedfs
from codehub.stack.seaweedfs import URL, SeaweedFS


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
    stranger = open_store(URL, **s3_server.access | {"s3_secret_access_key": "guessed"})
    with pytest.raises(StoreRefused):
        await stranger.put("mine", b"mine")


async def test_seaweedfs_keeps_its_inner_ports_to_itself(s3_server: SeaweedFS) -> None:
    """They are open to every user of the machine, so what answers there must ask for a signature."""
    async with httpx.AsyncClient() as stranger:
        answer = await stranger.get(f"http://127.0.0.1:{s3_server.ports['filer.port']}/buckets/")
    assert answer.status_code == 401


def test_seaweedfs_is_given_no_port_whose_socket_was_left_behind() -> None:
    """By another user, perhaps: it could not remove it."""
    port = 19_000 + os.getpid() % 1000  # below those that are given, and another one for each who runs this
    left = Path(f"/tmp/seaweedfs-volume-grpc-{port}.sock")
    assert not seaweedfs._is_left(port)
    left.touch()
    try:
        assert seaweedfs._is_left(port)
    finally:
        left.unlink()
