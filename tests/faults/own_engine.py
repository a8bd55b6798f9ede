"""A Docker engine that a test may stop, start and replace, without harm to the one that all others use.

It has a network namespace of its own, for two engines in one take each other's bridges and rules away; whoever wants to
reach its containers has to be in there too (`within`)."""

import asyncio
import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import aiodocker
import pytest
from aiodocker.exceptions import DockerError

from tests.coordinators.house import until
from tests.folders import short_folder
from tests.runtimes.docker import tool_image
from tests.runtimes.docker.outside import ip

IMAGE = "codehub-test:own"
STARTS = 3
DIES_WITH_US = ("setpriv", "--pdeathsig", "TERM")


@dataclass
class OwnEngine:
    folder: Path
    namespace: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    @property
    def within(self) -> list[str]:
        """How to run a command where its containers can be reached. Not by `ip netns exec`, which hides the control
        groups that an engine needs."""
        return ["nsenter", f"--net=/run/netns/{self.namespace}"]

    async def start(self, disk: str = "disk") -> None:
        """With all that it had when it was last started on this disk; with nothing on a new one."""
        options = {"data-root": disk, "exec-root": "run", "pidfile": "pid"}
        paths = [f"--{option}={self.folder / place}" for option, place in options.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(  # noqa: ASYNC220 (it outlives this call)
                [*DIES_WITH_US, *self.within, "dockerd", *paths, f"--host={self.host}", "--bridge=none"],
                stdout=log,
                stderr=log,
            )
        await until(self._answers, 60)

    async def _answers(self) -> bool | None:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
        try:
            async with aiodocker.Docker(url=self.host) as docker:
                await docker.version()
        except (DockerError, OSError):
            return None
        return True

    async def stop(self) -> None:
        """Its containers end with it."""
        if self.process is not None:
            self.process.terminate()
            await asyncio.to_thread(self.process.wait, 60)
            self.process = None

    async def kill(self) -> None:
        """Without a word, and the part of it that holds containers too. Those outlive it, and it ends them when it is
        back."""
        assert self.process is not None
        holder = self.folder / "run/containerd/containerd.pid"
        process_id = int(holder.read_text())
        self.process.kill()
        await asyncio.to_thread(self.process.wait, 60)
        self.process = None
        with suppress(ProcessLookupError):
            os.kill(process_id, signal.SIGKILL)
        holder.unlink(missing_ok=True)

    async def revive(self) -> None:
        """As a supervisor does: an engine may give up on a busy machine, and is started again."""
        for _ in range(STARTS):
            with suppress(AssertionError):
                return await self.start()
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def mounted(self) -> list[str]:
        """What is mounted below its folder, the innermost first."""
        places = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
        return [place for place in reversed(places) if place.startswith(f"{self.folder}/")]

    def give(self, image: str) -> None:
        """An image of the engine that all others use."""
        saved = subprocess.run(["docker", "--host", tool_image.HOST, "save", image], check=True, capture_output=True)
        loading = ["docker", "--host", self.host, "load"]
        subprocess.run(loading, input=saved.stdout, check=True, capture_output=True)


@asynccontextmanager
async def own_engine() -> AsyncIterator[OwnEngine]:
    """Running, and with the tests' tool as its only image."""
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        pytest.skip("only root can start an engine, and one has to be installed")
    with short_folder() as folder:
        engine = OwnEngine(folder, f"cht{secrets.token_hex(4)}")
        await ip("netns", "add", engine.namespace)
        try:
            await engine.start()
            tool_image.make(IMAGE, engine.host)
            yield engine
        finally:
            await engine.stop()
            for left in engine.mounted():  # by one that was killed
                subprocess.run(["umount", left], check=True)  # noqa: ASYNC221 (nothing else is left to do)
            await ip("netns", "del", engine.namespace)
