"""Nobody fills the memory with a body."""

from collections.abc import AsyncIterator

import pytest

from codehub.web.body_limit import MOST_BYTES
from tests.web.api.people import People

LOGIN = "/api/v1/auth/login"


async def in_pieces(size: int) -> AsyncIterator[bytes]:
    yield b'{"login": "'
    for _ in range(size // 1024):
        yield b"x" * 1024
    yield b'", "password": "x"}'


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_large_is_refused_however_it_comes(people: People, *, announced: bool) -> None:
    client = await people.client(headers={"Content-Type": "application/json"})
    body = b"x" * (MOST_BYTES + 1) if announced else in_pieces(MOST_BYTES)
    answer = await client.post(LOGIN, content=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_a_body_in_pieces_is_read(people: People) -> None:
    client = await people.client(headers={"Content-Type": "application/json"})
    assert (await client.post(LOGIN, content=in_pieces(10 * 1024))).status_code == 422
