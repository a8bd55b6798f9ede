"""What a job is lent of a store: one archive, and of the rest nothing."""

from pathlib import Path

import pytest

from codehub.archives import lend
from codehub.archives.directory import DirectoryStore
from codehub.archives.empty import EMPTY, EMPTY_ARCHIVE, upload_empty
from codehub.archives.errors import ObjectNotFound, StoreFull, StoreLied
from codehub.archives.object_store import Loan
from codehub.archives.open import ensure_bucket, open_store
from codehub.archives.presign import part_sizes
from codehub.clock import now
from codehub.job.marker import MARKER_SUFFIX, parse_marker
from codehub.job.order import DirectoryPlace, Kind, S3Place
from codehub.stack.seaweedfs import SeaweedFS
from tests.job.orders import Desk, fresh

KEY = "workspace/archive/home.tar.zst"
SECONDS = 600


async def test_a_folder_is_made_for_an_archive_and_is_all_that_is_lent(tmp_path: Path) -> None:
    place = await DirectoryStore(tmp_path).lend(KEY, Loan(Kind.ARCHIVE, SECONDS, home_bytes=1000))
    assert place == DirectoryPlace(tmp_path / "workspace" / "archive")
    assert [oct(each.stat().st_mode)[-3:] for each in (place.folder, place.folder.parent)] == ["700", "700"]


@pytest.mark.parametrize("kind", [Kind.VERIFY, Kind.RESTORE])
async def test_nothing_is_made_for_whoever_reads(tmp_path: Path, kind: Kind) -> None:
    store = DirectoryStore(tmp_path)
    for _ in range(2):
        with pytest.raises(ObjectNotFound):
            await store.lend(KEY, Loan(kind, SECONDS))


async def test_a_home_that_can_never_fit_is_refused_before_it_is_begun(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    with pytest.raises(StoreFull, match="needs at least"):
        await store.lend(KEY, Loan(Kind.ARCHIVE, SECONDS, home_bytes=1 << 62))
    await store.lend(KEY, Loan(Kind.ARCHIVE, SECONDS, home_bytes=0))


async def test_whoever_archives_into_s3_gets_one_upload_and_earlier_ones_end(s3_server: SeaweedFS) -> None:
    await ensure_bucket("s3://lent", **s3_server.access)
    store = open_store("s3://lent/prefix", **s3_server.access)
    first, second = [await store.lend(KEY, Loan(Kind.ARCHIVE, SECONDS, socket="/way")) for _ in range(2)]
    [upload] = [each async for each in store.unfinished()]
    assert isinstance(first, S3Place)
    assert isinstance(second, S3Place)
    assert first.parts is not None
    assert second.parts is not None
    assert upload.key == KEY
    assert upload.upload_id in second.parts.complete
    assert upload.upload_id not in first.parts.complete
    assert second.socket == "/way"
    proving = await store.lend(KEY, Loan(Kind.VERIFY, SECONDS))
    assert isinstance(proving, S3Place)
    assert (proving.parts, proving.put_marker) == (None, None)
    assert [each async for each in store.unfinished()] == [], "a late job could replace what is being proven"
    assert f"X-Amz-Expires={SECONDS}" in proving.get


@pytest.mark.parametrize(("home_bytes", "needed"), [(0, 64 << 20), (9, 64 << 20), (10, (64 << 20) + 1)])
def test_a_tenth_of_a_home_and_some_reserve_have_to_fit(home_bytes: int, needed: int) -> None:
    lend._require_room(needed, home_bytes)
    with pytest.raises(StoreFull) as refused:
        lend._require_room(needed - 1, home_bytes)
    said = f"The archive store has room for {needed - 1} bytes; a home of {home_bytes} bytes needs at least {needed}."
    assert refused.value.args[0] == said
    assert "Free some space, or let ARCHIVE_URL name a larger store." in vars(refused.value).values()


def test_a_tar_is_half_larger_than_its_home_at_most_and_some_reserve() -> None:
    assert [lend.tar_bytes(size) - (64 << 20) for size in (0, 1, 2, 1000)] == [0, 1, 3, 1500]


@pytest.mark.parametrize("home_bytes", [0, 1, 10**9, 10**12])
def test_there_are_parts_enough_for_a_home_that_does_not_compress(home_bytes: int) -> None:
    part_bytes, count = part_sizes(lend.tar_bytes(home_bytes))
    assert part_bytes * count > home_bytes


# The archive of a home that never was


async def test_an_empty_archive_is_one_that_the_job_can_read(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "store")
    (tmp_path / "store").mkdir()
    assert await upload_empty(store, KEY, "workspace", "1.2.3", now()) == EMPTY
    desk = Desk(tmp_path, DirectoryPlace(tmp_path / "store" / "workspace" / "archive"), workspace_id="workspace")
    for kind in (Kind.VERIFY, Kind.RESTORE):
        assert desk.do(kind, fresh(tmp_path, kind), expected=EMPTY) == EMPTY
    assert list((tmp_path / Kind.RESTORE).iterdir()) == []


async def test_uploaded_twice_it_is_there_once(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    await upload_empty(store, KEY, "workspace", "1.2.3", now())
    before = (tmp_path / f"{KEY}{MARKER_SUFFIX}").read_bytes()
    await upload_empty(store, KEY, "workspace", "4.5.6", now())
    assert (tmp_path / f"{KEY}{MARKER_SUFFIX}").read_bytes() == before
    marker = parse_marker(before)
    assert (marker.workspace_id, marker.codehub_version, marker.totals) == ("workspace", "1.2.3", EMPTY)
    assert len(marker.made_at) == len("2026-11-15T13:15:13+00:00")


@pytest.mark.parametrize("marker", [b"{}", b'{"format": 1}'])
async def test_a_marker_of_something_else_is_not_taken_for_its_own(tmp_path: Path, marker: bytes) -> None:
    store = DirectoryStore(tmp_path)
    await store.put(f"{KEY}{MARKER_SUFFIX}", marker)
    with pytest.raises(StoreLied) as refused:
        await upload_empty(store, KEY, "workspace", "1.2.3", now())
    assert str(refused.value) == f"The archive store shows something else under {KEY} than was written there."


async def test_the_empty_archive_of_another_workspace_is_not_taken_for_its_own(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    await upload_empty(store, KEY, "another", "1.2.3", now())
    with pytest.raises(StoreLied):
        await upload_empty(store, KEY, "workspace", "1.2.3", now())


async def test_a_store_that_keeps_other_bytes_is_not_believed(tmp_path: Path) -> None:
    class LosesBytes(DirectoryStore):
        async def put(self, key: str, data: bytes) -> None:
            await super().put(key, data[:-1])

    with pytest.raises(StoreLied):
        await upload_empty(LosesBytes(tmp_path), KEY, "workspace", "1.2.3", now())
    assert len(EMPTY_ARCHIVE) == EMPTY.size
