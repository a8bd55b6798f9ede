"""The shim of a workspace: `python -m codehub.runtimes.local.instance_shim FOLDER`."""

import os
import stat
import subprocess
import sys
from pathlib import Path

from codehub.runtimes.local import limits, network, sandbox, shim
from codehub.runtimes.local.guest import Share
from codehub.runtimes.local.records import ETC, Plan

LOG_BYTES = 1024**2


class InstanceGuest:
    """See Guest."""

    log_bytes = LOG_BYTES
    kept_open: tuple[int, ...] = ()
    errors: int | None = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plan = Plan.read(folder)
        self._connected = network.obstacle() is None

    @property
    def share(self) -> Share:
        plan = self._plan
        return Share(limits.Group(plan.name), plan.memory_bytes, plan.cpus, plan.pids)

    def prepare(self) -> None:
        etc = self._folder / ETC
        etc.mkdir(exist_ok=True)
        for name, content in sandbox.made_files(self._plan, network=self._connected).items():
            (etc / name).write_text(content)

    def command(self, arguments: int) -> list[str]:
        return sandbox.command(self._plan, self._folder, arguments)

    def arguments(self) -> list[str]:
        return sandbox.arguments(self._plan, self._folder)

    def connect(self, first: int) -> "subprocess.Popen[bytes] | None":
        network.close_off(first, network.barred(self._plan.barred))
        return network.start(first, sandbox.become(self._plan.uid)) if self._connected else None

    def publish(self) -> bool:
        """Give the IDE's socket its name outside, if it is there. As a further name of the same socket, made without
        following links: a workspace that leaves a link of its own in that place leads nobody to another socket."""
        partial = self._plan.socket.with_suffix(".new")
        partial.unlink(missing_ok=True)
        try:
            os.link(self._plan.inside / Path(sandbox.SOCKET).name, partial, follow_symlinks=False)
        except (FileNotFoundError, PermissionError):  # not there, or a folder
            return False
        if not stat.S_ISSOCK(partial.lstat().st_mode):
            partial.unlink()
            return False
        partial.rename(self._plan.socket)
        return True

    def leave(self) -> None:
        self._plan.socket.unlink(missing_ok=True)


if __name__ == "__main__":
    shim.main(Path(sys.argv[1]), InstanceGuest)
