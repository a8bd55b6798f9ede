"""What a home looks like, in full, so that two can be compared; made by other means than the job's."""

import hashlib
import os
import stat
from pathlib import Path

Sight = dict[bytes, tuple[object, ...]]
ACCESS_LISTS = ("system.posix_acl_access", "system.posix_acl_default")


def sight(home: Path) -> Sight:
    """Every entry but sockets: kind, mode, owner, time, content or target, attributes, and its other names."""
    root = os.fsencode(home)
    seen: Sight = {}
    names: dict[int, list[bytes]] = {}
    pending = [b""]
    while pending:
        path = pending.pop()
        status = os.lstat(root + path)
        if stat.S_ISSOCK(status.st_mode):
            continue
        if stat.S_ISDIR(status.st_mode):
            pending += [path + b"/" + name for name in os.listdir(root + path)]
        else:
            names.setdefault(status.st_ino, []).append(path)
        seen[path] = (
            stat.filemode(status.st_mode),
            status.st_uid,
            status.st_gid,
            status.st_mtime_ns,
            _content(root + path, status),
            _attributes(root + path),
        )
    others = {path: tuple(sorted(group)) for group in names.values() for path in group}
    return {path: (*seen[path], others.get(path)) for path in seen}


def allocated(home: Path) -> int:
    """How much of the disk the files take: holes take nothing."""
    return sum(path.lstat().st_blocks * 512 for path in home.rglob("*"))


def _content(path: bytes, status: os.stat_result) -> object:
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(status.st_mode):
        return None
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return status.st_size, digest.hexdigest()


def _attributes(path: bytes) -> dict[str, bytes]:
    found = os.listxattr(path, follow_symlinks=False)
    kept = [name for name in found if name.startswith("user.") or name in ACCESS_LISTS]
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in kept}
