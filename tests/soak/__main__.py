"""Two installations side by side, with many who listen, for an hour: nothing of what they take may grow.

    python -m tests.soak --minutes 60 --report docs/soak-report.md

One has 1,000 workspaces on the memory runtime and 500 event streams, the other 20 real ones on Docker and 2,000
WebSockets through its front door. Samples are taken each 15 s; those of the second half decide. Ends with 1 where
something grows."""

import argparse
import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from codehub.telemetry import logs
from tests.soak.crowd import Crowd
from tests.soak.docker_installation import docker_installation
from tests.soak.memory_installation import memory_installation
from tests.soak.report import write_report
from tests.soak.sampling import samples

SAMPLE_SECONDS = 15.0


def say(words: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {words}\n")
    sys.stdout.flush()


async def soak(sizes: argparse.Namespace) -> tuple[list[dict[str, float]], int]:
    """What was sampled, and how many connections had to be made again."""
    told: list[dict[str, float]] = []
    crowd = Crowd()
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(memory_installation(sizes.workspaces))
        say(f"{sizes.workspaces} workspaces on the memory runtime")
        docker = await stack.enter_async_context(docker_installation(sizes.containers))
        say(f"{sizes.containers} workspaces on Docker")
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        begun = [
            tasks.create_task(crowd.listen(memory.address, memory.tokens[number % len(memory.tokens)]))
            for number in range(sizes.streams)
        ]
        for number in range(sizes.websockets):
            browser, workspace_id = docker.doors[number % len(docker.doors)]
            begun.append(tasks.create_task(crowd.talk(browser, workspace_id)))
        begun.append(tasks.create_task(samples([memory.sampled, docker.sampled], SAMPLE_SECONDS, told)))
        for minute in range(round(sizes.minutes)):
            await asyncio.sleep(60)
            say(f"{minute + 1} min: {_in_short(told[-1])}; {crowd.came_again} came again")
        for task in begun:
            task.cancel()
    return told, crowd.came_again


def _in_short(sample: Mapping[str, float]) -> str:
    return ", ".join(
        f"{figure} {value:.0f}" for figure, value in sample.items() if figure.endswith((" MB", "scriptors"))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    sizes = {"workspaces": 1000, "containers": 20, "streams": 500, "websockets": 2000}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help=f"default: {size}")
    parser.add_argument("--report", type=Path, required=True, help="the page that is written")
    chosen = parser.parse_args()
    logs.configure("error", "console")
    told, came_again = uvloop.run(soak(chosen))
    about = ", ".join(f"{getattr(chosen, name)} {name}" for name in sizes)
    found = write_report(
        told, f"{chosen.minutes:g} minutes, {about}; {came_again} connections came again.", chosen.report
    )
    for verdict in found:
        say(f"{'flat ' if verdict.is_flat else 'GROWS'} {verdict.figure}: {verdict.median:.1f} {verdict.growth:+.1f}")
    sys.exit(0 if all(verdict.is_flat for verdict in found) else 1)


if __name__ == "__main__":
    main()
