"""What a machine lacks for running workspaces without an engine, said so that its administrator can act on it."""

import os
import shutil
import subprocess
from pathlib import Path

from codehub.runtimes.local import limits, network
from codehub.runtimes.local.users import FIRST, RANGES, READERS, USERS

PROGRAMS = {
    "bwrap": "bubblewrap",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "prlimit": "util-linux",
    "mount": "mount",
}
FOR_JOBS = {"ionice": "util-linux", "tar": "tar", "zstd": "zstd", "/usr/bin/python3": "python3"}
UID_MAP = Path("/proc/self/uid_map")
ANYBODY = 65534
TRY_SECONDS = 10
TRIAL = (
    *("unshare", "--user", "--map-root-user", "--net", "--"),
    *("bwrap", "--unshare-user", "--unshare-pid", "--disable-userns", "--uid", "1000", "--gid", "1000"),
    *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"),
)


def obstacles() -> list[str]:
    """Why no workspace can start here at all, a sentence each. Blocks."""
    found = [f"{program} is missing (package {package})" for program, package in PROGRAMS.items() if _lacks(program)]
    if not found and (refusal := _sandbox_refused()):
        found.append(f"an ordinary user cannot make a sandbox here: {refusal}")
    if os.geteuid() == 0 and not _users_mapped():
        found.append("this container has too few users to give each workspace its own")
    return [f"Nothing can be started, because {reason}." for reason in found]


def shortcomings() -> list[str]:
    """What workspaces that do start have to do without, a sentence each. Only the last where all is well. Blocks."""
    found = []
    if os.geteuid() != 0:
        found.append("All workspaces are codehub's own user on the host; as root each would have a user of its own.")
    if obstacle := network.obstacle():
        found.append(f"Workspaces have no network, because {obstacle}.")
    if obstacle := limits.groups_obstacle():
        found.append(
            "Memory is limited for each process but not for a workspace as a whole, and CPU time not at all, because "
            f"{obstacle}."
        )
        if not limits.processes_counted_by_sandbox():
            found.append("The number of a workspace's processes is not limited, because Linux is older than 5.14.")
    if lack := lack_of_jobs():
        found.append(f"Homes can be neither archived nor restored, because {lack}.")
    found.append("Homes have no size limit of their own: one workspace can fill the disk of all.")
    return found


def lack_of_jobs() -> str | None:
    lacking = [f"{program} is missing (package {package})" for program, package in FOR_JOBS.items() if _lacks(program)]
    return " and ".join(lacking) or None


def _lacks(program: str) -> bool:
    return shutil.which(program) is None


def _sandbox_refused() -> str | None:
    """Try it, as somebody without privileges: that is who makes a sandbox. User namespaces may be forbidden, /proc may
    be hidden by a container around us, and bubblewrap may be older than 0.8."""
    who = ["setpriv", f"--reuid={ANYBODY}", f"--regid={ANYBODY}", "--clear-groups", "--"] if os.geteuid() == 0 else []
    tried = subprocess.run(
        [*who, *TRIAL],
        check=False,
        capture_output=True,
        text=True,
        timeout=TRY_SECONDS,
    )
    return (tried.stderr.strip() or f"exit code {tried.returncode}") if tried.returncode else None


def _users_mapped() -> bool:
    """Whether the numbers of the workspaces' users exist here; inside some containers only the first 65,536 do."""
    spans = (map(int, line.split()) for line in UID_MAP.read_text().splitlines())
    return any(start <= READERS and start + count >= FIRST + RANGES * USERS for start, _, count in spans)
