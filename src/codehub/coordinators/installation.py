"""Puts the five coordinators together out of settings and services."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

from codehub import clock
from codehub.archives.object_store import ObjectStore
from codehub.bus.activity_watch import ActivityWatch
from codehub.bus.hints import Hints, Listener
from codehub.bus.page_events import PageEvents
from codehub.bus.usage import Usage
from codehub.coordinators.archive_acts import ArchiveTerms
from codehub.coordinators.archiving import Archiving
from codehub.coordinators.backup_watch import BackupWatch
from codehub.coordinators.event_listener import EventListener
from codehub.coordinators.gc_runner import Book, GcRunner
from codehub.coordinators.leadership import Fence
from codehub.coordinators.observer import ArchiveLook, Observer
from codehub.coordinators.progress import Progress
from codehub.coordinators.sampler import Sampler
from codehub.coordinators.slots import Slots
from codehub.coordinators.store_relay import CONNECTIONS_PER_JOB, StoreRelay
from codehub.coordinators.supervisor import Supervisor, Terms
from codehub.coordinators.ticker import Rhythm, Ticker
from codehub.coordinators.ttl_runner import TtlRunner
from codehub.coordinators.workspace_controller import WorkspaceController
from codehub.decide.idle import IdlePolicy
from codehub.decide.retry import RetryPolicy
from codehub.job.order import Proof
from codehub.model.states import Operation
from codehub.runtimes.protocols import Runtime
from codehub.settings.collecting import collect_policy
from codehub.settings.groups import ArchiveConfig, AuthConfig, CoordinatorConfig, ReconcilerConfig, RetentionConfig
from codehub.store.collector import PostgresCollector
from codehub.store.engine import single
from codehub.store.feed import PostgresFeed
from codehub.store.gc_rounds import PostgresRounds
from codehub.store.home_counter import PostgresMarks
from codehub.store.idle import PostgresIdle
from codehub.store.observer import PostgresObserver
from codehub.store.protocols import Seat
from codehub.store.pruning import prune_by_age, prune_workspaces
from codehub.store.seat import PostgresSeat
from codehub.store.self_test import other_candidates
from codehub.store.shards import Shard, shards
from codehub.telemetry.counted_controller import CountedController
from codehub.telemetry.metrics import Metrics, fresh
from codehub.telemetry.traces import Traces

LENT_FOR_ATTEMPTS = 2
"""A job that a new leader adopts gets the time of one attempt anew."""


@dataclass(frozen=True)
class Parts:
    database_url: str
    hints: Hints
    pages: PageEvents
    activity: ActivityWatch
    usage: Usage
    idle_policy: IdlePolicy
    runtime: Runtime
    """Its fence must be `fence.check`."""
    fence: Fence
    archives: ArchiveLook
    store: ObjectStore
    """Where the archives are that `archives` looks at."""
    relay_folder: Path
    """Where jobs find the way to a store on the network; only they and codehub may get there."""
    installation: str
    """What this installation's containers, volumes and marks are labelled with."""
    coordinator: CoordinatorConfig
    reconciler: ReconcilerConfig
    archive: ArchiveConfig = field(default_factory=ArchiveConfig)
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    auth: AuthConfig = field(default_factory=AuthConfig)
    inside_key: bytes | None = None
    """What makes the tokens by which workspaces keep themselves awake."""
    metrics: Metrics = field(default_factory=fresh)
    traces: Traces = field(default_factory=Traces)


def assemble(parts: Parts) -> Supervisor:
    config = parts.coordinator
    rhythm = Rhythm(config.idle_interval, config.active_interval, config.active_duration)
    observer = Observer(
        runtime=parts.runtime,
        archives=parts.archives,
        open_store=lambda seat: PostgresObserver(_postgres(seat)),
        wake_controller=partial(parts.hints.wake, Listener.CONTROLLER),
        hints=partial(parts.hints.listen, Listener.OBSERVER),
        ticker=Ticker(rhythm, clock.elapsed, random.random),
        elapsed=clock.elapsed,
        sampler=Sampler(parts.runtime, parts.usage, config.usage_interval, clock.elapsed, clock.now),
    )
    watch = BackupWatch(PostgresMarks(single(parts.database_url, "codehub counter")), parts.store, parts.installation)
    slots = Slots(config.max_concurrent_operations, config.max_concurrent_jobs)
    controllers = [_controller(parts, watch, shard, rhythm, slots) for shard in shards(config.shards)]
    divided = {each.lock_name: config.shards for each in controllers}
    return Supervisor(
        coordinators=[
            observer,
            *controllers,
            EventListener(lambda seat: PostgresFeed(_postgres(seat)), parts.hints, parts.pages),
            _ttl_runner(parts),
            _collector(parts, watch),
        ],
        take_seat=lambda lock_name: PostgresSeat.take(
            parts.database_url, lock_name, config.node_id, config.lease_seconds, divided.get(lock_name)
        ),
        others_compete=lambda: other_candidates(parts.database_url),
        terms=Terms(config.lease_seconds, config.retry_interval, config.initial_delay_max),
    )


def _controller(parts: Parts, watch: BackupWatch, shard: Shard, rhythm: Rhythm, slots: Slots) -> WorkspaceController:
    relay = _relay(parts, shard)
    return WorkspaceController(
        runtime=parts.runtime,
        archiving=Archiving(parts.store, _archive_terms(parts, relay), watch, relay),
        fence=parts.fence,
        open_store=lambda seat: CountedController(_postgres(seat), shard, parts.metrics, parts.traces),
        wake_observer=partial(parts.hints.wake, Listener.OBSERVER),
        hints=partial(parts.hints.listen, Listener.CONTROLLER),
        progress=Progress(parts.pages.progress),
        ticker=Ticker(rhythm, clock.elapsed, random.random),
        policy=retry_policy(parts.reconciler),
        spread=random.random,
        elapsed=clock.elapsed,
        slots=slots,
        batch=parts.coordinator.batch_size,
        name=shard.name,
        lock_name=shard.lock_name,
        traces=parts.traces,
        origins=parts.idle_policy.origins,
        inside_key=parts.inside_key,
    )


def _ttl_runner(parts: Parts) -> TtlRunner:
    async def wake(workspace_ids: Sequence[UUID]) -> None:
        for listener in Listener:
            await parts.hints.wake(listener, *workspace_ids)

    return TtlRunner(
        open_store=lambda seat: PostgresIdle(_postgres(seat), parts.idle_policy),
        watch=parts.activity,
        policy=parts.idle_policy,
        wake=wake,
        metrics=parts.metrics,
        interval_seconds=parts.coordinator.ttl_interval,
    )


def _collector(parts: Parts, watch: BackupWatch) -> GcRunner:
    interval = timedelta(seconds=parts.coordinator.gc_interval)

    def open_book(seat: Seat) -> Book:
        held = _postgres(seat)
        return Book(
            collector=PostgresCollector(held),
            rounds=PostgresRounds(held, interval=interval),
            prune=partial(prune_by_age, held, parts.retention, parts.auth),
            prune_workspaces=partial(prune_workspaces, held, parts.retention),
        )

    return GcRunner(
        runtime=parts.runtime,
        fence=parts.fence,
        store=parts.store,
        installation=parts.installation,
        watch=watch,
        policy=collect_policy(parts.archive, parts.retention),
        open_book=open_book,
        elapsed=clock.elapsed,
        metrics=parts.metrics,
    )


def _relay(parts: Parts, shard: Shard) -> StoreRelay | None:
    address = parts.store.address
    if address is None:
        return None
    most = parts.coordinator.max_concurrent_jobs * CONNECTIONS_PER_JOB
    return StoreRelay(parts.relay_folder / shard.name.replace(":", "-"), address, most)


def _archive_terms(parts: Parts, relay: StoreRelay | None) -> ArchiveTerms:
    longest = max(parts.reconciler.archiving_timeout, parts.reconciler.restoring_timeout)
    return ArchiveTerms(
        level=parts.archive.zstd_level,
        proof=Proof(parts.archive.verify),
        lent_seconds=longest * LENT_FOR_ATTEMPTS,
        socket=str(relay.path) if relay is not None else None,
    )


def _postgres(seat: Seat) -> PostgresSeat:
    """Every seat here was taken below."""
    assert isinstance(seat, PostgresSeat)  # noqa: S101
    return seat


def retry_policy(config: ReconcilerConfig) -> RetryPolicy:
    seconds = {
        Operation.PROVISIONING: config.provisioning_timeout,
        Operation.RESTORING: config.restoring_timeout,
        Operation.STARTING: config.starting_timeout,
        Operation.STOPPING: config.stopping_timeout,
        Operation.ARCHIVING: config.archiving_timeout,
        Operation.CREATE_EMPTY_ARCHIVE: config.create_empty_archive_timeout,
        Operation.DELETING: config.deleting_timeout,
    }
    return RetryPolicy(
        timeouts={operation: timedelta(seconds=limit) for operation, limit in seconds.items()},
        max_retries=config.max_retries,
        first_backoff=timedelta(seconds=config.retry_backoff),
        image_pull_timeout=timedelta(seconds=config.image_pull_timeout),
    )
