"""A disk of a campaign is full for as long as it is told to be, with what lies on it."""

import errno
from pathlib import Path

import pytest

from tests.chaos.disk import can_be_made, disk

pytestmark = pytest.mark.skipif(not can_be_made(), reason="only root can make a disk, and not in every container")


async def test_nothing_can_be_written_while_it_is_full(tmp_path: Path) -> None:
    with disk(tmp_path / "disk") as made:
        page = made.folder / "page"
        page.write_text("before")
        async with made.full():
            with pytest.raises(OSError, match="No space left") as refused:
                (made.folder / "another").write_bytes(bytes(10_000))
            assert refused.value.errno == errno.ENOSPC
            assert page.read_text() == "before"
        (made.folder / "another").write_bytes(bytes(10_000))
        assert page.read_text() == "before"
    assert list(made.folder.iterdir()) == []
