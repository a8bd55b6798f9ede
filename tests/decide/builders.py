"""Rows, conditions and circumstances for the tests of the decisions, in as few words as a test should need."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from codehub.decide.plan import Acting, Circumstances, ServiceState
from codehub.decide.retry import RetryPolicy
from codehub.model.conditions import Condition, Conditions, Endpoint, Reason, Status
from codehub.model.states import Desired, ErrorReason, ImageState, Operation, Phase, Service, Step
from codehub.model.workspace import Request, RequestKind, Workspace, archive_key

T0 = datetime(2030, 1, 1, tzinfo=UTC)
"""The moment at which the tests happen, unless they say otherwise."""

WORKSPACE_ID = UUID(int=1)
OWNER_ID = UUID(int=2)
OP_ID = UUID(int=3)
ARCHIVE_OP_ID = UUID(int=4)
REQUEST_ID = UUID(int=5)

HOME = "home"
MADE = "made"
"""The volume that an operation is making, or has let go of."""
KEY = archive_key(WORKSPACE_ID, ARCHIVE_OP_ID)
OLDER_KEY = archive_key(WORKSPACE_ID, UUID(int=6))
CONTAINER_ID = "container-1"
LATE_ID = "container-0"
"""A second container, which a deposed leader started late; its id comes first on purpose."""
ENDPOINT = Endpoint(CONTAINER_ID, "10.0.0.1", 8080)

POLICY = RetryPolicy(
    timeouts={
        Operation.PROVISIONING: timedelta(seconds=300),
        Operation.RESTORING: timedelta(seconds=1800),
        Operation.STARTING: timedelta(seconds=300),
        Operation.STOPPING: timedelta(seconds=300),
        Operation.ARCHIVING: timedelta(seconds=1800),
        Operation.CREATE_EMPTY_ARCHIVE: timedelta(seconds=300),
        Operation.DELETING: timedelta(seconds=600),
    },
    max_retries=3,
    first_backoff=timedelta(seconds=10),
)


MOMENT = 0.000001
"""The smallest difference between two times, in seconds."""


def after(seconds: float) -> datetime:
    """So many seconds after T0; before it where negative."""
    return T0 + timedelta(seconds=seconds)


_STATUS = {
    Reason.VOLUME_PROVISIONED: Status.TRUE,
    Reason.ARCHIVE_UPLOADED: Status.TRUE,
    Reason.CONTAINER_RUNNING: Status.TRUE,
    Reason.ALL_CONDITIONS_MET: Status.TRUE,
}


def condition(
    reason: Reason, subject: str | None, *, at: datetime = T0, since: datetime | None = None, message: str = ""
) -> Condition:
    """Seen at `at`, and with this status since `since`."""
    endpoint = ENDPOINT if reason is Reason.CONTAINER_RUNNING else None
    status = _STATUS.get(reason, Status.FALSE)
    return Condition(status, reason, message, since or at, subject, at, endpoint)


def volume_seen(name: str | None = HOME, *, at: datetime = T0) -> Condition:
    return condition(Reason.VOLUME_PROVISIONED if name else Reason.NO_VOLUME, name, at=at)


def volume_gone(name: str = HOME, *, for_seconds: float = 2, at: datetime = T0) -> Condition:
    return condition(Reason.VOLUME_NOT_FOUND, name, at=at, since=at - timedelta(seconds=for_seconds))


def archive_seen(key: str | None = KEY, *, at: datetime = T0) -> Condition:
    return condition(Reason.ARCHIVE_UPLOADED if key else Reason.NO_ARCHIVE, key, at=at)


def archive_gone(
    key: str = KEY, *, reason: Reason = Reason.ARCHIVE_MISSING, for_seconds: float = 2, at: datetime = T0
) -> Condition:
    return condition(reason, key, at=at, since=at - timedelta(seconds=for_seconds))


def container_seen(reason: Reason = Reason.CONTAINER_RUNNING, *, at: datetime = T0) -> Condition:
    return condition(reason, None if reason is Reason.CONTAINER_NOT_FOUND else CONTAINER_ID, at=at)


def no_container(*, at: datetime = T0) -> Condition:
    return container_seen(Reason.CONTAINER_NOT_FOUND, at=at)


def workspace(**columns: Any) -> Workspace:  # noqa: ANN401 - the columns of the row
    """A row that has never had a home and wants none yet; every column can be given."""
    row = Workspace(
        id=WORKSPACE_ID,
        owner_user_id=OWNER_ID,
        name="garden",
        created_at=after(-3600),
        desired_state=Desired.STANDBY,
    )
    if columns.get("desired_state") is Desired.DELETED:
        columns = {"deleted_at": after(-60)} | columns
    return replace(row, **columns)


def pending(**columns: Any) -> Workspace:  # noqa: ANN401
    """Never had a home, and seen to have none."""
    nothing = Conditions(volume=volume_seen(None), archive=archive_seen(None), container=no_container())
    return workspace(**{"conditions": nothing, "observed_at": T0} | columns)


def archived(**columns: Any) -> Workspace:  # noqa: ANN401
    """Asleep in its archive, seen whole."""
    asleep = Conditions(volume=volume_seen(None), archive=archive_seen(), container=no_container())
    defaults = {"desired_state": Desired.ARCHIVED, "phase": Phase.ARCHIVED, "archive_key": KEY}
    return workspace(**defaults | {"conditions": asleep, "observed_at": T0} | columns)


def standby(**columns: Any) -> Workspace:  # noqa: ANN401
    """A home without a container."""
    quiet = Conditions(volume=volume_seen(), archive=archive_seen(None), container=no_container())
    defaults = {"desired_state": Desired.STANDBY, "phase": Phase.STANDBY, "home_volume": HOME}
    return workspace(**defaults | {"conditions": quiet, "observed_at": T0} | columns)


def running(**columns: Any) -> Workspace:  # noqa: ANN401
    """A home with an IDE that answers."""
    awake = Conditions(volume=volume_seen(), archive=archive_seen(None), container=container_seen())
    defaults = {"desired_state": Desired.RUNNING, "phase": Phase.RUNNING, "home_volume": HOME}
    return workspace(**defaults | {"conditions": awake, "observed_at": T0} | columns)


def in_error(reason: ErrorReason, **columns: Any) -> Workspace:  # noqa: ANN401
    """At rest in ERROR with its home still remembered."""
    return standby(**{"phase": Phase.ERROR, "error_reason": reason, "error_count": 1} | columns)


def under_way(row: Workspace, operation: Operation, step: Step, **columns: Any) -> Workspace:  # noqa: ANN401
    """The row with an operation claimed at T0 and now at this step."""
    claimed: dict[str, Any] = {
        "operation": operation,
        "op_step": step,
        "op_id": OP_ID,
        "op_started_at": T0,
        "op_clock_at": T0,
        "op_attempt": 1,
    }
    return replace(row, **claimed | columns)


def seeing(row: Workspace, **looks: Condition | None) -> Workspace:
    """The row after other looks at its volume, archive or container."""
    return replace(row, conditions=replace(row.conditions, **looks))


def request(kind: RequestKind, key: str | None = None) -> Request:
    return Request(kind, REQUEST_ID, "owner", key)


def circumstances(
    now: datetime = T0,
    *,
    away: Service | None = None,
    since: datetime | None = None,
    image: ImageState = ImageState.READY,
    acting: Acting = Acting.NOT,
    spread: float = 0.5,
    policy: RetryPolicy = POLICY,
) -> Circumstances:
    """All is well, unless one service is away; `since` is when that began, or when the services came back."""
    services = {service: ServiceState(service is not away, since or after(-3600)) for service in Service}
    return Circumstances(now, policy, services, image, acting, spread)
