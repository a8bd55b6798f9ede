"""The stream of an archive, judged as it comes: what a home holds passes, everything else is named and refused."""

import hashlib

import pytest

from codehub.job.faults import Corrupt
from codehub.job.tar_headers import (
    FIFO,
    HARD_LINK,
    PATH_BYTES,
    PAX_BYTES,
    SYMLINK,
    Entry,
    Header,
    block_size,
    parse_entry,
    parse_header,
    parse_pax,
)
from codehub.job.tar_headers import FOLDER as IS_FOLDER
from codehub.job.tar_index import TarIndex
from tests.job.hostile import FOLDER, all_cases
from tests.job.tar_files import END, entry, header, padded, pax, raw_pax, record

PLENTY = 1 << 40
HOSTILE = all_cases()
LONG = b"./" + b"n" * 98  # as long as a header alone can name it
TARGET = b"t" * 100  # as long as a header alone can say it, up to its last byte
SPARSE = {"GNU__sparse__major": b"1", "GNU__sparse__minor": b"0", "GNU__sparse__realsize": b"4096"}
HOME = [
    (entry(b"./", b"5"), b"."),
    (pax(mtime=b"1700000000.5") + entry(b"./folder/", b"5"), b"./folder"),
    (entry(b"./folder/file", data=b"x" * 700), b"./folder/file"),
    (entry(b"./folder/below/", b"5"), b"./folder/below"),
    (pax(path=b"./folder/below/" + b"n" * 255) + entry(b"./short", data=b"y" * 512), b"./folder/below/" + b"n" * 255),
    (entry(LONG, data=b"z"), LONG),
    (entry(b"./link", b"2", link=TARGET), b"./link"),
    (pax(linkpath=b"t" * 300) + entry(b"./long-link", b"2", link=b"cut"), b"./long-link"),
    (entry(b"./hard", b"1", link=b"./folder/file"), b"./hard"),
    (entry(b"./fifo", b"6"), b"./fifo"),
    (pax(size=b"600") + header(b"./sized") + padded(b"s" * 600), b"./sized"),
    (pax(**SPARSE, GNU__sparse__name=b"./holes") + entry(b"./GNUSparseFile.0/holes", data=b"0\n"), b"./holes"),
    (pax(SCHILY__xattr__user__note=b"kept", SCHILY__acl__access=b"u::rw-") + entry(b"./dressed"), b"./dressed"),
]
TAR = b"".join(part for part, _ in HOME) + END
NAMES = [name for _, name in HOME]


def judged(tar: bytes, *, piece: int = PLENTY, max_bytes: int = PLENTY, max_entries: int = PLENTY) -> TarIndex:
    """The index of a stream that has come in pieces of this size, to its end."""
    index = TarIndex(max_bytes=max_bytes, max_entries=max_entries)
    for at in range(0, len(tar), piece):
        index.feed(tar[at : at + piece])
    index.finish()
    return index


def refusal(tar: bytes, **limits: int) -> str:
    with pytest.raises(Corrupt) as refused:
        judged(tar, **limits)
    return str(refused.value)


@pytest.mark.parametrize("piece", [1, 7, 511, 512, 513, 1024, 1300, PLENTY])
def test_a_home_is_counted_whatever_pieces_it_comes_in(piece: int) -> None:
    index = judged(TAR, piece=piece)
    manifest = b"".join(name + b"\0" for name in NAMES)
    assert (index.bytes, index.entries) == (len(TAR), len(NAMES))
    assert index.manifest_sha256 == hashlib.sha256(manifest).hexdigest()


@pytest.mark.parametrize("piece", [700, PLENTY])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused_whatever_pieces_it_comes_in(name: str, piece: int) -> None:
    refusal(HOSTILE[name], piece=piece)


def test_more_zeros_may_follow_the_end() -> None:
    assert judged(TAR + bytes(10 * 512)).entries == len(NAMES)


def test_an_archive_may_have_as_much_as_it_was_said_to_have_and_no_more() -> None:
    assert judged(TAR, max_bytes=len(TAR), max_entries=len(NAMES)).entries == len(NAMES)
    said = "The archive unpacks to more than the 9215 bytes that it may have."
    assert refusal(entry(b"./", b"5") * 18, max_bytes=9215) == said
    said = f"The archive has more than the {len(NAMES) - 1} entries that it may have."
    assert refusal(TAR, max_entries=len(NAMES) - 1) == said


END_MISSING = "The archive ends before its end."
END_PASSED = "The archive goes on after its end."
BROKEN = "The archive has a broken header."
BROKEN_RECORDS = "The archive has an extended header that is too long, or two of one entry."


@pytest.mark.parametrize(
    ("tar", "said"),
    [
        (b"", END_MISSING),
        (FOLDER, END_MISSING),
        (FOLDER + bytes(512), END_MISSING),
        (FOLDER + END + b"\0", END_MISSING),
        (FOLDER + END + bytes(511), END_MISSING),
        (FOLDER + header(b"./cut", size=512), END_MISSING),
        (FOLDER + END + entry(b"./y"), END_PASSED),
        (FOLDER + bytes(512) + entry(b"./y") + END, END_PASSED),
        (FOLDER + pax(path=b"./y") + END, END_PASSED),
        (FOLDER + b"noise".ljust(512), BROKEN),
        (FOLDER + pax(path=b"./x") + pax(path=b"./y") + entry(b"./z"), BROKEN_RECORDS),
        (FOLDER + header(b"./PaxHeaders/x", b"x", size=PAX_BYTES + 1), BROKEN_RECORDS),
        (entry(b"."), "The archive replaces the home itself."),
        (entry(b"./", b"5") + entry(b"./", b"5"), "The archive replaces the home itself."),
        (FOLDER + entry(b"./none/x"), "The archive has an entry outside of the folders before it: './none/x'."),
        (
            entry(b"./", b"5") + pax(path=b"./none/" + b"n" * 250) + entry(b"./x"),
            f"The archive has an entry outside of the folders before it: './none/{'n' * 193}'.",
        ),
    ],
)
def test_what_is_refused_is_named(tar: bytes, said: str) -> None:
    assert refusal(tar) == said


def test_a_folder_is_over_when_something_outside_of_it_follows() -> None:
    inside = entry(b"./a/", b"5") + entry(b"./a/b/", b"5") + entry(b"./a/b/file")
    assert judged(entry(b"./", b"5") + inside + entry(b"./a/back") + END).entries == 5
    assert "./a/b/late" in refusal(entry(b"./", b"5") + inside + entry(b"./a/back") + entry(b"./a/b/late"))
    assert "./a/back" in refusal(entry(b"./", b"5") + inside + entry(b"./out") + entry(b"./a/back"))


def test_nothing_is_below_a_file() -> None:
    assert "./file/below" in refusal(FOLDER + entry(b"./file/below"))


def test_records_are_those_of_the_next_entry_alone() -> None:
    renamed = pax(path=b"./renamed") + entry(b"./x") + entry(b"./y")
    expected = hashlib.sha256(b".\0./renamed\0./y\0").hexdigest()
    assert judged(entry(b"./", b"5") + renamed + END).manifest_sha256 == expected


def test_attributes_may_be_as_long_as_they_can_be_read() -> None:
    name = b"SCHILY.xattr.user.long"
    body = record(name, bytes(PAX_BYTES - len(record(name, b"")) - 5))
    assert len(body) == PAX_BYTES
    assert judged(entry(b"./", b"5") + raw_pax(body) + entry(b"./x") + END, piece=1 << 20).entries == 2


def test_a_header_says_kind_size_link_and_name() -> None:
    assert parse_header(header(LONG, b"2", size=0o7654, link=TARGET)) == Header(b"2", 0o7654, TARGET, LONG)
    assert parse_header(header(b"./x", b"2", link=b"there")) == Header(b"2", 0, b"there", b"./x")


@pytest.mark.parametrize("at", [0, 99, 100, 135, 157, 255, 256, 264, 330, 500, 511])
def test_every_byte_of_a_header_is_in_its_checksum(at: int) -> None:
    whole = bytearray(header(LONG, b"2", link=TARGET))
    whole[at] ^= 1
    with pytest.raises(Corrupt):
        parse_header(bytes(whole))


def test_a_wrong_checksum_is_named() -> None:
    with pytest.raises(Corrupt) as refused:
        parse_header(header(b"./x").replace(b"./x", b"./y"))
    assert str(refused.value) == "The archive has a header with a wrong checksum."


def test_a_checksum_may_be_as_large_as_bytes_can_make_it() -> None:
    block = b"\xff" * 100 + header(b"./x", b"2", link=b"\xff" * 100)[100:148]
    rest = header(b"./x", b"2", link=b"\xff" * 100)[156:]
    total = sum(block) + 8 * 32 + sum(rest)
    assert parse_header(block + b"%06o\0 " % total + rest).name == b"\xff" * 100


@pytest.mark.parametrize(("size", "taken"), [(0, 0), (1, 512), (511, 512), (512, 512), (513, 1024)])
def test_content_takes_whole_blocks(size: int, taken: int) -> None:
    assert block_size(size) == taken


def test_records_are_read_in_full() -> None:
    body = record(b"path", b"./a=b\nc") + record(b"SCHILY.xattr.user.x", b"") + record(b"size", b"12")
    assert parse_pax(body) == {b"path": b"./a=b\nc", b"SCHILY.xattr.user.x": b"", b"size": b"12"}
    assert parse_pax(b"") == {}


BAD_RECORDS = "The archive has a broken extended header."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"path=./x\n", BAD_RECORDS),
        (b"99 path=./x\n", BAD_RECORDS),
        (b"13 path=./x\n", BAD_RECORDS),
        (b"7 path=\n", BAD_RECORDS),
        (b"12 path=./x ", BAD_RECORDS),
        (b"99 mtime=1700000000\n", BAD_RECORDS),
        (b"19 mtime=1700000000\n", BAD_RECORDS),
        (record(b"path", b"./x") + b"noise", BAD_RECORDS),
        (record(b"comment", b"x"), "The archive has an extended header that no home needs: 'comment'."),
        (record(b"path", b"x") * 2, "The archive has an extended header that no home needs: 'path'."),
        (record(b"SCHILY.xattr.security.x", b"x"), "'SCHILY.xattr.security.x'."),
    ],
)
def test_records_that_are_none_are_named(body: bytes, said: str) -> None:
    with pytest.raises(Corrupt) as refused:
        parse_pax(body)
    assert str(refused.value).endswith(said)


def test_a_record_ends_where_it_says() -> None:
    assert parse_pax(b"8 path=\n") == {b"path": b""}


def test_records_win_over_their_header() -> None:
    said = {b"path": b"./long", b"size": b"7"}
    assert parse_entry(Header(b"0", 1, b"", b"./short"), said) == Entry(b"0", b"./long", 7)
    assert parse_entry(Header(b"0", 1, b"", b"./short"), {b"mtime": b"1"}) == Entry(b"0", b"./short", 1)
    sparse = {b"GNU.sparse.major": b"1", b"GNU.sparse.minor": b"0", b"GNU.sparse.realsize": b"9"}
    named = sparse | {b"GNU.sparse.name": b"./holes", b"path": b"./GNUSparseFile.0/holes"}
    assert parse_entry(Header(b"0", 512, b"", b"./short"), named) == Entry(b"0", b"./holes", 512)


FORM = "The archive has a sparse file of another form than 1.0."
NUMBER = "The archive has an extended header without its number."
FORM_1_0 = {b"GNU.sparse.major": b"1", b"GNU.sparse.minor": b"0"}
NO_PATH = "The archive has a path that no home has, or that could lead out of it: ''."
NO_FILE = "The archive has an entry that is no file, with content or a broken link: './x'."


@pytest.mark.parametrize(
    ("kind", "records", "said"),
    [
        (b"0", {b"size": b"many"}, NUMBER),
        (b"0", {b"size": b"1" * 20}, NUMBER),
        (b"0", FORM_1_0 | {b"GNU.sparse.name": b"./y"}, NUMBER),
        (b"0", FORM_1_0 | {b"GNU.sparse.realsize": b"9"}, NO_PATH),
        (b"0", {b"GNU.sparse.major": b"1", b"GNU.sparse.realsize": b"9"}, FORM),
        (b"0", {b"GNU.sparse.minor": b"0", b"GNU.sparse.realsize": b"9"}, FORM),
        (b"5", FORM_1_0 | {b"GNU.sparse.realsize": b"9", b"GNU.sparse.name": b"./y"}, FORM),
        (b"3", {}, "The archive holds a device."),
        (b"g", {}, "The archive holds a global header."),
        (b"V", {}, "The archive holds an unknown kind of entry."),
        (SYMLINK, {b"size": b"1"}, NO_FILE),
        (FIFO, {b"size": b"1"}, NO_FILE),
        (SYMLINK, {b"linkpath": b"a\0b"}, NO_FILE),
        (IS_FOLDER, {b"linkpath": b"a\0b"}, NO_FILE),
        (HARD_LINK, {b"linkpath": b"../y"}, NO_PATH.replace("''", "'../y'")),
    ],
)
def test_an_entry_that_no_home_holds_is_named(kind: bytes, records: dict[bytes, bytes], said: str) -> None:
    with pytest.raises(Corrupt) as refused:
        parse_entry(Header(kind, 0, b"./link", b"./x"), records)
    assert str(refused.value) == said


def test_a_path_is_as_long_as_a_system_call_takes() -> None:
    longest = b"./" + b"n/" * 2046 + b"n"
    assert len(longest) == PATH_BYTES
    assert parse_entry(Header(b"0", 0, b"", b""), {b"path": longest}).name == longest
    with pytest.raises(Corrupt) as refused:
        parse_entry(Header(b"0", 0, b"", b""), {b"path": longest + b"n"})
    assert str(refused.value).endswith(f"lead out of it: './{'n/' * 99}'.")


def test_one_slash_ends_the_name_of_a_folder_and_of_nothing_else() -> None:
    assert parse_entry(Header(b"5", 0, b"", b"./x/"), {}).name == b"./x"
    for kind, name in ((b"5", b"./x//"), (b"0", b"./x/")):
        with pytest.raises(Corrupt):
            parse_entry(Header(kind, 0, b"", name), {})
