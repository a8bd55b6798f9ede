"""Archives that want out, want too much, or want to be read differently by two programs. Each has its name."""

from collections.abc import Iterator
from itertools import product

from tests.job.tar_files import END, entry, header, pax, raw_pax, record

OUTSIDE = b"../outside/secret"
PATHS = {
    "parent": OUTSIDE,
    "parent below": b"./" + OUTSIDE,
    "parent of a folder": b"./folder/../" + OUTSIDE,
    "parent at the end": b"./folder/..",
    "absolute": b"/tmp/codehub-escaped",
    "two slashes first": b"//tmp/codehub-escaped",
    "no dot": b"plain",
    "empty": b"",
    "the home as a file": b".",
    "dot inside": b"./folder/./file",
    "empty inside": b"./folder//file",
    "slash at the end": b"./file/",
    "too long": b"./" + b"n/" * 2100 + b"n",
    "a name too long": b"./" + b"n" * 256,
    "a folder that is not there": b"./nowhere/file",
}
FOLDER = entry(b"./", b"5") + entry(b"./folder/", b"5") + entry(b"./file", data=b"harmless")
LINKS = {"absolute": b"/tmp", "up": b"../outside", "beside": b"folder"}
THROUGH = {
    "file": entry(b"./link/secret", data=b"overwritten"),
    "folder": entry(b"./link/new/", b"5"),
    "fifo": entry(b"./link/fifo", b"6"),
    "symlink": entry(b"./link/link", b"2", link=b"x"),
    "hard link": entry(b"./link/hard", b"1", link=b"./file"),
}
KINDS = [b"3", b"4", b"7", b"A", b"D", b"K", b"L", b"M", b"N", b"S", b"V", b"X", b"g", b"\0", b" ", b"\xff"]
RECORDS = {
    "hdrcharset": b"BINARY", "comment": b"x", "atime": b"1", "ctime": b"1", "uname": b"root", "gname": b"root",
    "GNU__sparse__map": b"0,1", "GNU__sparse__size": b"1", "GNU__sparse__offset": b"1", "GNU__sparse__numblocks": b"1",
    "GNU__dumpdir": b"Yx\0\0", "GNU__volume__label": b"x", "GNU__volume__offset": b"1", "RHT__security__selinux": b"x",
    "SCHILY__xattr__security__capability": b"x", "SCHILY__xattr__trusted__x": b"x", "SCHILY__fflags": b"x",
    "SCHILY__dev": b"1", "SCHILY__realsize": b"1", "LIBARCHIVE__xattr__user__x": b"eA",
}  # fmt: skip
BODIES = {
    "no length": b"path=./x\n",
    "length too short": b"5 path=./x\n",
    "length too long": b"99 path=./x\n",
    "length of zero": b"0 path=./x\n",
    "no end": b"12 path=./x ",
    "no name": b"8 =abcd\n",
    "twice": record(b"path", b"./x") * 2,
    "negative size": record(b"size", b"-1"),
    "size in words": record(b"size", b"many"),
    "NUL in a path": record(b"path", b"./x\0/../../y"),
    "too long": record(b"SCHILY.xattr.user.x", bytes(5 << 20)),
    "sparse without its form": record(b"GNU.sparse.name", b"./x"),
    "sparse of form 0.1": record(b"GNU.sparse.major", b"0") + record(b"GNU.sparse.minor", b"1"),
}


def escapes() -> Iterator[tuple[str, bytes]]:
    for (name, path), (what, kind) in product(PATHS.items(), {"file": b"0", "folder": b"5", "fifo": b"6"}.items()):
        if what == "folder" and name in {"the home as a file", "slash at the end"}:
            continue
        said = f"{what} by path: {name}"
        if len(path) <= 100:
            yield said, entry(path, kind)
        yield f"{said}, extended", pax(path=path) + entry(b"./x", kind)
    for name, path in PATHS.items():
        form = {"GNU__sparse__major": b"1", "GNU__sparse__minor": b"0", "GNU__sparse__realsize": b"9"}
        yield f"sparse file by path: {name}", pax(**form, GNU__sparse__name=path) + entry(b"./x", data=b"0\n")
        if name not in {"a folder that is not there", "the home as a file"}:
            if len(path) <= 100:
                yield f"hard link: {name}", entry(b"./hard", b"1", link=path)
            yield f"hard link, extended: {name}", pax(linkpath=path) + entry(b"./hard", b"1")


def through_links() -> Iterator[tuple[str, bytes]]:
    for (target, link), (what, below) in product(LINKS.items(), THROUGH.items()):
        yield f"{what} through a link: {target}", entry(b"./link", b"2", link=link) + below
        swapped = entry(b"./link/", b"5") + entry(b"./link", b"2", link=link)
        yield f"{what} through a folder that becomes a link: {target}", swapped + below


def odd_headers() -> Iterator[tuple[str, bytes]]:
    for kind in KINDS:
        yield f"kind {kind!r}", entry(b"./x", kind)
    for kind in (b"1", b"2", b"5", b"6"):
        yield f"content of kind {kind!r}", entry(b"./x", kind, data=b"content", link=b"./file")
    for name, value in RECORDS.items():
        yield f"record {name.replace('__', '.')}", pax(**{name: value}) + entry(b"./x")
    for name, body in BODIES.items():
        yield f"extended header: {name}", raw_pax(body) + entry(b"./x")
    yield "two extended headers", pax(mtime=b"1") + pax(path=b"./x") + entry(b"./x")
    yield "an extended header of nothing", pax(mtime=b"1")
    yield "GNU's own magic", header(b"./x", magic=b"ustar  \0")
    yield "no magic", header(b"./x", magic=b"\0" * 8)
    yield "a name in two parts", header(b"x", prefix=b"./folder")
    for size in (b"\x80" + bytes(10) + b"\1", b"-0000000001\0", b"           \0", b"00000000001 ", b"9" * 11 + b"\0"):
        yield f"size {size!r}", header(b"./x", size_field=size)
    broken = header(b"./x")
    yield "a wrong checksum before a hidden entry", broken[:148] + b"000000\0 " + broken[156:] + entry(b"../y")
    yield "a checksum that is wrong by a turn of Adler's", _off_by(broken, 65521)


def _off_by(block: bytes, more: int) -> bytes:
    return block[:148] + b"%06o\0 " % (int(block[148:154], 8) + more) + block[156:]


def ends() -> Iterator[tuple[str, bytes]]:
    """These bring their own end, or none."""
    whole = FOLDER + END
    yield "no end", FOLDER
    yield "half an end", FOLDER + bytes(512)
    yield "a lone block of zeros", FOLDER + bytes(512) + entry(b"../y") + END
    yield "an entry behind the end", whole + entry(b"./y") + END
    yield "noise behind the end", whole + b"noise".ljust(512)
    yield "not a multiple of blocks", whole + b"\0"
    yield "cut within content", (FOLDER + entry(b"./long", data=bytes(5000)))[:-1000]
    yield "not a tar", b"this is no tar" * 100
    yield "nothing", b""


def all_cases() -> dict[str, bytes]:
    inner = {name: FOLDER + tar + END for group in (escapes(), through_links(), odd_headers()) for name, tar in group}
    return inner | dict(ends())
