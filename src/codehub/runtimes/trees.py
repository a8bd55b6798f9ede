"""File trees that a workspace has had its hands on. GNU's tools handle them: they follow no link and know no depth or
length of path that would stop them, unlike a walk in Python, which a workspace could make run out of stack."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from codehub.runtimes.errors import RuntimeFault


async def remove(trees: Iterable[Path]) -> None:
    """Remove them with all that is in them. Folders that their owner has closed are opened first: an ordinary user
    could not empty them, unlike root."""
    for tree in trees:
        if os.geteuid() != 0:
            await _run("chmod", "--recursive", "--silent", "u+rwx", "--", str(tree))
        code, _, complaint = await _run("rm", "--recursive", "--force", "--one-file-system", "--", str(tree))
        if code != 0:
            raise RuntimeFault(f"{tree} cannot be removed: {complaint}")


async def size(tree: Path) -> int:
    """How many bytes it takes on the disk, holes left out and each file counted once. What cannot be read, or goes
    away meanwhile, is left out too."""
    _, counted, complaint = await _run("du", "--summarize", "--one-file-system", "--block-size=1", "--", str(tree))
    if not counted:
        raise RuntimeFault(f"{tree} cannot be counted: {complaint}")
    return int(counted.split()[0])


async def _run(*command: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, output.decode(errors="replace"), errors.decode(errors="replace").strip()[-500:]
