"""Long commands on this machine: followed line by line, ended with whoever waits for them."""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from codehub.images.faults import explain
from codehub.images.progress import KEPT_LINES

LONGEST_LINE = 2**20


async def run(
    command: Sequence[str],
    what: str,
    *,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda _: None,
    lock: int | None = None,
) -> None:
    """Run it at low priority, and raise `what` with the cause when it fails.

    It leads a process group of its own, which is killed when the caller is cancelled: compilers that outlive the
    installation that started them would write into the folder of the next one. Where codehub itself is killed they do
    outlive it; so they hold its `lock`, an open file, until they end.
    """
    starting = asyncio.create_task(_start(command, environment, () if lock is None else (lock,)))
    tail: deque[str] = deque(maxlen=KEPT_LINES)
    try:
        process = await asyncio.shield(starting)  # a start that is given up half-way would leave the group alive
        assert process.stdout is not None  # noqa: S101 - asked for below
        async for raw in process.stdout:
            line = raw.decode(errors="replace").rstrip()
            tail.append(line)
            on_line(line)
        code = await process.wait()
    finally:
        process = await starting
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if code != 0:
        raise explain(what, tail)


async def _start(
    command: Sequence[str], environment: Mapping[str, str] | None, kept_open: Sequence[int]
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *("nice", "sh", "-c", 'umask 022 && exec "$@"', "sh"),  # workspaces, which are other users, read what it makes
        *command,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
        pass_fds=kept_open,
        limit=LONGEST_LINE,
    )
