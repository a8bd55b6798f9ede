"""What is being done about workspaces at this moment, told to pages twice a second at most. Worth nothing later, so
never in the database."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from codehub import clock
from codehub.model.plans import Waiting, WaitUntil
from codehub.model.shown import Live
from codehub.model.states import Operation, Step
from codehub.model.workspace import Workspace
from codehub.runtimes.protocols import PullProgress

FLUSH_SECONDS = 0.5
SAID_AGAIN_SECONDS = 20.0
"""How often the same is said again of one that waits; what is kept of it would be forgotten otherwise."""
RATE_SECONDS = 1.0
"""A rate over less than this says more about packets than about the line."""

WORTH_TELLING = frozenset({Waiting.SERVICE, Waiting.TURN, Waiting.IMAGE_BUILDING})
"""What else is waited for is over in a moment."""


@dataclass(frozen=True, slots=True)
class _Pull:
    """How it began, from where its rate is counted, and when it was last heard of."""

    op_id: UUID | None
    began_at: float
    began_bytes: int
    heard_at: float


class Progress:
    def __init__(
        self, publish: Callable[[UUID, UUID, Live], Awaitable[None]], elapsed: Callable[[], float] = clock.elapsed
    ) -> None:
        self._publish = publish
        self._elapsed = elapsed
        self._newest: dict[UUID, tuple[UUID, Live]] = {}
        self._said: dict[UUID, tuple[float, Live]] = {}
        self._pulls: dict[UUID, _Pull] = {}

    def pulled(self, workspace: Workspace, pull: PullProgress) -> None:
        now = self._elapsed()
        began = self._pulls.get(workspace.id)
        if began is None or began.op_id != workspace.op_id or pull.done_bytes < began.began_bytes:
            began = _Pull(workspace.op_id, now, pull.done_bytes, now)
        self._pulls[workspace.id] = replace(began, heard_at=now)
        took = now - began.began_at
        rate = (pull.done_bytes - began.began_bytes) / took if took >= RATE_SECONDS else None
        left = pull.total_bytes - pull.done_bytes if pull.total_bytes is not None else None
        self._newest[workspace.id] = (
            workspace.owner_user_id,
            Live(
                stage=Step.PULL,
                op_id=workspace.op_id,
                bytes=pull.done_bytes,
                total=pull.total_bytes,
                rate=rate,
                eta=left / rate if left is not None and rate else None,
            ),
        )

    def told_by_job(self, workspace: Workspace, said: Mapping[str, Any]) -> None:
        """A line of a job. One that knows no total yet says 0."""
        live = Live(
            stage=str(said["stage"]),
            op_id=workspace.op_id,
            bytes=said.get("bytes"),
            total=said.get("total") or None,
            rate=said.get("rate") or None,
            eta=said.get("eta"),
            entries=said.get("entries"),
        )
        self._newest[workspace.id] = workspace.owner_user_id, live

    def waits(self, workspace: Workspace, plan: WaitUntil) -> None:
        """It cannot go on at once. Said when that begins, and again now and then."""
        if plan.why not in WORTH_TELLING:
            self._said.pop(workspace.id, None)
            return
        op_id = workspace.op_id if workspace.operation is not Operation.NONE else None
        live = Live(stage="wait", op_id=op_id, waiting=plan.why, service=plan.service)
        at, before = self._said.get(workspace.id, (0.0, None))
        if live != before or self._elapsed() - at >= SAID_AGAIN_SECONDS:
            self._said[workspace.id] = self._elapsed(), live
            self._newest[workspace.id] = workspace.owner_user_id, live

    async def flush_for_ever(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            newest, self._newest = self._newest, {}
            for workspace_id, (owner_user_id, live) in newest.items():
                await self._publish(owner_user_id, workspace_id, live)
            self._forget_what_is_over()

    def _forget_what_is_over(self) -> None:
        """What waits is heard of in every pass, and what is pulled as it arrives."""
        long_ago = self._elapsed() - 2 * SAID_AGAIN_SECONDS
        self._said = {each: said for each, said in self._said.items() if said[0] > long_ago}
        self._pulls = {each: pull for each, pull in self._pulls.items() if pull.heard_at > long_ago}
