"""What passes through WebSockets of workspaces is recorded where an operator asks for it, readable by nobody else."""

import asyncio
import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.proxy.activity.recording import Direction
from tests.coordinators.house import until
from tests.databases import create_database, drop_database
from tests.faults.real_house import new_installation
from tests.folders import short_folder
from tests.front_door.house import SECONDS, House, house
from tests.proxy.activity.recording import Piece, read

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def codehub(postgres_url: str, migrated_template: str, redis_url: str) -> Iterator[House]:
    url = asyncio.run(create_database(postgres_url, migrated_template))
    asyncio.run(new_installation(url))
    with short_folder() as folder, house(url, redis_url, folder, PROXY_RECORD_FOLDER=f"{folder}/recordings") as running:
        yield running
    asyncio.run(drop_database(postgres_url, url))


def said(pieces: list[Piece], direction: Direction) -> bytes:
    return b"".join(piece.data for piece in pieces if piece.direction is direction)


def whole(folder: Path) -> tuple[Path, list[Piece]] | None:
    """The recording, once it was closed."""
    for file in folder.glob("*.xz"):
        target, pieces = read(file) if file.stat().st_size else (b"", [])
        if target.endswith(b"/socket?x=1") and said(pieces, Direction.FROM_SERVER).endswith(b"a" * 100):
            return file, pieces
    return None


async def test_a_recording_is_what_passed_and_private(codehub: House) -> None:
    ada = await codehub.person()
    garden = await ada.workspace("garden")
    browser = await ada.at(garden)
    async with browser.websocket(f"{browser.origin(garden)}/socket?x=1") as socket:
        await socket.told()
        await socket.say(b"a" * 100)
        assert await socket.hear() == b"a" * 100

    async def recorded() -> tuple[Path, list[Piece]] | None:
        return whole(Path(codehub.environment["PROXY_RECORD_FOLDER"]))

    file, pieces = await until(recorded, SECONDS)
    assert len(said(pieces, Direction.FROM_CLIENT)) >= 106, "as it was sent: masked, in a frame"
    assert file.name.startswith(garden.hex)
    assert file.stat().st_mode & 0o777 == 0o600
    assert b"codehub" not in lzma.decompress(file.read_bytes()).split(b"\n", 1)[0], "no cookie or token of ours"
