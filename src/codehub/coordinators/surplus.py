"""Containers beside the one that serves a workspace, and their end (contract 6)."""

import asyncio
from collections.abc import Callable

import structlog

from codehub.coordinators.leadership import Deposed
from codehub.coordinators.office import Office, ThinnedOut
from codehub.coordinators.slots import Slots
from codehub.decide.retry import RetryPolicy, backoff
from codehub.model.plans import RemoveSurplus
from codehub.model.states import Operation
from codehub.model.workspace import Workspace
from codehub.runtimes.errors import RuntimeFault

log = structlog.get_logger()


async def remove_surplus(
    office: Office,
    workspace: Workspace,
    decision: RemoveSurplus,
    slots: Slots,
    policy: RetryPolicy,
    spread: Callable[[], float],
) -> None:
    """Take them away, beside the passes. Where that fails the workspace is served all the same, and the next look leads
    to the next attempt, after a pause that grows."""
    removed: tuple[str, ...] = ()
    try:
        await asyncio.sleep(office.leadership.destructive_acts_wait())
        async with asyncio.timeout(policy.timeouts[Operation.STOPPING].total_seconds()), slots.operations:
            removed = await office.actions.thin_out(workspace, decision.container_ids)
        del office.failed_removals[workspace.id]
    except Deposed:
        office.forget(workspace)
        return
    except (RuntimeFault, TimeoutError) as error:
        if isinstance(error, RuntimeFault):
            await office.services.away(error)
        office.failed_removals[workspace.id] += 1
        log.warning("surplus containers stay", workspace_id=str(workspace.id), error=repr(error))
        await asyncio.sleep(backoff(office.failed_removals[workspace.id], policy, spread()).total_seconds())
    office.outcomes.append(ThinnedOut(workspace, removed))
