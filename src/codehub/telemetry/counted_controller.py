"""The controller's store, counting each transition that it has made: what is counted is what is stored."""

from uuid import UUID

from codehub import clock
from codehub.model.plans import Begin, Finish, GiveUp, Retry, Withdraw
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace
from codehub.store.controller import PostgresController
from codehub.store.seat import PostgresSeat
from codehub.store.shards import Shard
from codehub.telemetry.metrics import Metrics
from codehub.telemetry.traces import Traces


class CountedController(PostgresController):
    """A guard that did not hold (None) is counted as nothing: nothing happened."""

    def __init__(self, seat: PostgresSeat, shard: Shard, metrics: Metrics, traces: Traces) -> None:
        super().__init__(seat, shard)
        self._metrics = metrics
        self._traces = traces

    async def claim(self, workspace: Workspace, begin: Begin, op_id: UUID, phase: Phase) -> Workspace | None:
        changed = await super().claim(workspace, begin, op_id, phase)
        if changed is not None:
            self._metrics.operations_begun.labels(begin.operation).inc()
        return changed

    async def finish(self, workspace: Workspace, finish: Finish) -> Workspace | None:
        changed = await super().finish(workspace, finish)
        if changed is not None:
            self._ended(workspace, "done")
            if workspace.op_started_at is not None:
                took = (clock.now() - workspace.op_started_at).total_seconds()
                self._metrics.operation_seconds.labels(workspace.operation).observe(max(0.0, took))
        return changed

    async def withdraw(self, workspace: Workspace, withdraw: Withdraw, phase: Phase) -> Workspace | None:
        changed = await super().withdraw(workspace, withdraw, phase)
        if changed is not None:
            self._ended(workspace, "withdrawn")
        return changed

    async def retry(self, workspace: Workspace, retry: Retry) -> Workspace | None:
        changed = await super().retry(workspace, retry)
        if changed is not None:
            self._metrics.attempts_failed.labels(workspace.operation, retry.fault.reason).inc()
        return changed

    async def give_up(self, workspace: Workspace, give_up: GiveUp) -> Workspace | None:
        changed = await super().give_up(workspace, give_up)
        if changed is not None and workspace.operation is not Operation.NONE:
            self._metrics.attempts_failed.labels(workspace.operation, give_up.fault.reason).inc()
            self._ended(workspace, "given_up")
        return changed

    def _ended(self, workspace: Workspace, outcome: str) -> None:
        self._metrics.operations_ended.labels(workspace.operation, outcome).inc()
        if workspace.op_started_at is not None:
            self._traces.past(
                f"operation {workspace.operation}",
                workspace.op_started_at,
                {"codehub.workspace_id": str(workspace.id), "codehub.outcome": outcome},
                workspace.op_id,
            )
