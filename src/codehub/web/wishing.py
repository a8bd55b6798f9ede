"""Carrying a caller's wish to the store: found, allowed, given its place and told, in one transaction."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from fastapi import Request as HttpRequest
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.decide import wish as decided
from codehub.decide.admit import Limits
from codehub.decide.request import home_is_lost
from codehub.decide.wish import consider
from codehub.model.accounts import Caller
from codehub.model.states import Desired, Phase
from codehub.model.workspace import Request, RequestKind, Workspace
from codehub.store import audit, wishes
from codehub.store.admission import LimitReached, take_place
from codehub.store.generations import Archive
from codehub.store.undelete import undelete
from codehub.store.wishes import Because, NewWorkspace
from codehub.web.actors import actor_of
from codehub.web.api.workspace_problems import (
    InError,
    NoSuchWorkspace,
    NotInError,
    NotLost,
    RequestPending,
    StillBeingDeleted,
    TooManyRunning,
)
from codehub.web.parts import parts_of

ACTIONS = {
    Desired.RUNNING: "workspace.start",
    Desired.STANDBY: "workspace.stop",
    Desired.ARCHIVED: "workspace.archive",
    Desired.DELETED: "workspace.delete",
}


@dataclass(frozen=True)
class Wishing:
    """One caller's wishes in one transaction."""

    request: HttpRequest
    caller: Caller
    connection: AsyncConnection
    reason: str = "owner"
    """Why, where they wish it for what is their own."""

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
            case decided.InError():
                raise InError
            case decided.Write(needs_place):
                if needs_place:
                    await self._take_place(workspace.id, workspace.owner_user_id)
                await wishes.wish(self.connection, workspace, desired, self._because(workspace.owner_user_id))
                await self._tell(ACTIONS[desired], workspace.id, workspace.name)
                return decided.is_carried_out(workspace, desired)

    async def recover(self, workspace: Workspace, kind: RequestKind) -> None:
        if self._is_asked_already(workspace, kind):
            return
        if workspace.phase is not Phase.ERROR:
            raise NotInError
        if kind is RequestKind.START_EMPTY and not home_is_lost(workspace):
            raise NotLost
        await self._ask(workspace, self._request(kind), "workspace.recover", kind=kind)

    async def restore(self, workspace: Workspace, archive: Archive) -> None:
        """Bring the files of this archive back; what is in the home is archived before."""
        if not self._is_asked_already(workspace, RequestKind.RESTORE, archive.key):
            request = self._request(RequestKind.RESTORE, archive.key)
            await self._ask(workspace, request, "workspace.restore", **_told(archive))

    async def fork(self, new: NewWorkspace, desired: Desired, source: Workspace, archive: Archive) -> None:
        """A new workspace that begins with the files of this archive."""
        await self.create(new, desired)
        made = await self.found(new.id)
        await wishes.place_request(self.connection, made, self._request(RequestKind.FORK, archive.key))
        await self._tell("workspace.fork", new.id, new.name, source_id=str(source.id), **_told(archive))

    async def undelete(self, workspace: Workspace, desired: Desired, name: str) -> None:
        if desired is Desired.RUNNING:
            await self._take_place(workspace.id, workspace.owner_user_id)
        because = self._because(workspace.owner_user_id)
        if await undelete(self.connection, workspace, desired, because, name) is None:
            raise StillBeingDeleted
        await self._tell("workspace.undelete", workspace.id, name)

    def _is_asked_already(self, workspace: Workspace, kind: RequestKind, archive_key: str | None = None) -> bool:
        """What is asked for again before it was answered is the same. Something else has to wait."""
        pending = workspace.request
        if pending is None:
            return False
        if (pending.kind, pending.archive_key) != (kind, archive_key):
            raise RequestPending
        return True

    def _request(self, kind: RequestKind, archive_key: str | None = None) -> Request:
        return Request(kind, uuid4(), self.caller.login, archive_key)

    async def _ask(self, workspace: Workspace, request: Request, action: str, **detail: object) -> None:
        """In ERROR it has no place to run in, until something is asked for."""
        if workspace.phase is Phase.ERROR and workspace.desired_state is Desired.RUNNING:
            await self._take_place(workspace.id, workspace.owner_user_id)
        await wishes.place_request(self.connection, workspace, request)
        await self._tell(action, workspace.id, workspace.name, **detail)

    async def _take_place(self, workspace_id: UUID, owner_user_id: UUID) -> None:
        try:
            await take_place(self.connection, workspace_id, owner_user_id, limits_of(self.request))
        except LimitReached as reached:
            raise TooManyRunning(reached) from None

    def _because(self, owner_user_id: UUID) -> Because:
        return Because(self.reason if owner_user_id == self.caller.user_id else "admin", self.caller.login)

    async def _tell(self, action: str, workspace_id: UUID, name: str, **detail: object) -> None:
        actor = actor_of(self.request, self.caller)
        await audit.record(self.connection, actor, action, subject_id=workspace_id, subject=name, **detail)


def _told(archive: Archive) -> dict[str, object]:
    return {"archive_id": str(archive.id), "number": archive.number}


def limits_of(request: HttpRequest) -> Limits:
    """How many may run, for those without a limit of their own."""
    config = parts_of(request).settings.limits
    return Limits(config.max_running_per_user, config.max_running_global)
