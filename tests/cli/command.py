"""The `codehub` command as a person runs it: a process of its own, with an environment of its own."""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SECONDS = 60


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:  # noqa: ANN401 (whatever was written)
        """What a program reads from its output."""
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)

    def error(self) -> dict[str, Any]:
        """What a program reads from a failure."""
        told: dict[str, Any] = json.loads(self.stderr)
        assert told["exit_code"] == self.code
        return told


@dataclass(frozen=True)
class Command:
    """Runs `codehub` in a folder. Nothing of the environment of the tests reaches it."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set for all of its commands."""

    patience_seconds: float = SECONDS

    async def __call__(self, *arguments: str, given: str = "", **variables: str) -> Outcome:
        """What it says in the end. `given` is what it reads from its standard input."""
        async with self.running(*arguments, variables=variables) as process, asyncio.timeout(self.patience_seconds):
            stdout, stderr = await process.communicate(given.encode())
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
                **self.variables,
                **variables,
            },
            stdin=asyncio.subprocess.PIPE,
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
