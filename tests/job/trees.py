"""Random homes: whatever a file system lets a user make, made on a real one."""

import os
import socket
import stat
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

IS_ROOT = os.geteuid() == 0
MIB = 1024 * 1024


@dataclass(frozen=True)
class Item:
    """One entry below the root: what it is, and what is set on it once everything is there."""

    kind: int
    content: tuple[tuple[int, bytes], ...] = ()  # pieces and how far each is behind the one before: holes lie between
    target: bytes = b""
    mode: int = 0o644
    mtime_ns: int = 0
    owner: int = 0
    attributes: dict[str, bytes] = field(default_factory=dict)
    items: "dict[bytes, Item]" = field(default_factory=dict)
    again: bytes = b""  # a second name beside it, as a hard link


def _is_name(name: bytes) -> bool:
    return name not in {b".", b".."} and b"/" not in name and b"\0" not in name


ODD_NAMES = [
    b"-rf",
    b"new\nline",
    b"\xff\xfe",
    b" ",
    b"a" * 255,
    b"home.tar.zst",
    b"*",
    b"\\",
    b"--to-command=x",
    b"@x",
]
names = st.one_of(st.binary(min_size=1, max_size=20).filter(_is_name), st.sampled_from(ODD_NAMES))
targets = st.binary(min_size=1, max_size=200).filter(lambda target: b"\0" not in target)
holes = st.sampled_from([0, 1, 511, 512, 4096, 65536, 3 * MIB])
contents = st.lists(st.tuples(holes, st.binary(max_size=2000)), max_size=4).map(tuple)
mtimes = st.integers(min_value=-(2**31) * 10**9, max_value=2**33 * 10**9)
attribute_characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
attribute_names = st.text(attribute_characters, min_size=1, max_size=20).map("user.".__add__)
attributes = st.dictionaries(attribute_names, st.binary(max_size=100), max_size=3)
owners = st.sampled_from([0, 1000, 65534, 2**31] if IS_ROOT else [os.geteuid()])
modes = st.integers(0, 0o7777).map(lambda mode: mode if IS_ROOT else mode | 0o700)

common = {"mode": modes, "mtime_ns": mtimes, "owner": owners}
files = st.builds(
    Item, st.just(stat.S_IFREG), content=contents, attributes=attributes, again=st.just(b"") | names, **common
)
links = st.builds(Item, st.just(stat.S_IFLNK), target=targets, mtime_ns=mtimes, owner=owners)
fifos = st.builds(Item, st.just(stat.S_IFIFO), **common)
sockets = st.builds(Item, st.just(stat.S_IFSOCK))
leaves = st.one_of(files, files, links, fifos, sockets)
items = st.recursive(
    leaves,
    lambda below: st.builds(
        Item, st.just(stat.S_IFDIR), items=st.dictionaries(names, below, max_size=5), attributes=attributes, **common
    ),
    max_leaves=12,
)
homes = st.builds(
    Item, st.just(stat.S_IFDIR), items=st.dictionaries(names, items, max_size=6), attributes=attributes, **common
)


def build(home: Item, folder: Path) -> None:
    """Make it there; the folder itself becomes the home."""
    folder.mkdir()
    _fill(home, os.fsencode(folder))
    _dress(home, os.fsencode(folder))


def _fill(folder: Item, path: bytes) -> None:
    for name, item in folder.items.items():
        below = path + b"/" + name
        _MAKE[item.kind](item, below)
        if item.again and item.again not in folder.items and not os.path.lexists(path + b"/" + item.again):
            os.link(below, path + b"/" + item.again)
    for name, item in folder.items.items():
        _dress(item, path + b"/" + name)


def _make_folder(item: Item, path: bytes) -> None:
    os.mkdir(path)
    _fill(item, path)


def _make_file(item: Item, path: bytes) -> None:
    with open(path, "xb") as file:
        for gap, piece in item.content:
            file.seek(gap, os.SEEK_CUR)
            file.write(piece)
        file.truncate()


def _make_socket(_: Item, path: bytes) -> None:
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(b"/proc/self/fd/%d/s" % descriptor)  # the path of a socket is short, its name need not be
    os.rename(os.path.dirname(path) + b"/s", path)
    os.close(descriptor)


def _dress(item: Item, path: bytes) -> None:
    if item.kind == stat.S_IFSOCK:
        return
    os.lchown(path, item.owner, item.owner)
    for name, value in item.attributes.items():
        os.setxattr(path, name, value)
    if item.kind != stat.S_IFLNK:
        os.chmod(path, item.mode)
    os.utime(path, ns=(item.mtime_ns, item.mtime_ns), follow_symlinks=False)


_MAKE = {
    stat.S_IFREG: _make_file,
    stat.S_IFDIR: _make_folder,
    stat.S_IFLNK: lambda item, path: os.symlink(item.target, path),
    stat.S_IFIFO: lambda _, path: os.mkfifo(path),
    stat.S_IFSOCK: _make_socket,
}
