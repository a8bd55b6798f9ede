"""`codehub reset`: what would be lost, and the removal of exactly that."""

import shutil
from pathlib import Path

from codehub.stack.data_folder import DataFolder, mapped_faults
from codehub.stack.running import hold_lock

_MEANING = {
    "postgres": "the database: users, workspaces and their history",
    "archives": "the archived homes of sleeping workspaces",
    "seaweedfs": "the archived homes of sleeping workspaces, in the embedded S3 server",
    "local": "the homes of workspaces that ran without an engine",
    "homes": "the homes of workspaces",
    "ide": "the IDEs installed for workspaces without an engine",
    "valkey": "hints and recent activity",
    "credentials.json": "the passwords of the embedded services",
    "logs": "the logs of all parts",
}


def losses(folder: DataFolder) -> list[str]:
    """One line for each thing that would be gone, with its size. A folder that is not codehub's is refused."""
    made = folder.made_here()
    if made:
        folder.require_known()
    return [f"{path.name:<18}{_megabytes(path):>8.1f} MB  {_MEANING.get(path.name, '')}".rstrip() for path in made]


def remove(folder: DataFolder) -> None:
    """Remove what codehub made, the mark that says so last, so that a removal cut short can be repeated."""
    with mapped_faults(folder.path):
        with hold_lock(folder):
            for path in folder.made_here():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path != folder.version_file:
                    path.unlink()
        folder.version_file.unlink(missing_ok=True)
        if not any(folder.path.iterdir()):
            folder.path.rmdir()


def _megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if not file.is_dir()) / 2**20
