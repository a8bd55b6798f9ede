"""Who the services run as: the person who starts codehub, or, when that is root, a system user of their own."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from codehub.errors import CodehubError, DataFolderError

SYSTEM_USER = "codehub"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Account:
    name: str
    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Whether a process has to change its user before it becomes the service."""
        return self.uid != os.geteuid()

    def make_folder(self, path: Path) -> None:
        """Make a folder that only this account and root can enter. Its parents stay as they are."""
        path.mkdir(exist_ok=True)
        if self.is_other:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        path.chmod(0o700)

    def write_private(self, path: Path, text: str) -> None:
        """Write a file that only this account and root can read, whole or not at all.

        Root may write into a folder of the account here, so nothing that the account left there is followed.
        """
        partial = path.with_name(f"{path.name}.new")
        partial.unlink(missing_ok=True)
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
            if self.is_other:
                os.fchown(file.fileno(), self.uid, self.gid)
            file.write(text)
        partial.rename(path)

    def require_reach(self, folder: Path) -> None:
        """Refuse a folder that lies inside somebody else's private one. Opening that one is not codehub's to decide."""
        if not self.is_other or self._reaches(folder):
            return
        closed = next(parent for parent in [*reversed(folder.parents), folder] if not self._reaches(parent))
        raise DataFolderError(
            f"The user {self.name}, who runs the services, cannot enter {closed}, where the data folder {folder} lies.",
            f"Choose another place with CODEHUB_DATA_DIR, or allow it with: chmod o+x {closed}",
        )

    def _reaches(self, folder: Path) -> bool:
        who = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups", "--"]
        return subprocess.run([*who, "test", "-x", str(folder)], check=False).returncode == 0


def current_account() -> Account:
    return _account(os.geteuid())


def find_service_account() -> Account | None:
    """The account of the services, if it is there already."""
    return current_account() if os.geteuid() != 0 else _find(SYSTEM_USER)


def service_account() -> Account:
    """The account of the services. PostgreSQL refuses to run as root, so root makes the system user `codehub` once."""
    if (found := find_service_account()) is not None:
        return found
    problem = _create_system_user()
    if (found := find_service_account()) is None:  # there in spite of a problem: another codehub was faster
        raise CodehubError(
            f"The system user {SYSTEM_USER} could not be created: {problem}.",
            "Create it, or run codehub as an ordinary user.",
        )
    return found


def _create_system_user() -> str:
    """What went wrong, if anything did. The path is ours: `su` leaves root with one that lacks useradd."""
    command = ["useradd", "--system", "--user-group", "--no-create-home", "--shell=/usr/sbin/nologin", SYSTEM_USER]
    try:
        done = subprocess.run(command, env={"PATH": SYSTEM_PATH}, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return "the program useradd is missing"
    return done.stderr.strip()


def _find(name: str) -> Account | None:
    try:
        return _account(pwd.getpwnam(name).pw_uid)
    except KeyError:
        return None


def _account(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:  # a container may run under a uid without a name
        return Account(str(uid), uid, os.getegid())
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)
