"""Debian packages that a task on this machine needs: installed where that is possible, else named in a sentence."""

import asyncio
import os
import shutil
from collections.abc import Sequence

from codehub.errors import CodehubError
from codehub.images.commands import run
from codehub.images.progress import Progress, Report


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
    await run(("apt-get", "install", "-y", "--no-install-recommends", *wanted), what, environment=environment)
