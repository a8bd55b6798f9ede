"""Who a workspace is on the host: as root a user of its own, so that even outside of its sandbox it could touch nothing
but its own files."""

import os
from pathlib import Path
from random import SystemRandom
from uuid import UUID

from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.local.folders import Folders

USERS = 2**20
FIRST = 2**30
"""Far above people, services and the ranges that /etc/subuid hands out, and below those of systemd."""
RANGES = 256
READERS = FIRST - 1
"""The group on the host that jobs are in, and nobody else: archives of the directory store are open to it."""
FILE = "first-uid"


def user_of(workspace_id: UUID, folders: Folders) -> int | None:
    """The same for a workspace's whole life and never another's: files with its number may be left in backups. None
    where codehub itself is an ordinary user, who cannot become another.

    Each is taken by a link that points to its workspace, which exists whole or not at all."""
    if os.geteuid() != 0:
        return None
    first = int(folders.remembered(FILE, _some_range))
    taken = folders.own / "users"
    taken.mkdir(mode=0o700, exist_ok=True)
    for step in range(USERS):
        uid = first + (workspace_id.int + step) % USERS
        if _takes(taken / str(uid), str(workspace_id)):
            return uid
    raise RuntimeFault(f"all {USERS} users for workspaces are taken")


def _takes(place: Path, owner: str) -> bool:
    try:
        place.symlink_to(owner)
    except FileExistsError:
        return str(place.readlink()) == owner
    return True


def _some_range() -> str:
    """Installations on one machine hardly ever share one."""
    return str(FIRST + SystemRandom().randrange(RANGES) * USERS)
