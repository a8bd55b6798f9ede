"""The `codehub` command as a person runs it: a process of its own, with an environment of its own."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

SECONDS = 30


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """Runs `codehub` in a folder. Nothing of the environment of the tests reaches it."""

    folder: Path

    async def __call__(self, *arguments: str, **variables: str) -> Outcome:
        async with self.running(*arguments, variables=variables) as process, asyncio.timeout(SECONDS):
            stdout, stderr = await process.communicate()
        return Outcome(process.returncode or 0, stdout.decode(), stderr.decode())

    @contextlib.asynccontextmanager
    async def running(
        self, *arguments: str, variables: Mapping[str, str], pass_fds: Sequence[int] = ()
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """The process while it runs; it does not outlive the block."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "codehub", *arguments),
            cwd=self.folder,
            env={
                "HOME": str(self.folder),
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "CODEHUB_DATA_DIR": str(self.folder / "data"),
                "COLUMNS": "80",
                **variables,
            },
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=pass_fds,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()


async def answer_of(url: str, status: int = 200) -> httpx.Response:
    """The first answer with this status."""
    async with asyncio.timeout(SECONDS), httpx.AsyncClient(trust_env=False) as client:
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await client.get(url)
                if answer.status_code == status:
                    return answer
            await asyncio.sleep(0.05)
