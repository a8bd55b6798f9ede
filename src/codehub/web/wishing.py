"""Carrying a caller's wish to the store: found, allowed, given its place and told, in one transaction."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from fastapi import Request as HttpRequest
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide import wish as decided
from codehub.decide.admit import Limits
from codehub.decide.wish import consider
from codehub.model.accounts import Caller
from codehub.model.states import Desired, Phase
from codehub.model.workspace import Request, RequestKind, Workspace
from codehub.store import audit, wishes
from codehub.store.admission import LimitReached, take_place
from codehub.store.wishes import Because, NewWorkspace
from codehub.web.actors import actor_of
from codehub.web.api.workspace_problems import (
    InError,
    NoSuchWorkspace,
    NotInError,
    NotYet,
    RequestPending,
    TooManyRunning,
)
from codehub.web.parts import parts_of

ACTIONS = {Desired.RUNNING: "workspace.start", Desired.STANDBY: "workspace.stop", Desired.DELETED: "workspace.delete"}


@dataclass(frozen=True)
class Wishing:
    """One caller's wishes in one transaction."""

    request: HttpRequest
    caller: Caller
    connection: AsyncConnection

    async def found(self, workspace_id: UUID, *, deleted: bool = False) -> Workspace:
        """The caller's own, or for an administrator anybody's; nobody else changes it meanwhile."""
        workspace = await wishes.held(self.connection, workspace_id)
        if workspace is None or not (workspace.owner_user_id == self.caller.user_id or self.caller.administers):
            raise NoSuchWorkspace
        if workspace.deleted_at is not None and not deleted:
            raise NoSuchWorkspace
        return workspace

    async def create(self, new: NewWorkspace, desired: Desired) -> None:
        if desired is Desired.RUNNING:
            await self._take_place(new.id, new.owner_user_id)
        await wishes.create_workspace(self.connection, new, desired, self._because(new.owner_user_id))
        await self._tell("workspace.create", new.id, new.name)

    async def wish(self, workspace: Workspace, desired: Desired) -> bool:
        """Whether it is carried out already. A wish that is there writes nothing, whatever is under way."""
        match consider(workspace, desired):
            case decided.Unchanged():
                return decided.is_carried_out(workspace, desired)
            case decided.NotYet():
                raise NotYet
            case decided.InError():
                raise InError
            case decided.Write(needs_place):
                if needs_place:
                    await self._take_place(workspace.id, workspace.owner_user_id)
                await wishes.wish(self.connection, workspace, desired, self._because(workspace.owner_user_id))
                await self._tell(ACTIONS[desired], workspace.id, workspace.name)
                return decided.is_carried_out(workspace, desired)

    async def recover(self, workspace: Workspace, kind: RequestKind) -> None:
        """One that is asked for again before it was answered is the same one."""
        if workspace.request is not None:
            if workspace.request.kind is kind:
                return
            raise RequestPending
        if workspace.phase is not Phase.ERROR:
            raise NotInError
        if workspace.desired_state is Desired.RUNNING:
            await self._take_place(workspace.id, workspace.owner_user_id)
        await wishes.place_request(self.connection, workspace, Request(kind, uuid4(), self.caller.login))
        await self._tell("workspace.recover", workspace.id, workspace.name, kind=kind)

    async def _take_place(self, workspace_id: UUID, owner_user_id: UUID) -> None:
        config = parts_of(self.request).settings.limits
        limits = Limits(config.max_running_per_user, config.max_running_global)
        try:
            await take_place(self.connection, workspace_id, owner_user_id, limits)
        except LimitReached as reached:
            raise TooManyRunning(reached) from None

    def _because(self, owner_user_id: UUID) -> Because:
        return Because("owner" if owner_user_id == self.caller.user_id else "admin", self.caller.login)

    async def _tell(self, action: str, workspace_id: UUID, name: str, **detail: object) -> None:
        actor = actor_of(self.request, self.caller)
        await audit.record(self.connection, actor, action, subject_id=workspace_id, subject=name, **detail)
