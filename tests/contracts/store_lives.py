"""Ways into the states that the tests begin in, each walked through the store's own functions."""

from uuid import UUID, uuid4

from codehub.model.plans import Begin, Fault, Finish, GiveUp
from codehub.model.states import Desired, ErrorReason, Operation, Phase, Step
from codehub.model.workspace import Request, RequestKind, Workspace, archive_key
from codehub.store.protocols import ControllerStore, NewArchive
from tests.contracts.store_backends import Backend

PROVISION = Begin(Operation.PROVISIONING, Step.CREATE)
START = Begin(Operation.STARTING, Step.PULL)
ARCHIVE = Begin(Operation.ARCHIVING, Step.ARCHIVE)
BROKEN = Fault(ErrorReason.ACTION_FAILED, "it fell over")


def done(value: Workspace | None) -> Workspace:
    """The row that a transition returned; a guard that failed here is a failure of the test."""
    assert value is not None
    return value


async def provisioning(backend: Backend, controller: ControllerStore) -> Workspace:
    """A first volume is being made."""
    row = await backend.create(Desired.STANDBY)
    return done(await controller.claim(row, PROVISION, uuid4(), Phase.PENDING))


async def standby(backend: Backend, controller: ControllerStore) -> Workspace:
    """At rest with a home."""
    row = await provisioning(backend, controller)
    row = done(await controller.acted(row, Step.CREATE))
    return done(await controller.finish(row, Finish(Phase.STANDBY, row.op_volume, None, None)))


async def archiving(backend: Backend, controller: ControllerStore) -> Workspace:
    """Wished to be ARCHIVED, and on the way there."""
    row = done(await backend.wish(await standby(backend, controller), Desired.ARCHIVED))
    return done(await controller.claim(row, ARCHIVE, uuid4(), Phase.STANDBY))


async def archive_verified(backend: Backend, controller: ControllerStore) -> Workspace:
    """The archive is made and read back; the volume is still the home."""
    row = done(await controller.acted(await archiving(backend, controller), Step.ARCHIVE))
    return done(await controller.acted(row, Step.VERIFY, made(row)))


async def archived(backend: Backend, controller: ControllerStore) -> Workspace:
    row = done(await controller.enter(await archive_verified(backend, controller), Step.RELEASE))
    row = done(await controller.acted(row, Step.RELEASE))
    return done(await controller.finish(row, Finish(Phase.ARCHIVED, None, None, None)))


async def in_error(backend: Backend, controller: ControllerStore) -> Workspace:
    row = await provisioning(backend, controller)
    return done(await controller.give_up(row, GiveUp(BROKEN, 3)))


def made(row: Workspace, size: int = 7, archive_id: UUID | None = None) -> NewArchive:
    """The archive of the operation under way."""
    assert row.archive_op_id is not None
    return NewArchive(archive_id or uuid4(), archive_key(row.id, row.archive_op_id), size, "sha256:0", 3)


def request(kind: RequestKind = RequestKind.RECOVER, key: str | None = None) -> Request:
    return Request(kind, uuid4(), "owner", key)
