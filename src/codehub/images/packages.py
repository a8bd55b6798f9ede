"""Debian packages that a task on this machine needs: installed where that is possible, else named in a sentence."""

import asyncio
import os
import shutil
from collections.abc import Sequence

from codehub.errors import CodehubError
from codehub.images.commands import run
from codehub.images.progress import Progress, Report
from codehub.images.tools import TOOLS

SANDBOX = ("bubblewrap", "slirp4netns", "zstd")
"""What runs workspaces, and archives them, where no engine answers."""

_GO_ON = """
said=$(mktemp) && exec 3<>"$said" && rm "$said" && setsid --fork --wait "$@" >&3 2>&1 && exit
code=$?; cat /proc/self/fd/3; exit $code
"""
TO_THE_END = ("sh", "-c", _GO_ON, "sh")
"""Runs a command that goes on when whoever waits for it is killed. What it said is shown at once when it has failed.

A package manager that is cut off, or that cannot write what it has to say, leaves the machine half configured."""

LOCK_SECONDS = 600


def for_sandboxes() -> list[str]:
    """All that a machine without an engine needs to make its IDEs and run workspaces. `scripts/up` asks for it."""
    return sorted({*SANDBOX, *(package for tool in TOOLS.values() for package in tool.build_packages)})


async def missing(packages: Sequence[str]) -> list[str]:
    """Those that are not installed. None where there is no dpkg to ask: what is missing then shows by its absence."""
    if shutil.which("dpkg-query") is None:
        return []
    query = await asyncio.create_subprocess_exec(
        "dpkg-query",
        "--show",
        "--showformat=${db:Status-Abbrev}${Package}\n",
        *packages,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    shown, _ = await query.communicate()
    there = {line[3:] for line in shown.decode().splitlines() if line.startswith("ii")}
    return [package for package in packages if package not in there]


async def require(packages: Sequence[str], purpose: str, report: Report) -> None:
    """Have them installed. Raises a sentence with the command to run where this user cannot."""
    wanted = await missing(packages)
    if not wanted:
        return
    names = " ".join(wanted)
    if os.geteuid() != 0:
        raise CodehubError(
            f"{purpose} needs Debian packages that are missing.", f"As root, run: apt-get install {names}"
        )
    report(Progress("packages", doing=f"apt-get install {names}"))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    what = f"{names} could not be installed."
    await run(("apt-get", "update"), what, environment=environment)
    install = ("apt-get", "install", "-y", "--no-install-recommends", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}")
    await run((*TO_THE_END, *install, *wanted), what, environment=environment)
