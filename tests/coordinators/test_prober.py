"""Whether an IDE answers, as the Prober finds out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import pytest

from codehub.coordinators import prober as module
from codehub.coordinators.prober import FAILURES_TO_END, Prober
from codehub.model.sightings import ContainerState
from codehub.runtimes.memory import MemoryRuntime
from codehub.runtimes.memory_engine import Behaviour, MemoryEngine
from codehub.runtimes.protocols import Instance, InstanceSpec, Resources, VolumeSpec
from tests.coordinators.house import until


class Lobby:
    """One container, and a Prober that asks it."""

    def __init__(self, prober: Prober, engine: MemoryEngine, instance: Instance, changes: list[UUID]) -> None:
        self.prober = prober
        self.engine = engine
        self.instance = instance
        self.changes = changes

    def behave(self, behaviour: Behaviour) -> None:
        self.engine.behaviours[self.instance.workspace_id] = behaviour

    async def until_state(self, state: ContainerState) -> None:
        async def reached() -> bool | None:
            return self.prober.state(self.instance) is state or None

        await until(reached, 30)

    @property
    def probes(self) -> int:
        return self.engine.containers[self.instance.id].probes


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READY_SECONDS", 0.01)


@asynccontextmanager
async def lobby(behaviour: Behaviour | None = None) -> AsyncIterator[Lobby]:
    engine, workspace_id, op_id = MemoryEngine(images={"ide"}), uuid4(), uuid4()
    runtime = MemoryRuntime(engine, "test")
    engine.behaviours[workspace_id] = behaviour or Behaviour()
    await runtime.volumes.create(VolumeSpec("home", workspace_id, op_id, 1, None))
    await runtime.instances.start(InstanceSpec("one", workspace_id, op_id, 1, "home", "ide", 80, "/", {}, Resources()))
    (instance,) = await runtime.instances.list()
    changes: list[UUID] = []
    async with asyncio.TaskGroup() as group:
        prober = Prober(runtime.instances, changes.append, group)
        yield Lobby(prober, engine, instance, changes)
        prober.keep_only(())


async def test_one_that_answers_is_ready_and_that_is_told() -> None:
    async with lobby(Behaviour(silent_probes=3)) as at:
        at.prober.add(at.instance, ready=False)
        assert at.prober.state(at.instance) is ContainerState.STARTING
        await at.until_state(ContainerState.READY)
        assert at.changes == [at.instance.workspace_id]


async def test_one_that_its_row_knows_as_ready_begins_as_ready() -> None:
    async with lobby(Behaviour(answers=False)) as at:
        at.prober.add(at.instance, ready=True)
        assert at.prober.state(at.instance) is ContainerState.READY


@pytest.mark.usefixtures("impatient")
async def test_a_missed_answer_is_no_death_and_several_in_a_row_are() -> None:
    async with lobby(Behaviour(answers=False)) as at:
        at.prober.add(at.instance, ready=True)
        await at.until_state(ContainerState.PROBE_FAILING)
        assert at.probes >= FAILURES_TO_END
        at.behave(Behaviour())
        await at.until_state(ContainerState.READY)
        assert len(at.changes) == 2


async def test_one_that_has_ended_is_not_asked() -> None:
    async with lobby() as at:
        at.engine.kill(at.instance.workspace_id)
        ended = at.engine.containers[at.instance.id].seen
        at.prober.add(ended, ready=False)
        assert at.prober.state(ended) is ContainerState.EXITED


async def test_one_that_is_gone_is_asked_no_more() -> None:
    async with lobby(Behaviour(answers=False)) as at:
        at.prober.add(at.instance, ready=False)
        at.prober.keep_only(())
        before = at.probes
        await asyncio.sleep(3 * module.STARTING_SECONDS)
        assert at.probes == before
        assert at.prober.state(at.instance) is ContainerState.STARTING
