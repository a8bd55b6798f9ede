"""Programs of the host that do what the engine cannot."""

import asyncio

from codehub.runtimes.errors import RuntimeFault

COMMAND_SECONDS = 120  # a busy disk takes long over a sync or an unmount


class CommandFailed(RuntimeFault):
    """It ended with an error, or not at all; its own words are in the message."""


async def run(*command: str, given: str = "") -> None:
    code, said = await _outcome(*command, given=given)
    if code != 0:
        raise CommandFailed(f"{command[0]} failed: {said.strip()}")


async def succeeds(*command: str) -> bool:
    code, _ = await _outcome(*command)
    return code == 0


async def _outcome(*command: str, given: str = "") -> tuple[int | None, str]:
    # No pipe where nothing is said: one that ends at once closes it while uvloop still writes to it.
    stdin = asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(COMMAND_SECONDS):
            _, said = await process.communicate(given.encode() or None)
    except TimeoutError as error:
        raise CommandFailed(f"{command[0]} did not end within {COMMAND_SECONDS} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode, said.decode(errors="replace")
