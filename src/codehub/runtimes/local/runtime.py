"""The runtime for a machine without an engine: sandboxed processes of this machine."""

import asyncio
from collections.abc import Callable
from ipaddress import IPv4Network
from pathlib import Path
from uuid import uuid4

from codehub.runtimes.local import findings
from codehub.runtimes.local.edge import translated
from codehub.runtimes.local.folders import Folders
from codehub.runtimes.local.instances import LocalInstances
from codehub.runtimes.local.jobs import LocalJobs
from codehub.runtimes.local.tool import Tools
from codehub.runtimes.local.volumes import LocalVolumes


class LocalRuntime:
    """One installation's view of the data folder, which all of its processes share with the front door.

    The fence is called right before everything that changes something, after all waiting; what it raises ends the call
    with nothing done (contract 11)."""

    name = "local"

    def __init__(
        self,
        data_dir: Path,
        installation: str,
        tools: Tools,
        fence: Callable[[], None] = lambda: None,
        *,
        barred: tuple[IPv4Network, ...] = (),
        inside_folder: Path | None = None,
    ) -> None:
        """`barred` names networks that no workspace may reach, beside those that the host itself stands in.
        `inside_folder` is shown to every workspace."""
        self._folders = Folders(data_dir)
        self.volumes = LocalVolumes(self._folders, installation, fence)
        self.jobs = LocalJobs(self._folders, installation, self.volumes, fence)
        self.instances = LocalInstances(self._folders, installation, self.volumes, tools, fence, barred, inside_folder)

    async def engine(self) -> str:
        """Made up when first asked for and kept among the homes: another folder has another one."""
        with translated():
            return await asyncio.to_thread(self._folders.remembered, "engine", lambda: str(uuid4()))

    async def obstacles(self) -> list[str]:
        """Why no workspace can start on this machine, a sentence each."""
        return await asyncio.to_thread(findings.obstacles)

    async def findings(self) -> list[str]:
        """What is open, unlimited or missing on this machine, a sentence each, for `doctor` and the administrator's
        page."""
        return await asyncio.to_thread(findings.shortcomings)

    async def close(self) -> None:
        """Nothing is held open. What runs, runs on: it is the installation's, not this process's."""
