"""What is counted of the work on workspaces: what was stored, once each."""

from collections.abc import Mapping

from codehub.model.states import Desired, Phase
from codehub.runtimes.errors import RuntimeFault
from codehub.runtimes.memory_engine import Call, Fault
from codehub.telemetry.readings import CoordinatorReadings
from tests.coordinators.house import IMAGE, House, until


def counted(house: House, name: str, **labels: str) -> float:
    return house.metrics.registry.get_sample_value(name, labels) or 0.0


async def test_each_operation_is_counted_once_when_it_begins_and_when_it_ends(house: House) -> None:
    house.replica()
    workspace_id = await house.create()
    await house.until_phase(workspace_id, Phase.RUNNING)
    await house.wish(workspace_id, Desired.STANDBY)
    await house.until_phase(workspace_id, Phase.STANDBY)
    for operation in ("PROVISIONING", "STARTING", "STOPPING"):
        assert counted(house, "codehub_operations_begun_total", operation=operation) == 1
        assert counted(house, "codehub_operations_ended_total", operation=operation, outcome="done") == 1
        assert counted(house, "codehub_operation_seconds_count", operation=operation) == 1
    assert counted(house, "codehub_operations_begun_total", operation="DELETING") == 0


async def test_failed_attempts_are_counted_by_reason(house: House) -> None:
    house.engine.lay(Call.START, Fault(error=RuntimeFault("no room"), times=2))
    house.replica()
    await house.until_phase(await house.create(), Phase.RUNNING)
    reason = {"operation": "STARTING", "reason": "ActionFailed"}
    assert counted(house, "codehub_operation_attempts_failed_total", **reason) == 2
    assert counted(house, "codehub_operations_begun_total", operation="STARTING") == 1
    assert counted(house, "codehub_operations_ended_total", operation="STARTING", outcome="done") == 1


async def test_the_end_of_trying_is_counted(house: House) -> None:
    house.engine.images.discard(IMAGE)
    house.replica()
    await house.until_phase(await house.create(), Phase.ERROR)
    reason = {"operation": "STARTING", "reason": "ImagePullFailed"}
    assert counted(house, "codehub_operation_attempts_failed_total", **reason) == 1
    assert counted(house, "codehub_operations_ended_total", operation="STARTING", outcome="given_up") == 1
    assert counted(house, "codehub_operation_seconds_count", operation="STARTING") == 0


def readings(house: House) -> Mapping[tuple[str, str], float]:
    """Values by name and first label, as a scrape of the first replica would see them."""
    families = CoordinatorReadings(lambda: house.replicas[0].supervisor.reports).collect()
    return {
        (sample.name, next(iter(sample.labels.values()))): sample.value
        for family in families
        for sample in family.samples
    }


async def test_who_leads_and_how_it_goes_is_told(house: House) -> None:
    house.replica()
    await house.until_phase(await house.create(), Phase.RUNNING)
    seen = readings(house)
    for coordinator in ("observer", "wc", "events"):
        assert seen["codehub_coordinator_leads", coordinator] == 1
        assert seen["codehub_coordinator_epoch", coordinator] == 1
        assert seen["codehub_coordinator_terms_total", coordinator] == 1
        assert seen["codehub_coordinator_passes_total", coordinator] >= 1
    assert seen["codehub_coordinator_pass_seconds_total", "wc"] > 0
    assert seen["codehub_coordinator_errors_total", "wc"] == 0


async def test_an_engine_that_is_away_is_told_and_so_is_its_return(house: House) -> None:
    house.replica()
    await house.until_phase(await house.create(), Phase.RUNNING)

    async def told(value: float) -> float | None:
        return value if readings(house).get(("codehub_service_available", "runtime")) == value else None

    async def is_there() -> float | None:
        return await told(1)

    async def is_away() -> float | None:
        return await told(0)

    await until(is_there, 60)
    house.engine.go_away()
    await until(is_away, 60)
    house.engine.come_back()
    await until(is_there, 60)
