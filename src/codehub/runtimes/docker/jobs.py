"""Jobs as containers, each beside the home that it moves."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any
from uuid import UUID

from aiodocker.containers import DockerContainer

from codehub.job.order import encode_order
from codehub.runtimes.docker import containers, images, job_container, labels
from codehub.runtimes.docker.api import ACT_SECONDS, DockerApi, translated
from codehub.runtimes.docker.volumes import DockerVolumes
from codehub.runtimes.errors import InUse, NoJobs, NotFound, Removed, RuntimeAway, RuntimeFault
from codehub.runtimes.job_view import as_seen_inside
from codehub.runtimes.lines import Lines
from codehub.runtimes.protocols import Job, JobSpec, JobState

MADE_HERE = "codehub/"
"""Images that no registry has: codehub builds them."""
END_TRIES = 100
END_PAUSE_SECONDS = 0.05
"""How long the engine may take to know that one has ended whose output has: five seconds together."""


class DockerJobs:
    def __init__(self, api: DockerApi, installation: str, volumes: DockerVolumes, image: str) -> None:
        self._api = api
        self._installation = installation
        self._volumes = volumes
        self._image = image

    async def lack(self) -> str | None:
        there = not self._image.startswith(MADE_HERE) or await images.is_present(self._api, self._image)
        return None if there else f"the image {self._image} is not there (codehub image build job)"

    async def list(self, workspace_id: UUID | None = None) -> tuple[Job, ...]:
        listed = await self._api.containers(labels.own_jobs(self._installation, workspace_id))
        return tuple(labels.job(each) for each in listed)

    async def run(self, spec: JobSpec) -> None:
        await self._volumes.ready(spec.volume)
        made = await self._create(spec)
        if made is None:
            return
        await containers.hold_home(self._api, self._volumes, made.id, spec.volume)
        try:
            await self._start(made, encode_order(as_seen_inside(spec.order)))
        except RuntimeFault as error:
            await containers.remove(self._api, made.id)
            if isinstance(error, InUse | NotFound):
                raise Removed(f"the job {spec.name} was removed as it was begun") from error
            raise

    async def _create(self, spec: JobSpec) -> DockerContainer | None:
        """None where it was begun before. Whoever makes it begins it: of one that is made and not begun, somebody else
        may be about to give it its order, or has died over that; after a while it has."""
        for _ in range(containers.NAME_TRIES):
            try:
                return await self._make(spec)
            except InUse:
                with suppress(NotFound):
                    if await self._is_begun(spec):
                        return None
            await asyncio.sleep(containers.NAME_PAUSE_SECONDS)
        await self.remove(spec.name)
        return await self._make(spec)

    async def _make(self, spec: JobSpec) -> DockerContainer:
        if (lack := await self.lack()) is not None:
            raise NoJobs(lack)
        await images.pull(self._api, self._image, lambda _: None)
        configuration = job_container.configuration(spec, self._installation, self._image)
        async with translated():
            return await self._api.client.containers.create(configuration, name=spec.name)

    async def _is_begun(self, spec: JobSpec) -> bool:
        there = await self._api.read(f"containers/{spec.name}/json")
        found, expected = there["Config"]["Labels"], labels.of_job(self._installation, spec)
        for label in (labels.INSTALLATION, labels.WORKSPACE, labels.OPERATION, labels.JOB):
            if found.get(label) != expected[label]:
                raise RuntimeFault(f"the name {spec.name} belongs to another operation")
        return bool(there["State"]["Status"] != "created")

    async def _start(self, made: DockerContainer, order: bytes) -> None:
        async with translated(ACT_SECONDS), made.attach(stdin=True) as stream:
            await made.start()
            await stream.write_in(order)

    async def status(self, name: str) -> Job:
        return labels.job(await self._standing(name))

    async def follow(self, name: str) -> AsyncGenerator[bytes, None]:
        found = await self._standing(name)
        params = {"stdout": "1", "follow": str(int(labels.job(found).state is JobState.RUNNING))}
        lines = Lines()
        try:
            async with self._api.stream(f"containers/{found['Id']}/logs", params) as content:
                async for piece in containers.printed(content):
                    for line in lines.add(piece):
                        yield line
        except InUse as error:  # somebody removes it
            raise NotFound(f"there is no job {name}") from error
        await self._ended(name)

    async def _ended(self, name: str) -> None:
        """The output of one that runs ends only where the stream breaks."""
        with suppress(NotFound):
            for _ in range(END_TRIES):
                if (await self.status(name)).state is JobState.ENDED:
                    return
                await asyncio.sleep(END_PAUSE_SECONDS)
            raise RuntimeAway(f"the output of {name} broke off")

    async def remove(self, name: str) -> None:
        with suppress(NotFound):
            await containers.remove(self._api, (await self._require(name))["Id"])

    async def _standing(self, name: str) -> dict[str, Any]:
        """One that is being removed was killed for that, and has not come to anything: to all but those who remove it,
        it is gone."""
        found = await self._require(name)
        if found["State"] == labels.REMOVING:
            raise NotFound(f"there is no job {name}")
        return found

    async def _require(self, name: str) -> dict[str, Any]:
        """Its entry in the engine's listing. What another installation made is not there for us."""
        filters = labels.own_jobs(self._installation)
        filters["label"].append(f"{labels.INCARNATION}={name}")
        listed = await self._api.containers(filters)
        if not listed:
            raise NotFound(f"there is no job {name}")
        return listed[0]
