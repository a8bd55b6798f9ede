"""Find everything that a directory store holds, in key order."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codehub.archives.draft import parse_draft
from codehub.archives.folders import foreign, opened
from codehub.archives.keys import is_legal, split_prefix


@dataclass(frozen=True, slots=True)
class Found:
    """A file of the store: an object, or with an upload id the draft of one."""

    key: str
    upload_id: str | None
    status: os.stat_result


def walk(root: Path, prefix: str) -> Iterator[Found]:
    """Every file whose key begins with the prefix; complete, or raising.

    What vanishes meanwhile was deleted. Names that no key can spell were put there by others and are passed over; a
    link is an error, since what lies behind it may be a part of the store.
    """
    folders, _ = split_prefix(prefix)
    yield from _walk(root, folders, prefix)


def _walk(root: Path, folders: tuple[str, ...], prefix: str) -> Iterator[Found]:
    try:
        with opened(root, folders) as folder, os.scandir(folder) as entries:
            statuses = {entry.name: status for entry in entries if (status := _status(entry))}
    except FileNotFoundError:
        return
    for name in sorted(statuses, key=lambda name: f"{name}/" if stat.S_ISDIR(statuses[name].st_mode) else name):
        status = statuses[name]
        object_name, upload_id = parse_draft(name) or (name, None)
        key = "/".join((*folders, object_name))
        if not key.startswith(prefix) or not is_legal(key):
            continue
        if stat.S_ISREG(status.st_mode):
            yield Found(key, upload_id, status)
        elif not stat.S_ISDIR(status.st_mode):
            raise foreign(key)
        elif upload_id is None:
            yield from _walk(root, (*folders, name), prefix)


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
