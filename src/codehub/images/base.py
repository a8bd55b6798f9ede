"""The Debian that images start from: one that is there, one from a registry, or one made here by debootstrap."""

import asyncio
import os
import re
import shutil
import tarfile
import tempfile
from pathlib import Path

import aiohttp
from aiodocker import Docker, DockerError

from codehub.images.commands import run
from codehub.images.dockerfile import DEBIAN
from codehub.images.engine import build, find_image
from codehub.images.faults import BuildFailed, explain
from codehub.images.host_access import HostAccess
from codehub.images.packages import require
from codehub.images.progress import BuildLog, Progress, Report

MADE_HERE = "codehub/debian:bookworm"
SUITE = "bookworm"
SILENCE_SECONDS = 60
"""How long a registry may say nothing. An engine behind a firewall that drops packets would wait for many minutes."""
LEFT_OUT = ("dev/*", "proc/*", "sys/*", "var/cache/apt/*", "var/lib/apt/lists/*", "var/log/*", "usr/share/man/*")


async def ensure_base(docker: Docker, wanted: str, access: HostAccess, report: Report, *, registry: bool) -> str:
    """The name of an image on the engine to build from: the wanted one, or one made here in place of Debian's."""
    own = wanted != DEBIAN
    for name in [wanted] if own else [wanted, MADE_HERE]:
        if await find_image(docker, name) is not None:
            return name
    refusal = "nothing may be pulled" if not registry else await _pull(docker, wanted, report)
    if refusal is None:
        return wanted
    if own:
        raise explain(f"The base image {wanted} is not on the engine and cannot be pulled.", [refusal])
    report(Progress("base", doing=f"{wanted} cannot be pulled: {refusal}"))
    await _make(docker, access, report)
    return MADE_HERE


async def _pull(docker: Docker, name: str, report: Report) -> str | None:
    """Pull it; else say why that does not work."""
    log = BuildLog("base", report)
    clock = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(SILENCE_SECONDS) as patience:
            async for message in docker.images.pull(name, stream=True):
                patience.reschedule(clock.time() + SILENCE_SECONDS)
                log.read(message)
    except (DockerError, aiohttp.ClientError) as error:
        return str(error)
    except TimeoutError:
        return "i/o timeout"
    return None


async def _make(docker: Docker, access: HostAccess, report: Report) -> None:
    if os.geteuid() != 0:
        raise BuildFailed(
            "Only root can make a base image without a registry.",
            "Run this command as root once, or name an image that is on the engine with --base.",
        )
    await require(("debootstrap", "debian-archive-keyring"), "Making a base image without a registry", report)
    with tempfile.TemporaryDirectory(prefix="codehub-base-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "root"
        await run(
            ("debootstrap", "--variant=minbase", SUITE, str(root), *_mirror(access)),
            "debootstrap could not make a Debian.",
            on_line=lambda line: report(Progress("base", doing="debootstrap", line=line.removeprefix("I: "))),
        )
        (root / "etc/apt/sources.list").write_text(_public_sources())
        report(Progress("base", doing="hand it to the engine"))
        context = Path(folder) / "context.tar"
        await pack_root(root, context)
        with context.open("rb") as stream:
            await build(docker, MADE_HERE, stream, report)


def _mirror(access: HostAccess) -> list[str]:
    """The one that this machine gets Debian from, if it names one."""
    return [line.split()[1] for line in access.apt if line.split()[2] == SUITE][:1]


def _public_sources() -> str:
    """Where Debian is found by everybody, security updates included; as debootstrap itself knows it, so that no mirror
    of this machine stays in the image."""
    program = Path(shutil.which("debootstrap") or "/usr/sbin/debootstrap").read_text()
    known = re.search(r'^DEF_MIRROR="(\S+)"', program, re.MULTILINE)
    if known is None:
        raise BuildFailed("This debootstrap does not say where Debian is found.", "Name a base image with --base.")
    places = ((known[1], SUITE), (known[1], f"{SUITE}-updates"), (f"{known[1]}-security", f"{SUITE}-security"))
    return "".join(f"deb {uri} {suite} main\n" for uri, suite in places)


async def pack_root(root: Path, context: Path) -> None:
    """The tree as a build context. The engine unpacks an archive that is added with owners and modes as they are, which
    is what its import call would do; that call has no counterpart in aiodocker."""
    archive = context.with_name("root.tar")
    leave_out = (f"--exclude=./{pattern}" for pattern in LEFT_OUT)
    command = ("tar", "--create", "--numeric-owner", f"--file={archive}", f"--directory={root}", *leave_out, ".")
    await run(command, "The Debian tree could not be packed.")
    dockerfile = context.with_name("Dockerfile")
    dockerfile.write_text('FROM scratch\nADD root.tar /\nCMD ["/bin/bash"]\n')

    def pack() -> None:
        with tarfile.open(context, "w") as tar:
            for file in (dockerfile, archive):
                tar.add(file, arcname=file.name)

    await asyncio.to_thread(pack)
    archive.unlink()
