"""What `codehub doctor` finds out by trying."""

from pathlib import Path

import pytest

from codehub.archives import lend
from codehub.archives.errors import StoreFull
from codehub.archives.open import open_store
from codehub.stack import doctor


async def test_an_archive_store_without_room_for_any_home_is_unfit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path.as_uri())
    assert await doctor._try_promises(store) == "works, and keeps its promises"
    monkeypatch.setattr(lend, "RESERVE_BYTES", 1 << 60)
    with pytest.raises(StoreFull, match="a home of 0 bytes needs at least"):
        await doctor._try_promises(store)
