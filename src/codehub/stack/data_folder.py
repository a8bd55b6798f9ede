"""The data folder: what lies where in it, whose it is, and when it must not be touched."""

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codehub.errors import DataFolderError, DiskFull
from codehub.stack.account import Account

VERSION = 1  # raised when an older codehub could no longer use the folder
NEEDED_MEGABYTES = 200
SOCKET_PATH_BYTES = 107  # the longest that Linux takes
FOREIGN = frozenset({"codehub.toml", ".env", "lost+found"})  # an operator's, and a fresh file system's


@dataclass(frozen=True)
class DataFolder:
    path: Path
    account: Account

    @property
    def version_file(self) -> Path:
        return self.path / "version"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    @property
    def state(self) -> Path:
        return self.path / "state.json"

    @property
    def credentials(self) -> Path:
        return self.path / "credentials.json"

    @property
    def ports(self) -> Path:
        return self.path / "ports.json"

    @property
    def programs(self) -> Path:
        return self.path / "bin"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def supervisor_log(self) -> Path:
        return self.logs / "supervisor.log"

    @property
    def archives(self) -> Path:
        return self.path / "archives"

    def of(self, service: str) -> Path:
        return self.path / service

    @property
    def installation(self) -> Path:
        """Which installation the workspaces outside this folder belong to, once a coordinator has run."""
        return self.path / "installation"

    def made_here(self) -> list[Path]:
        """Everything in the folder that codehub made; the rest is not codehub's to remove. The version goes last."""
        services = [self.of(name) for name in ("postgres", "valkey", "seaweedfs")]
        workspaces = [self.path / name for name in ("local", "homes", "ide", "inside", "relay")]
        files = [self.installation, self.state, self.credentials, self.ports, self.lock, self.version_file]
        return [
            path
            for path in (*services, *workspaces, self.path / "run", self.archives, self.logs, self.programs, *files)
            if path.exists()
        ]

    def prepare(self) -> None:
        """Make the folder, or make sure that it is one of ours that we may use; else nothing in it is touched."""
        with mapped_faults(self.path):
            if self.path.exists() and any(entry.name not in FOREIGN for entry in self.path.iterdir()):
                self.require_known()
            self.path.mkdir(parents=True, exist_ok=True)
            self.require_own()
            self.require_room()
            if self.account.is_other:
                os.chown(self.path, -1, self.account.gid)
            self.path.chmod(0o710 if self.account.is_other else 0o700)
            self.account.require_reach(self.path)
            if not self.version_file.exists():
                self.version_file.write_text(f"{VERSION}\n")
            self.logs.mkdir(exist_ok=True)
            self.logs.chmod(0o700)

    def require_known(self) -> None:
        """Refuse a folder that is not codehub's, that a newer codehub wrote, or that another user's codehub uses."""
        try:
            found = int(self.version_file.read_text())
        except FileNotFoundError:
            raise DataFolderError(
                f"The folder {self.path} is not empty and holds no data of codehub.",
                "Choose an empty or a new one with CODEHUB_DATA_DIR.",
            ) from None
        except ValueError:
            raise DataFolderError(f"The file {self.version_file} is damaged.", "It should say: 1") from None
        if found > VERSION:
            raise DataFolderError(
                f"The data folder {self.path} was written by a newer codehub (version {found}, known is {VERSION}).",
                "Upgrade this codehub.",
            )
        self.require_own()

    def require_own(self) -> None:
        """Refuse a folder of another user, who could replace what is in it, and whose own codehub could not go on."""
        owner = self.path.stat().st_uid
        if owner != os.geteuid():
            raise DataFolderError(
                f"The data folder {self.path} belongs to another user (uid {owner}).",
                "Run codehub as that user, or choose another folder with CODEHUB_DATA_DIR.",
            )

    def require_room(self) -> None:
        """Refuse to start where PostgreSQL would soon stop in the middle of its work."""
        free = shutil.disk_usage(self.path).free // 2**20
        if free < NEEDED_MEGABYTES:
            raise DiskFull(
                f"There are only {free} MB free where the data folder {self.path} lies.",
                f"Make room for at least {NEEDED_MEGABYTES} MB.",
            )

    @property
    def socket_folder(self) -> Path:
        """Inside the data folder where the paths of sockets are short enough there, else a private folder elsewhere."""
        inside = self.path / "run"
        if len(os.fsencode(inside / "postgres/.s.PGSQL.5432")) <= SOCKET_PATH_BYTES:
            return inside
        name = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        return Path("/run" if os.geteuid() == 0 else tempfile.gettempdir()) / f"codehub-{name}"

    @contextmanager
    def sockets(self) -> Iterator[Path]:
        """The folder that holds one folder of sockets per service, for as long as the services run."""
        folder = self.socket_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid != os.geteuid():  # anybody may make names in a shared folder
            raise DataFolderError(f"The folder {folder}, needed for sockets, belongs to another user.", "Remove it.")
        if self.account.is_other:
            os.chown(folder, -1, self.account.gid)
            folder.chmod(0o710)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def mapped_faults(path: Path) -> Iterator[None]:
    """Say what the operating system refuses about the folder in words that tell what to do."""
    try:
        yield
    except OSError as error:
        match error.errno:
            case errno.ENOSPC | errno.EDQUOT:
                raise DiskFull(f"The disk that holds the data folder {path} is full.", "Make room on it.") from error
            case errno.EACCES | errno.EPERM | errno.EROFS:
                what = f"The data folder {path} cannot be written: {error.strerror}."
            case _:
                what = f"The data folder {path} cannot be used: {error.strerror}."
        remedy = "Correct its owner and permissions, or choose another folder with CODEHUB_DATA_DIR."
        raise DataFolderError(what, remedy) from error
