"""Rows that could not be written as it was decided: each rests for a while, and is told of."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from codehub.coordinators.leadership import Deposed
from codehub.coordinators.supervisor import Report
from codehub.model.workspace import Workspace
from codehub.store.protocols import SeatLost

log = structlog.get_logger()

FIRST_SECONDS = 1.0
"""Somebody else may have held the row's lock; that is soon over."""
LONGEST_SECONDS = 300.0
"""A row that the schema refuses stays refused until a person looks into it."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    state: tuple[object, ...]
    why: str
    times: int
    until: float


@dataclass
class Refusals:
    """Without a pause the same act would be done again and again for a row that cannot take its outcome."""

    report: Report
    elapsed: Callable[[], float]
    _known: dict[UUID, _Refusal] = field(default_factory=dict)

    def rests(self, workspace: Workspace) -> bool:
        """Whether it is left alone for now. A row that has moved on, or whose owner wishes something else, is not."""
        known = self._known.get(workspace.id)
        if known is not None and known.state != _state(workspace):
            del self._known[workspace.id]
            return False
        return known is not None and self.elapsed() < known.until

    @contextlib.contextmanager
    def bulkhead(self, workspace: Workspace) -> Iterator[None]:
        """One row that cannot be handled, or is locked by somebody, keeps no other from its turn. A seat that is lost
        is everybody's trouble."""
        try:
            yield
        except (Deposed, SeatLost):
            raise
        except Exception as error:
            if self._is_news(workspace, error):
                log.exception("workspace left for later", workspace_id=str(workspace.id))

    def _is_news(self, workspace: Workspace, error: Exception) -> bool:
        """Health tells of it each time, the log once for each reason."""
        self.report.failed(error)
        known, state, why = self._known.get(workspace.id), _state(workspace), type(error).__name__
        times = known.times + 1 if known is not None and known.state == state else 1
        pause = min(FIRST_SECONDS * 2 ** min(times - 1, 16), LONGEST_SECONDS)
        self._known[workspace.id] = _Refusal(state, why, times, self.elapsed() + pause)
        return times == 1 or (known is not None and known.why != why)


def _state(row: Workspace) -> tuple[object, ...]:
    return row.operation, row.op_id, row.op_step, row.op_attempt, row.phase, row.desired_state, row.request
