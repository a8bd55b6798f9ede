"""Two installations side by side, with many who come and go, for an hour: nothing of what they take may grow.

    python -m tests.soak --minutes 60 --report docs/soak-report.md

One has 1,000 workspaces on the memory runtime and 500 event streams, the other 20 real ones on Docker and 2,000
WebSockets through its front door. Samples are taken each 15 s; those of the second half decide. Ends with 1 where
something grows or a process ends. Whatever ends it sooner, the report tells what was seen until then."""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path

import uvloop

from codehub.telemetry import logs
from tests.soak.docker_installation import docker_installation
from tests.soak.memory_installation import memory_installation
from tests.soak.report import Run, write_report
from tests.soak.sampling import samples
from tests.soak.series import verdicts

SAMPLE_SECONDS = 15.0
SIZES = {"workspaces": 1000, "containers": 20, "streams": 500, "websockets": 2000}


def say(words: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {words}\n")
    sys.stdout.flush()


async def soak(sizes: Mapping[str, int], minutes: int, run: Run) -> None:
    """What is seen is told to the run."""
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(memory_installation(sizes["workspaces"]))
        say(f"{sizes['workspaces']} workspaces on the memory runtime")
        docker = await stack.enter_async_context(docker_installation(sizes["containers"]))
        say(f"{sizes['containers']} workspaces on Docker")
        run.installations += [memory.sampled, docker.sampled]
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        begun = [tasks.create_task(samples(run.installations, SAMPLE_SECONDS, run.samples))]
        begun.append(tasks.create_task(run.crowd.rock(docker.person, docker.unvisited)))
        for number in range(sizes["streams"]):
            token = memory.tokens[number % len(memory.tokens)]
            begun.append(tasks.create_task(run.crowd.listen(memory.address, token)))
        for number in range(sizes["websockets"]):
            browser, workspace_id = docker.doors[number % len(docker.doors)]
            begun.append(tasks.create_task(run.crowd.talk(browser, workspace_id)))
        await _pass(minutes, run)
        for task in begun:
            task.cancel()


async def _pass(minutes: int, run: Run) -> None:
    """The time, or less where somebody ends it."""
    enough = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, enough.set)
    for minute in range(minutes):
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                await enough.wait()
        say(f"{minute + 1} min: {json.dumps(run.samples[-1])} {run.crowd}")
        for verdict in verdicts(run.samples):
            if not verdict.is_flat:
                say(f"  {verdict.figure} rises by {verdict.rise:.1f} so far")
        if enough.is_set():
            return


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=60)
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"default: {size}")
    parser.add_argument("--report", type=Path, required=True, help="the page that is written")
    chosen = parser.parse_args()
    logs.configure("error", "console")
    sizes = {name: getattr(chosen, name) for name in SIZES}
    run = Run(sizes)
    try:
        uvloop.run(soak(sizes, chosen.minutes, run))
    finally:
        found = write_report(run, chosen.report) if run.samples else []
    for verdict in found:
        say(f"{'flat ' if verdict.is_flat else 'GROWS'} {verdict.figure}: {verdict.median:.1f} {verdict.rise:+.1f}")
    is_whole = not any(installation.replaced for installation in run.installations)
    sys.exit(0 if is_whole and all(verdict.is_flat for verdict in found) else 1)


if __name__ == "__main__":
    main()
