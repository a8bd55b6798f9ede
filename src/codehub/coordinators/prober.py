"""Whether the IDE in a container answers: asked often while it starts, now and then once it does."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID

from codehub.model.sightings import ContainerState
from codehub.runtimes.protocols import Instance, Instances, InstanceState

STARTING_SECONDS = 0.1
FIRST_SECONDS = 0.01
LONGER = 1.1
"""While it starts each pause is so much longer than the one before, so that what is quick is seen at once, and nobody
waits much more than a tenth longer than it takes; what takes long is asked every `STARTING_SECONDS`."""
READY_SECONDS = 10.0
FAILURES_TO_END = 3
"""One missed answer of a busy IDE is no death; so many in a row are."""


@dataclass
class _Probed:
    instance: Instance
    ready: bool
    failures: int = 0
    pause: float = FIRST_SECONDS
    task: asyncio.Task[None] | None = None


@dataclass
class Prober:
    """Asks each running container in a task of its own, and calls `changed` when its readiness changes."""

    instances: Instances
    changed: Callable[[UUID], None]
    group: asyncio.TaskGroup
    _probed: dict[str, _Probed] = field(default_factory=dict)

    def keep_only(self, instance_ids: Collection[str]) -> None:
        """Stop asking those that are gone."""
        for gone in self._probed.keys() - set(instance_ids):
            probed = self._probed.pop(gone)
            if probed.task is not None:
                probed.task.cancel()

    def add(self, instance: Instance, *, ready: bool) -> None:
        """Begin to ask. One that its row knows as ready begins as ready: a new leader must not put a whole installation
        to STANDBY because it has not asked yet."""
        if instance.id in self._probed or instance.state is not InstanceState.RUNNING:
            return
        probed = _Probed(instance, ready)
        self._probed[instance.id] = probed
        probed.task = self.group.create_task(self._ask(probed), name=f"probe {instance.name}")

    def ready(self) -> list[Instance]:
        """Those that answer."""
        return [each.instance for each in self._probed.values() if each.ready]

    def state(self, instance: Instance) -> ContainerState:
        if instance.state is InstanceState.EXITED:
            return ContainerState.EXITED
        probed = self._probed.get(instance.id)
        if probed is None or not (probed.ready or probed.failures):
            return ContainerState.STARTING
        return ContainerState.READY if probed.ready else ContainerState.PROBE_FAILING

    async def _ask(self, probed: _Probed) -> None:
        while True:
            answered = await self.instances.probe(probed.instance)
            was_ready = probed.ready
            if answered:
                probed.ready, probed.failures = True, 0
            elif was_ready:
                probed.failures += 1
                probed.ready = probed.failures < FAILURES_TO_END
            if probed.ready is not was_ready:
                self.changed(probed.instance.workspace_id)
            probed.pause = min(probed.pause * LONGER, STARTING_SECONDS)
            await asyncio.sleep(READY_SECONDS if probed.ready else probed.pause)
