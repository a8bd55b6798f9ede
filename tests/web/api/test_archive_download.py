"""Archives as files: whole and in parts, while the store is away, and with readers who leave."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from fastapi import FastAPI

from codehub.model.states import ErrorReason, Phase
from codehub.web import downloads
from codehub.web.parts import Parts
from tests.web.api.people import People, User
from tests.web.api.served import served
from tests.web.api.shelf import Shelf, Shelved
from tests.web.api.workspaces import ROOT, Owner

LARGE = os.urandom(1024) * 16 * 1024  # more than all buffers on the way together
PATIENCE_SECONDS = 20.0


@pytest.fixture
async def garden(ada: Owner) -> dict[str, Any]:
    return await ada.create("garden")


@pytest.fixture
async def made(garden: dict[str, Any], shelf: Shelf) -> Shelved:
    return await shelf.put(garden, b"0123456789")


def path(workspace: dict[str, Any], archive: Shelved) -> str:
    return f"{ROOT}/{workspace['id']}/archives/{archive.id}/download"


async def test_an_archive_comes_as_a_file_with_its_checksum(ada: Owner, garden: dict[str, Any], made: Shelved) -> None:
    answer = await ada.client.get(path(garden, made))
    assert (answer.status_code, answer.content) == (200, made.content)
    headers = answer.headers
    assert (headers["content-type"], headers["content-length"]) == ("application/zstd", "10")
    assert (headers["etag"], headers["accept-ranges"]) == (f'"{made.sha256}"', "bytes")
    assert headers["repr-digest"] == f"sha-256=:{base64.b64encode(bytes.fromhex(made.sha256)).decode()}:"
    name = "garden-1-2026-03-02.tar.zst"
    assert headers["content-disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    assert await ada.count("audit_log WHERE action = 'archive.download' AND actor = 'ada'") == 1


async def test_any_name_makes_a_good_file_name(ada: Owner, shelf: Shelf) -> None:
    workspace = await ada.create('정원 "1"; x')
    answer = await ada.client.get(path(workspace, await shelf.put(workspace)))
    plain, _, encoded = answer.headers["content-disposition"].partition("; filename*=UTF-8''")
    assert plain == 'attachment; filename="__ _1__ x-1-2026-03-02.tar.zst"'
    assert encoded == "%EC%A0%95%EC%9B%90%20%221%22%3B%20x-1-2026-03-02.tar.zst"


@pytest.mark.parametrize(
    ("wanted", "part", "told"),
    [("bytes=4-", b"456789", "bytes 4-9/10"), ("bytes=2-3", b"23", "bytes 2-3/10"), ("bytes=-1", b"9", "bytes 9-9/10")],
)
async def test_a_part_of_it_can_be_had(
    ada: Owner, garden: dict[str, Any], made: Shelved, wanted: str, part: bytes, told: str
) -> None:
    answer = await ada.client.get(path(garden, made), headers={"Range": wanted, "If-Range": f'"{made.sha256}"'})
    assert (answer.status_code, answer.content, answer.headers["content-range"]) == (206, part, told)
    assert answer.headers["content-length"] == str(len(part))


async def test_a_part_of_something_else_is_the_whole(ada: Owner, garden: dict[str, Any], made: Shelved) -> None:
    for headers in ({"Range": "bytes=4-", "If-Range": '"other"'}, {"Range": "bytes=1-2,4-5"}, {"Range": "pages=1"}):
        answer = await ada.client.get(path(garden, made), headers=headers)
        assert (answer.status_code, answer.content) == (200, made.content)


async def test_a_part_behind_the_end_is_refused(ada: Owner, garden: dict[str, Any], made: Shelved) -> None:
    answer = await ada.client.get(path(garden, made), headers={"Range": "bytes=10-"})
    assert (answer.status_code, answer.json()["code"]) == (416, "range_not_there")
    assert answer.headers["content-range"] == "bytes */10"


async def test_a_copy_that_is_the_same_is_not_sent_again(ada: Owner, garden: dict[str, Any], made: Shelved) -> None:
    answer = await ada.client.get(path(garden, made), headers={"If-None-Match": f'"x", "{made.sha256}"'})
    assert (answer.status_code, answer.content) == (304, b"")
    assert await ada.count("audit_log WHERE action = 'archive.download'") == 0


async def test_files_can_be_had_while_their_workspace_does_not_start_and_after_its_deletion(
    ada: Owner, garden: dict[str, Any], made: Shelved
) -> None:
    await ada.becomes(garden, Phase.ERROR, ErrorReason.ACTION_FAILED)
    assert (await ada.client.get(path(garden, made))).content == made.content
    await ada.delete(garden)
    assert (await ada.client.get(path(garden, made))).content == made.content


async def test_what_the_store_does_not_hold_as_it_was_proven_is_not_sent(
    ada: Owner, garden: dict[str, Any], made: Shelved, shelf: Shelf
) -> None:
    await shelf.store.put(made.key, b"another")
    longer = await ada.client.get(path(garden, made))
    assert (longer.status_code, longer.json()["code"]) == (409, "archive_damaged")
    await shelf.store.delete(made.key)
    gone = await ada.client.get(path(garden, made))
    assert (gone.status_code, gone.json()["code"]) == (409, "archive_damaged")


@contextmanager
def away(folder: Path) -> Iterator[None]:
    """As if its disk were not mounted."""
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    yield
    elsewhere.rename(folder)


async def test_a_store_that_is_away_is_told(
    ada: Owner, garden: dict[str, Any], made: Shelved, archives: Path, app: FastAPI
) -> None:
    with away(archives):
        answer = await ada.client.get(path(garden, made))
    assert (answer.status_code, answer.json()["code"]) == (503, "archive_store_away")
    assert int(answer.headers["retry-after"]) > 0
    assert (await ada.client.get(path(garden, made))).status_code == 200
    assert under_way(app) == {}


def under_way(app: FastAPI) -> dict[Any, int]:
    """How many downloads each user holds a place for."""
    parts: Parts = app.state.parts
    return dict(parts.downloads._under_way)


async def until_nobody_reads(app: FastAPI) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while under_way(app) or open_files("home.tar.zst"):
            await asyncio.sleep(0.02)


def open_files(name: str) -> int:
    """How many descriptors of this process lead to a file of this name."""
    links = (each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
    return sum(link.name == name for link in links)


@asynccontextmanager
async def begun(address: str, secret: str, what: str) -> AsyncIterator[httpx.Response]:
    """A download whose beginning has been read."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx.AsyncClient(base_url=address, timeout=PATIENCE_SECONDS, trust_env=False) as client,
        client.stream("GET", what, headers=headers) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        yield answer


class TestOverARealConnection:
    @pytest.fixture
    async def large(self, garden: dict[str, Any], shelf: Shelf) -> Shelved:
        return await shelf.put(garden, LARGE)

    async def test_a_large_one_comes_whole(
        self, app: FastAPI, people: People, user: User, garden: dict[str, Any], large: Shelved
    ) -> None:
        token = await people.token(user)
        async with served(app) as address, begun(address, token.value, path(garden, large)) as answer:
            assert await answer.aread() == LARGE
        await until_nobody_reads(app)

    async def test_a_reader_who_leaves_frees_everything(
        self, app: FastAPI, people: People, user: User, garden: dict[str, Any], large: Shelved
    ) -> None:
        token = await people.token(user)
        async with served(app) as address:
            async with begun(address, token.value, path(garden, large)) as answer:
                await anext(answer.aiter_raw(1024))
                assert list(under_way(app).values()) == [1]
            await until_nobody_reads(app)

    async def test_one_user_has_a_few_at_once(
        self, app: FastAPI, people: People, user: User, ada: Owner, garden: dict[str, Any], large: Shelved
    ) -> None:
        token = await people.token(user)
        async with served(app) as address:
            readers = [begun(address, token.value, path(garden, large)) for _ in range(downloads.MOST_AT_ONCE)]
            for each in readers:
                await each.__aenter__()
            refused = await ada.client.get(path(garden, large))
            assert (refused.status_code, refused.json()["code"]) == (429, "too_many_downloads")
            for each in readers:
                await each.__aexit__(None, None, None)
            await until_nobody_reads(app)
        assert (await ada.client.get(path(garden, large), headers={"Range": "bytes=0-0"})).status_code == 206

    async def test_a_token_that_is_revoked_ends_what_it_began_and_no_part_looks_whole(
        self,
        app: FastAPI,
        people: People,
        user: User,
        garden: dict[str, Any],
        large: Shelved,
        pool: asyncpg.Pool,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(downloads, "CHECK_SECONDS", 0.0)
        token = await people.token(user)
        async with served(app) as address, begun(address, token.value, path(garden, large)) as answer:
            pieces = answer.aiter_raw(1024)
            await anext(pieces)
            await pool.execute("DELETE FROM api_tokens WHERE id = $1", token.id)
            app.state.parts.callers.forget()
            with pytest.raises(httpx.RemoteProtocolError):
                async for _ in pieces:
                    pass
        await until_nobody_reads(app)

    async def test_a_store_that_fails_in_the_middle_breaks_the_connection(
        self, app: FastAPI, people: People, user: User, garden: dict[str, Any], large: Shelved, archives: Path
    ) -> None:
        token = await people.token(user)
        async with served(app) as address, begun(address, token.value, path(garden, large)) as answer:
            pieces = answer.aiter_raw(1024)
            await anext(pieces)
            os.truncate(archives / large.key, 1024 * 1024)
            with pytest.raises(httpx.RemoteProtocolError):
                async for _ in pieces:
                    pass
        await until_nobody_reads(app)
