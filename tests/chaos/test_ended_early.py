"""A campaign that is asked to end leaves nothing behind."""

import asyncio
import re
import signal
import sys
import tempfile
from pathlib import Path

import pytest

from codehub.runtimes.docker.runtime import DockerRuntime
from tests.chaos.__main__ import ENDED_EARLY
from tests.job.campaign import LARGE
from tests.runtimes.docker.tool_image import HOST

PATIENCE_SECONDS = 300


def left_of(pid: int) -> list[str]:
    """Folders and mounted disks, which are named by whoever made them."""
    folders = [str(path) for path in Path(tempfile.gettempdir()).glob(f"codehub-tests-{pid}-*")]
    mounts = Path("/proc/mounts").read_text().splitlines()
    return folders + [line for line in mounts if f"codehub-tests-{pid}-" in line]


def left_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.skipif(not LARGE, reason="takes a minute: CODEHUB_TEST_CAMPAIGN=1")
@pytest.mark.timeout(3 * PATIENCE_SECONDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
async def test_nothing_is_left_of_a_campaign_that_was_asked_to_end(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "tests.chaos", "--seed", "1", "--histories", str(tmp_path)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_SECONDS):
        installation = re.search("installation ([0-9a-f]+) is up", (await process.stdout.readline()).decode())
        assert installation is not None
        assert "are at work" in (await process.stdout.readline()).decode()
    runtime = DockerRuntime(installation[1], HOST)
    try:
        assert await runtime.instances.list()
        process.send_signal(number)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await process.communicate()
        assert process.returncode == ENDED_EARLY
        assert await runtime.instances.list() == ()
        assert await runtime.volumes.list() == ()
    finally:
        await runtime.close()
    assert left_of(process.pid) == []
    assert left_in(tmp_path) == ["seed-1.partial"]
