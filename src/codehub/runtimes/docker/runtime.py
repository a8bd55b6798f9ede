"""The runtime for a machine with a Docker engine, which the front door shares with it."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiodocker

from codehub.runtimes.docker import labels
from codehub.runtimes.docker.api import LIMITS, LOOK_SECONDS, DockerApi, translated
from codehub.runtimes.docker.instances import DockerInstances
from codehub.runtimes.docker.jobs import DockerJobs
from codehub.runtimes.docker.network import Network
from codehub.runtimes.docker.sized_homes import SizedHomes
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import NotFound

DEFAULT_HOST = "unix:///var/run/docker.sock"
CAPABILITIES = {
    "MemoryLimit": "memory limits",
    "SwapLimit": "limits on swap",
    "CpuCfsQuota": "CPU limits",
    "PidsLimit": "limits on the number of processes",
}


class DockerRuntime:
    """One installation's view of an engine. Has to be made where an event loop runs.

    The fence is called right before every request that changes something is written, and before every change of the
    host's firewall and disks; what it raises ends the call with nothing sent (contract 11). Homes have a size of their
    own where a folder for them is given, which has to be on the engine's machine."""

    name = "docker"

    def __init__(  # noqa: PLR0913 (each is an option)
        self,
        installation: str,
        host: str = DEFAULT_HOST,
        fence: Callable[[], None] = lambda: None,
        *,
        subnet: IPv4Network | None = None,
        barred: tuple[IPv4Network, ...] = (),
        homes_folder: Path | None = None,
        job_image: str = "codehub/job",
        inside_folder: Path | None = None,
    ) -> None:
        """`inside_folder` is shown to every workspace; like that of the homes it is on the engine's machine."""
        self._installation = installation
        self._api = DockerApi(host, fence)
        self._network = Network(self._api, installation, subnet, barred)
        self._lack_of_sizes = SizedHomes.obstacle() if homes_folder else "no folder for sized homes is set"
        sized = SizedHomes(homes_folder / installation, fence) if homes_folder and not self._lack_of_sizes else None
        self.volumes = DockerVolumes(self._api, installation, sized)
        self.instances = DockerInstances(self._api, installation, self._network, self.volumes, inside_folder)
        self.jobs = DockerJobs(self._api, installation, self.volumes, job_image)

    async def engine(self) -> str:
        """A mark kept among the homes themselves. The engine's own id will not do: it survives the loss of all of its
        data, and changes when the data move to another machine. Whoever finds none makes one, past the fence: looking
        needs no leadership, and an engine that was replaced must be told by whoever looks first."""
        name = f"codehub-{self._installation}"
        try:
            mark = await self._api.read(f"volumes/{name}")
        except NotFound:
            labelled = {labels.INSTALLATION: self._installation, labels.IDENTITY: str(uuid4())}
            async with translated(LOOK_SECONDS), aiodocker.Docker(url=self._api.host, timeout=LIMITS) as unfenced:
                await unfenced.volumes.create({"Name": name, "Labels": labelled})
            mark = await self._api.read(f"volumes/{name}")  # somebody else's, where two made it at once
        return str(mark["Labels"][labels.IDENTITY])

    async def obstacles(self) -> list[str]:
        """Why no workspace can start on this engine, a sentence each."""
        if any(option.startswith("name=seccomp") for option in (await self._about())["SecurityOptions"]):
            return []
        return ["Nothing can be started, because the Docker engine cannot filter system calls (seccomp)."]

    async def findings(self) -> list[str]:
        """What is open or unlimited on this machine, a sentence each, for `doctor` and the administrator's page."""
        findings = []
        complaint = await self._network.complaint()
        if complaint:
            findings.append(
                "Workspaces can reach services of this host, its networks and a cloud's metadata address, because "
                f"{complaint}."
            )
        about = await self._about()
        findings += [f"The Docker engine cannot set {what}." for flag, what in CAPABILITIES.items() if not about[flag]]
        if (lack := await self.jobs.lack()) is not None:
            findings.append(f"Homes can be neither archived nor restored, because {lack}.")
        if self._lack_of_sizes:
            findings.append(f"One workspace can fill the disk of all, because {self._lack_of_sizes}.")
        return findings

    async def _about(self) -> Mapping[str, Any]:
        async with translated(LOOK_SECONDS):
            about: Mapping[str, Any] = await self._api.client.system.info()
        return about

    async def teardown(self) -> None:
        """Remove what belongs to the installation as a whole: rules, network and mark, and what stood in for homes. Its
        workspaces must be gone."""
        for volume in await self.volumes.stand_ins():
            await self.volumes.remove_stand_in(volume.name)
        await self._network.remove()
        try:
            async with translated():
                await (await self._api.client.volumes.get(f"codehub-{self._installation}")).delete()
        except NotFound:
            return

    async def close(self) -> None:
        """Let go of the engine. Containers, network and rules stay: they are the installation's, not this process's."""
        await self.instances.close()
        await self._api.close()
