"""Whatever an archive holds: nothing outside of the volume is touched, and what no home holds is refused."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from codehub.job.faults import Corrupt, JobFault
from codehub.job.order import Kind
from tests.job.campaign import size
from tests.job.hostile import FOLDER, all_cases
from tests.job.orders import Desk, desk_in, fresh
from tests.job.sights import sight
from tests.job.tar_files import END, entry, offer, pax, sealed

CASES = all_cases()
MUTANTS = size(small=60, large=2000)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """With an empty volume `inside` whose neighbours are as they were in the end."""
    desk = desk_in(tmp_path)
    fresh(tmp_path, "inside")
    (fresh(tmp_path, "outside") / "secret").write_text("secret")
    before = sight(tmp_path / "outside")
    yield desk
    assert sight(tmp_path / "outside") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive", "inside", "outside"]
    assert not Path("/tmp/codehub-escaped").exists()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 200


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_archive_is_refused(desk: Desk, name: str) -> None:
    offer(desk, desk.folder / "archive", CASES[name])
    for kind in (Kind.VERIFY, Kind.RESTORE):
        with pytest.raises(Corrupt) as refused:
            desk.do(kind, desk.folder / "inside")
        assert "is not what was sent" not in str(refused.value), "found by its checksum only"


def test_what_is_refused_was_not_extracted_before(desk: Desk) -> None:
    offer(desk, desk.folder / "archive", FOLDER + entry(b"../outside/new", data=b"x") + END)
    with pytest.raises(Corrupt):
        desk.do(Kind.RESTORE, desk.folder / "inside")
    assert not (desk.folder / "outside/new").exists()


def test_a_bomb_of_bytes_stops_at_what_was_declared(desk: Desk) -> None:
    tar = FOLDER + entry(b"./bomb", data=bytes(64 << 20)) + END
    offer(desk, desk.folder / "archive", tar, uncompressed=8 << 20)
    with pytest.raises(Corrupt, match="more than the 8388608 bytes"):
        desk.do(Kind.RESTORE, desk.folder / "inside")
    assert sum(path.stat().st_size for path in (desk.folder / "inside").iterdir() if path.is_file()) <= 8 << 20


def test_a_bomb_of_files_stops_at_what_was_declared(desk: Desk) -> None:
    tar = FOLDER + b"".join(entry(b"./%d" % number) for number in range(5000)) + END
    offer(desk, desk.folder / "archive", tar, entries=100)
    with pytest.raises(Corrupt, match="more than the 100 entries"):
        desk.do(Kind.RESTORE, desk.folder / "inside")
    assert len(list((desk.folder / "inside").iterdir())) <= 100


@pytest.mark.parametrize("seed", range(MUTANTS))
def test_a_header_that_was_tampered_with_leads_nowhere(desk: Desk, seed: int) -> None:
    """Bytes of any header, replaced by chance, with a checksum that is right again."""
    chosen = random.Random(seed)
    blocks = [
        *(FOLDER[at : at + 512] for at in range(0, len(FOLDER), 512)),
        *(part[at : at + 512] for part in (_LINKS, _SPARSE) for at in range(0, len(part), 512)),
    ]
    number = chosen.randrange(len(blocks))
    block = bytearray(blocks[number])
    for _ in range(chosen.randrange(1, 4)):
        block[chosen.randrange(512)] = chosen.choice([0, 46, 47, 48, 49, 50, 51, 53, 120, chosen.randrange(256)])
    blocks[number] = sealed(bytes(block)) if block[257:262] == b"ustar" else bytes(block)
    offer(desk, desk.folder / "archive", b"".join(blocks) + END)
    with pytest.raises(JobFault):
        desk.do(Kind.RESTORE, desk.folder / "inside")


_LINKS = entry(b"./up", b"2", link=b"../outside") + entry(b"./hard", b"1", link=b"./file")
_SPARSE = pax(
    GNU__sparse__major=b"1", GNU__sparse__minor=b"0", GNU__sparse__name=b"./holes", GNU__sparse__realsize=b"4096"
) + entry(b"./GNUSparseFile.0/holes", data=b"1\n0\n512\n".ljust(512, b"\0") + bytes(512))
