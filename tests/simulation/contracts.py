"""The contracts as code: each looks at every effect before it happens, or at every change of a row, and says what
breaks it. One function for each, named after its number."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from uuid import UUID

from codehub.decide.orphans import CollectPolicy, Generation, named_archives
from codehub.job.marker import MARKER_SUFFIX, parse_marker
from codehub.model.states import LEVEL, Desired, Operation, Phase
from codehub.model.workspace import Workspace
from tests.simulation.loop import PROCESS, Process, State
from tests.simulation.object_store import totals_of, unpack
from tests.simulation.replica import POLICY, Place, Replica
from tests.simulation.street import Street, contract_14_nobody_at_work_is_put_to_sleep

API = frozenset({"desired_state", "deleted_at", "last_access_at", "request", "name", "template_id"})
OBSERVER = frozenset({"conditions", "observed_at"})
IDLE = frozenset({"desired_state", "last_access_at"})
CONTROLLER = (
    frozenset(each.name for each in fields(Workspace))
    - OBSERVER
    - (API - {"request"})
    - {"id", "owner_user_id", "created_at"}
)
WRITERS = {
    None: API,
    "coordinator:observer": OBSERVER,
    "coordinator:wc": CONTROLLER,
    "coordinator:ttl": IDLE,
    "coordinator:gc": frozenset[str](),
    "coordinator:events": frozenset[str](),
}
"""Who writes which column (contract 3); the controller empties a request that it has seen to."""
ACTORS = ("coordinator:wc", "coordinator:gc")


@dataclass
class Contracts:
    """Told of everything, by everybody; `broken` says what was wrong first."""

    stop: Callable[[], None]
    place: Place = field(init=False)
    replicas: list[Replica] = field(default_factory=list)
    acknowledged: dict[UUID, int] = field(default_factory=dict)
    """What people were told is saved: a bit each."""
    wished: dict[UUID, Desired] = field(default_factory=dict)
    """The last wish that the API has answered."""
    broken: list[str] = field(default_factory=list)
    collect: CollectPolicy | None = None
    """As the collector has it, where there is one."""
    street: Street | None = None
    """Where there is a front door."""

    # What is told.

    def row_written(self, before: Workspace | None, after: Workspace, writer: str | None) -> None:
        if writer is None:
            self.wished[after.id] = after.desired_state
        if before is None:
            return
        if writer == "coordinator:ttl":
            self.wished[after.id] = after.desired_state
            assert self.street is not None
            self._tell(contract_14_nobody_at_work_is_put_to_sleep(before, after, self.street))
        self._tell(contract_11_a_deposed_leader_writes_nothing(self.place, writer))
        self._tell(contract_3_one_writer_per_column(before, after, writer))
        self._tell(contract_4_one_operation_at_a_time(before, after))
        self._tell(contract_5_ordered_steps(before, after))
        self._tell(contract_7_a_home_is_whole(before, after, self.place))
        self._tell(contract_10_retries_end(after))
        self._tell(contract_12_no_wish_is_lost(after, self.wished))
        self._tell(contract_8_a_copy_exists(after, self.place, self.acknowledged))

    def object_written(self, key: str, data: bytes) -> None:
        self._tell(contract_7_the_marker_is_last(key, data, self.place))

    def object_deleted(self, key: str) -> None:
        self._tell(contract_9_nothing_named_is_collected(key, self.place, self.collect))

    def volume_deleted(self, name: str) -> None:
        self._tell(contract_8_an_archive_before_the_volume(name, self.place, self.acknowledged))

    def acts(self, what: str, *, destroys: bool) -> None:
        process = PROCESS.get()
        if process is not None:
            self._tell(contract_11_one_leader_fenced(what, process, self.replicas, self.place, destroys=destroys))

    def _tell(self, broken: Iterator[str]) -> None:
        for each in broken:
            self.place.steps.say(f"     !!! {each}")
            self.broken.append(each)
            self.stop()


def contract_3_one_writer_per_column(before: Workspace, after: Workspace, writer: str | None) -> Iterator[str]:
    if FORBIDDEN[writer](before) != FORBIDDEN[writer](after):
        changed = [each for each in COLUMNS - WRITERS[writer] if getattr(before, each) != getattr(after, each)]
        yield f"contract 3: {writer or 'API'} wrote {sorted(changed)}"


COLUMNS = frozenset(each.name for each in fields(Workspace))
FORBIDDEN = {writer: attrgetter(*sorted(COLUMNS - columns)) for writer, columns in WRITERS.items()}


def contract_4_one_operation_at_a_time(before: Workspace, after: Workspace) -> Iterator[str]:
    if Operation.NONE not in (before.operation, after.operation):
        if before.operation is not after.operation:
            yield f"contract 4: {before.operation} became {after.operation}"
        if before.op_id != after.op_id:
            yield f"contract 4: {before.operation} has another identity"
    elif before.operation is Operation.NONE is not after.operation and before.op_id == after.op_id:
        yield f"contract 4: {after.operation} has the identity of an operation before it"
    if after.phase is Phase.ERROR and after.operation is not Operation.NONE:
        yield "contract 4: ERROR with an operation"


STEPS_OF_THE_LADDER = {
    (Phase.PENDING, Phase.ARCHIVED),
    (Phase.PENDING, Phase.STANDBY),
    (Phase.ARCHIVED, Phase.STANDBY),
    (Phase.STANDBY, Phase.RUNNING),
    (Phase.RUNNING, Phase.STANDBY),
    (Phase.STANDBY, Phase.ARCHIVED),
}


def contract_5_ordered_steps(before: Workspace, after: Workspace) -> Iterator[str]:
    moved = (before.phase, after.phase)
    appeared = after.conditions.container is not None and after.conditions.container.subject is not None
    if before.phase is Phase.DELETED and after.phase is not Phase.DELETED and not appeared:
        yield f"contract 5: a deleted workspace became {after.phase}"
    on_the_ladder = before.phase in LEVEL and after.phase in LEVEL and before.phase is not after.phase
    if on_the_ladder and moved not in STEPS_OF_THE_LADDER:
        yield f"contract 5: {before.phase} became {after.phase} at once"


def contract_7_the_marker_is_last(key: str, data: bytes, place: Place) -> Iterator[str]:
    objects = place.store.objects
    if key.endswith(MARKER_SUFFIX) and key.removesuffix(MARKER_SUFFIX) not in objects:
        yield f"contract 7: a marker is written before its archive: {key}"
    marker = objects.get(key + MARKER_SUFFIX)
    if marker is not None and parse_marker(marker).totals != totals_of(data):
        yield f"contract 7: a finished archive gets another content: {key}"


def contract_7_a_home_is_whole(before: Workspace, after: Workspace, place: Place) -> Iterator[str]:
    """What has been restored is what its archive holds, and nobody has used it before."""
    if before.operation is not Operation.RESTORING or after.home_volume is None or before.home_volume is not None:
        return
    archive = place.store.whole(after.archive_key)
    if archive is None or place.engine.homes_content.get(after.home_volume) != unpack(archive):
        yield "contract 7: half of a home became the home"
    if after.restore_marker != after.archive_key:
        yield "contract 7: a restore ended without saying what it restored"


def copies(row: Workspace, place: Place) -> Iterator[int]:
    """What the row can give back, from its home or from its archive."""
    if row.home_volume is not None and row.home_volume in place.engine.homes:
        yield place.engine.homes_content.get(row.home_volume, 0)
    archive = place.store.whole(row.archive_key)
    if archive is not None:
        yield unpack(archive)


def contract_8_a_copy_exists(row: Workspace, place: Place, acknowledged: dict[UUID, int]) -> Iterator[str]:
    """At every moment, within reach of the row. One that was never used has nothing to lose."""
    needed = acknowledged.get(row.id, 0)
    if needed and row.deleted_at is None and not any(each & needed == needed for each in copies(row, place)):
        yield f"contract 8: what was saved is nowhere (needed {needed:b})"


def contract_8_an_archive_before_the_volume(name: str, place: Place, acknowledged: dict[UUID, int]) -> Iterator[str]:
    """Before a volume goes that holds all that was saved, the row names an archive that was read back and holds it."""
    owner = place.engine.homes[name].spec.workspace_id
    row, needed = place.database.rows.get(owner), acknowledged.get(owner, 0)
    if row is None or row.deleted_at is not None:
        return
    if row.home_volume == name:
        yield f"contract 8: the home goes while its row still has it: {name}"
    if not needed or place.engine.homes_content.get(name, 0) & needed != needed:
        return
    if row.home_volume is not None and place.engine.homes_content.get(row.home_volume, 0) & needed == needed:
        return
    archive = place.store.whole(row.archive_key)
    if archive is None or unpack(archive) & needed != needed or row.archive_key not in place.database.archives:
        yield f"contract 8: the last copy goes before an archive is stored: {name}"


def contract_9_nothing_named_is_collected(key: str, place: Place, policy: CollectPolicy | None) -> Iterator[str]:
    archive = key.removesuffix(MARKER_SUFFIX)
    if archive.count("/") != 2 or policy is None:
        return
    database, now = place.database, place.database.clock()
    generations = [
        Generation(each, known.workspace_id, known.made_at, kept=False) for each, known in database.archives.items()
    ]
    named = named_archives(database.rows.values(), generations, policy, now)
    if archive in named:
        yield f"contract 9: collected, though {named[archive]}: {archive}"
    owner = database.rows.get(UUID(archive.partition("/")[0]))
    if owner is not None and owner.deleted_at is None and owner.phase is Phase.ERROR:
        yield f"contract 9: collected from a workspace in ERROR: {archive}"
    if owner is not None and owner.deleted_at is not None and now - owner.deleted_at < policy.undelete_window:
        yield f"contract 9: collected within its undelete window: {archive}"
    noted = [since for found, since in database.orphans.values() if found.key == archive]
    if not noted or now - min(noted) < policy.grace:
        yield f"contract 9: collected without its grace: {archive}"


def contract_9_rubbish_goes(place: Place, policy: CollectPolicy, now: datetime) -> Iterator[str]:
    """What nothing points to is gone in the end: archives by the collector's rule, volumes but for those of rows."""
    rows = place.database.rows.values()
    kept = {row.current_volume for row in rows}
    for name in place.engine.homes:
        if name not in kept:
            yield f"contract 9: the volume {name} is left"
    generations = [
        Generation(each, known.workspace_id, known.made_at, kept=False)
        for each, known in place.database.archives.items()
    ]
    named = named_archives(rows, generations, policy, now)
    for key in place.store.objects:
        if key.count("/") == 2 and key.startswith("0") and key.removesuffix(MARKER_SUFFIX) not in named:
            yield f"contract 9: {key} is left"


def contract_10_retries_end(row: Workspace) -> Iterator[str]:
    if row.deleted_at is None and row.op_attempt > POLICY.max_retries:
        yield f"contract 10: attempt {row.op_attempt} of {row.operation}"
    if row.phase is Phase.ERROR and row.error_reason is None:
        yield "contract 10: ERROR without a reason"


def contract_11_one_leader_fenced(
    what: str, process: Process, replicas: list[Replica], place: Place, *, destroys: bool
) -> Iterator[str]:
    """Nothing leaves a process whose lease has run out, and nothing is destroyed while another one may still act. It is
    looked at as the call leaves: what happens on the way is for incarnations to survive."""
    now = place.loop.time()
    own = next(each for each in replicas if each.process is process)
    terms = [each for name, each in own.leaderships.items() if name in ACTORS]
    if all(now >= each._deadline for each in terms):
        yield f"contract 11: an act after the lease: {what}"
    if not destroys:
        return
    for other in replicas:
        term, mine = other.leaderships.get("coordinator:wc"), own.leaderships.get("coordinator:wc")
        if term is None or mine is None or len(terms) > 1 or term.term.epoch >= mine.term.epoch:
            continue  # a successor destroys nothing yet; and which of two coordinators acts is not known here
        if not term.is_lost and now < term._deadline and other.process.state is not State.DEAD:
            yield f"contract 11: {what} while {other.process.name}, who led before, may still act"


def contract_11_a_deposed_leader_writes_nothing(place: Place, writer: str | None) -> Iterator[str]:
    if writer is not None and place.server.holders.get(writer) is not place.database.seat:
        yield f"contract 11: {writer} wrote without its lock"


def contract_12_no_wish_is_lost(row: Workspace, wished: dict[UUID, Desired]) -> Iterator[str]:
    if wished.get(row.id, row.desired_state) is not row.desired_state:
        yield f"contract 12: {wished[row.id]} was answered, and the row says {row.desired_state}"


def contract_1_reality(row: Workspace, place: Place, needed: int) -> Iterator[str]:
    """What a row at rest says is what is there."""
    if row.phase in (Phase.RUNNING, Phase.STANDBY) and row.home_volume not in place.engine.homes:
        yield f"contract 1: {row.phase} without a home"
    held = {Phase.ARCHIVED: row.home_volume, Phase.DELETED: row.current_volume}.get(row.phase)
    if held is not None:
        yield f"contract 1: {row.phase}, but it has {held}"
    if row.phase is Phase.ARCHIVED and place.store.whole(row.archive_key) is None:
        yield "contract 1: ARCHIVED without an archive"
    if needed and row.deleted_at is None and not any(each & needed == needed for each in copies(row, place)):
        yield f"contract 8: at the end {needed:b} is nowhere"


def contract_6_at_most_one_container(row: Workspace, place: Place) -> Iterator[str]:
    """At rest: one where it runs, on the home that its row names, and none elsewhere. A start of a deposed leader that
    arrives late may leave a second one for a moment; it has gone by then."""
    there = [each for each in place.engine.containers.values() if each.spec.workspace_id == row.id]
    running = place.engine.running(row.id)
    match row.phase:
        case Phase.RUNNING if running != [row.home_volume] or len(there) != 1:
            yield f"contract 6: RUNNING, but {len(there)} containers are there, and {running} run"
        case Phase.STANDBY | Phase.ARCHIVED | Phase.DELETED if there:
            yield f"contract 6: {row.phase}, but a container is there"


def contract_2_level_triggered(row: Workspace, now: datetime) -> Iterator[str]:
    """Whatever was lost, doubled or late: what is wished is reached."""
    if row.phase.value != row.desired_state.value or row.operation is not Operation.NONE or row.request is not None:
        step = f"{row.operation}/{row.op_step} attempt {row.op_attempt}"
        waits = f"next attempt in {(row.next_attempt_at - now).total_seconds():.1f} s" if row.next_attempt_at else ""
        yield f"contract 2: {row.desired_state} wished, {row.phase} reached, {step}, {row.error_reason} {waits}"
