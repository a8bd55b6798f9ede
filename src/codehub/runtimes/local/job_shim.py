"""The shim of a job: `python -m codehub.runtimes.local.job_shim FOLDER`, with the order as standard input.

The order is a file that is in memory only and has no name. It goes from hand to hand as an open descriptor, and the job
reads it by the descriptor's number: it is never on a disk, in a command line or in an environment."""

import os
import sys
from pathlib import Path

from codehub.job import order
from codehub.job.order import Kind
from codehub.runtimes.job_view import HOME, LOG_BYTES, MEMORY_BYTES, PIDS, writes_home
from codehub.runtimes.local import limits, sandbox, shim
from codehub.runtimes.local.guest import Share
from codehub.runtimes.local.job_records import JobPlan
from codehub.runtimes.local.users import READERS

PROGRAM = Path("/job/program")
"""Where Python finds the package `codehub`, of which the job is all that is there."""
PYTHON = Path("/usr/bin/python3")
TEMPORARY_BYTES = 16 * 1024**2
POWERS = {Kind.ARCHIVE: "CAP_DAC_READ_SEARCH", Kind.VERIFY: "CAP_DAC_READ_SEARCH", Kind.RESTORE: "CAP_DAC_OVERRIDE"}
"""Over the files of the workspace's own user: those that it has closed to itself are archived and restored, too."""
FROM_HOST = (
    "alternatives", "ca-certificates", "crypto-policies", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "pki/ca-trust",
    "pki/tls/certs", "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(PROGRAM)}
LOWEST_PRIORITY = ("nice", "-n", "19", "ionice", "-c", "3")


class JobGuest:
    """See Guest."""

    log_bytes = LOG_BYTES
    errors: int | None = sys.stderr.fileno()

    def __init__(self, folder: Path) -> None:
        self._plan = JobPlan.read(folder)
        self._order = os.dup(sys.stdin.fileno())
        self.kept_open: tuple[int, ...] = (self._order,)
        self._program = Path(order.__file__).parent
        self._seen: dict[Path, Path] = {}

    @property
    def share(self) -> Share:
        group = limits.Group(self._plan.name, limits.PARENT_OF_JOBS)
        return Share(group, MEMORY_BYTES, None, PIDS)

    def prepare(self) -> None:
        sources = (self._plan.home, self._plan.place, self._program)
        self._seen = sandbox.seen_by(self._plan.uid, sources)

    def command(self, arguments: int) -> list[str]:
        job = (str(_python()), "-s", "-m", "codehub.job", self._plan.kind, f"/dev/fd/{self._order}")
        become = sandbox.become(self._plan.uid, READERS)
        limited = limits.command(MEMORY_BYTES, PIDS)
        return sandbox.chain(self._seen, become, limited, arguments, (*LOWEST_PRIORITY, *job))

    def arguments(self) -> list[str]:
        """Nothing of the host is in the sandbox but what is named here. It sees one home, the way to one archive, and
        programs; it may write only to what it is there to write."""
        plan, seen = self._plan, self._seen
        told: list[str] = [
            *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
            *("--disable-userns", "--uid", str(sandbox.UID), "--gid", str(sandbox.UID)),
            *("--cap-drop", "ALL", "--cap-add", POWERS[plan.kind]),
            *("--die-with-parent", "--new-session", "--hostname", "job"),
            *sandbox.system(),
        ]
        for name in FROM_HOST:
            told += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        told += ("--proc", "/proc", "--dev", "/dev", "--size", str(TEMPORARY_BYTES), "--tmpfs", "/tmp")  # noqa: S108
        told += ("--ro-bind", str(seen[self._program]), str(PROGRAM / "codehub/job"))
        told += ("--bind" if writes_home(plan.kind) else "--ro-bind", str(seen[plan.home]), str(HOME))
        told += ("--bind" if plan.writes_place else "--ro-bind", str(seen[plan.place]), str(plan.place_inside))
        told += ("--remount-ro", "/", "--chdir", "/", "--clearenv")
        for name, value in ENVIRONMENT.items():
            told += ("--setenv", name, value)
        return told

    def connect(self, first: int) -> None:
        """Its network namespace stays as it was made: without so much as a loopback interface that is up."""

    def publish(self) -> bool:
        return True

    def leave(self) -> None:
        """Nothing of it is anywhere else."""


def _python() -> Path:
    """Our own, if the sandbox shows it: that is known to be new enough."""
    own = Path(sys.executable).resolve()
    return own if own.is_relative_to("/usr") else PYTHON


if __name__ == "__main__":
    shim.main(Path(sys.argv[1]), JobGuest)
