"""An IDE on a machine without an engine: installed once into the data folder, for the sandbox to show to workspaces.

The same script as in the image does it. It works in a folder beside the final one, which is renamed when all is done: a
folder that has the final name is whole, whatever happened. Steps that were done are remembered, so that an attempt that
was cut off, for instance by a restart of codehub, goes on after the last of them.
"""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from codehub.errors import DiskFull
from codehub.images.commands import run
from codehub.images.host_access import find_bundle
from codehub.images.packages import require
from codehub.images.progress import Progress, Report
from codehub.images.tools import TRUST, TRUSTED, Tool

NEEDED_BYTES = 3 * 10**9
LOOK_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class LocalTool:
    """What the sandbox needs to know of an installed IDE.

    `folder` is shown read-only at its own path, beside the host's /usr, /lib, /bin and parts of /etc; the home is at
    /home/coder and the temporary folder is writable.
    """

    name: str
    release: str
    folder: Path
    command_on_socket: tuple[str, ...]
    command_on_port: tuple[str, ...]
    environment: dict[str, str]
    port: int
    health_path: str
    strip_prefix: bool

    def argv(self, socket: str) -> tuple[str, ...]:
        """How to start it so that it listens on this unix socket, which anybody who reaches its folder may use."""
        return tuple(part.replace("{socket}", socket) for part in self.command_on_socket)


def installed(tool: Tool, ide_folder: Path) -> LocalTool | None:
    """The tool, if it is there and whole."""
    folder = _final_folder(tool, ide_folder)
    return _describe(tool, folder) if folder.is_dir() else None


def _describe(tool: Tool, folder: Path) -> LocalTool:
    return LocalTool(
        name=tool.name,
        release=tool.release,
        folder=folder,
        command_on_socket=tool.command(folder, *tool.on_socket),
        command_on_port=tool.command(folder, *tool.on_port),
        environment=tool.environment(folder) | (TRUST if Path(TRUSTED).is_file() else {}),
        port=tool.port,
        health_path=tool.health_path,
        strip_prefix=tool.strip_prefix,
    )


async def install(tool: Tool, ide_folder: Path, report: Report) -> LocalTool:
    """Have it in the folder (`ide` in the data folder). Takes minutes the first time: the caller owns the task, and
    cancelling it ends the compilers too. Whoever asks meanwhile, in this process or another, waits for the same one."""
    await asyncio.to_thread(ide_folder.mkdir, parents=True, exist_ok=True)
    async with _alone(ide_folder / f".{tool.name}.lock", report) as lock:
        if (found := installed(tool, ide_folder)) is not None:
            return found
        _require_room(ide_folder)
        await require(tool.build_packages, f"Installing {tool.name}", report)
        return _describe(tool, await _run_steps(tool, ide_folder, report, lock))


def _final_folder(tool: Tool, ide_folder: Path) -> Path:
    return ide_folder / f"{tool.name}-{tool.release}"


async def _run_steps(tool: Tool, ide_folder: Path, report: Report, lock: int) -> Path:
    final = _final_folder(tool, ide_folder)
    unfinished = final.with_name(f".{final.name}.unfinished")
    remembered = final.with_name(f".{final.name}.steps")
    done = remembered.read_text().split() if remembered.exists() and unfinished.exists() else []
    cache = final.with_name(f".{tool.name}.cache")
    script = str(tool.source / "install")
    for number, step in enumerate(tool.steps, start=1):
        if step.name in done:
            continue
        now = Progress(tool.name, number, len(tool.steps), step.words)
        report(now)
        await run(
            ("sh", script, step.name, str(unfinished)),
            f"Installing {tool.name} failed ({step.words}).",
            environment=_environment(cache),
            on_line=partial(_say, now, report),
            lock=lock,
        )
        done = [*done, step.name]
        remembered.write_text("\n".join(done))
    for place, source in tool.added.items():
        shutil.copytree(source, unfinished / place, dirs_exist_ok=True)
    _move_scripts(unfinished, final)
    unfinished.rename(final)
    remembered.unlink()
    await asyncio.to_thread(shutil.rmtree, cache, ignore_errors=True)
    return final


def _say(now: Progress, report: Report, line: str) -> None:
    report(Progress(now.stage, now.step, now.steps, now.doing, line))


def _environment(cache: Path) -> dict[str, str]:
    """This machine's own way to packages, with a cache that survives a failed attempt and leaves homes alone. Node.js
    trusts certificates of its own: without being told it would refuse what everything else on the machine trusts."""
    bundle = find_bundle(os.environ)
    trust = dict.fromkeys(TRUST, str(bundle)) if bundle else {}
    return {**trust, **os.environ, "PIP_CACHE_DIR": f"{cache}/pip", "npm_config_cache": f"{cache}/npm"}


def _move_scripts(folder: Path, final: Path) -> None:
    """Let scripts that name their interpreter by its path name the one in the final folder."""
    for script in (folder / "bin").iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        with script.open("rb") as file:
            if file.read(2) != b"#!":
                continue
        content = script.read_bytes()
        script.write_bytes(content.replace(os.fsencode(folder), os.fsencode(final)))


def _require_room(ide_folder: Path) -> None:
    free = shutil.disk_usage(ide_folder).free
    if free < NEEDED_BYTES:
        raise DiskFull(
            f"There are {free / 1e9:.1f} GB free in {ide_folder}, and an IDE needs {NEEDED_BYTES / 1e9:.0f} GB.",
            "Make room.",
        )


@asynccontextmanager
async def _alone(lock: Path, report: Report) -> AsyncIterator[int]:
    """Keep other installations of the same tool out. The kernel frees the lock when nobody is left who holds it."""
    with lock.open("w") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                report(Progress("wait", doing="for another codehub that installs it"))
                await asyncio.sleep(LOOK_AGAIN_SECONDS)
        yield file.fileno()
