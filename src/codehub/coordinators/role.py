"""The role `coordinators` of a process: everything that it opens, runs and closes again."""

import asyncio
import contextlib
from dataclasses import dataclass, field

import structlog
from sqlalchemy.exc import DBAPIError

from codehub.archives.object_store import ObjectStore
from codehub.bus.activity_keys import Keys
from codehub.bus.activity_watch import ActivityWatch
from codehub.bus.connect import connect
from codehub.bus.hints import Hints, Listener
from codehub.bus.page_events import PageEvents
from codehub.bus.usage import Usage
from codehub.coordinators.archive_look import StoreLook
from codehub.coordinators.installation import Parts, assemble
from codehub.coordinators.leadership import Fence
from codehub.coordinators.runtime import open_runtime
from codehub.coordinators.supervisor import Report
from codehub.coordinators.template_keeper import TemplateKeeper
from codehub.errors import CodehubError
from codehub.images.inside import lay_out
from codehub.settings import Settings
from codehub.settings.idle_times import idle_policy
from codehub.store.engine import single
from codehub.store.identity import inside_key, installation_id
from codehub.store.self_test import require_direct_connection
from codehub.telemetry.metrics import Metrics, fresh
from codehub.telemetry.traces import Traces

log = structlog.get_logger()


@dataclass
class CoordinatorRole:
    settings: Settings
    database_url: str
    redis_url: str
    archive_store: ObjectStore
    metrics: Metrics = field(default_factory=fresh)
    traces: Traces = field(default_factory=Traces)
    reports: dict[str, Report] = field(default_factory=dict)
    """What health tells; empty until the coordinators could be put together."""

    async def run(self) -> None:
        """Until cancelled. A service that is away at the start is waited for: coordinators come when it comes."""
        while True:
            try:
                await self._run()
            except (CodehubError, DBAPIError, OSError) as error:
                log.warning("coordinators cannot run yet", reason=str(error))
            except Exception:
                log.exception("coordinators failed")  # the bulkhead: they never die in silence
            await asyncio.sleep(self.settings.coordinator.retry_interval)

    async def _run(self) -> None:
        fence = Fence()
        async with contextlib.AsyncExitStack() as opened:
            await require_direct_connection(self.database_url)
            installation = await installation_id(self.database_url)
            self._leave_word(installation)
            await asyncio.to_thread(lay_out, self.settings.inside_folder)
            runtime = await open_runtime(self.settings, installation, fence.check)
            opened.push_async_callback(runtime.close)
            redis = connect(self.redis_url)
            opened.push_async_callback(redis.aclose)
            pool = single(self.database_url, "codehub templates")
            opened.push_async_callback(pool.dispose)
            hints = Hints(redis, self.settings.redis_channel.wake_prefix)
            supervisor = assemble(
                Parts(
                    database_url=self.database_url,
                    hints=hints,
                    pages=PageEvents(redis, self.settings.redis_channel.sse_prefix, idle_policy(self.settings)),
                    activity=ActivityWatch(redis, Keys(self.settings.redis_channel.activity_prefix)),
                    usage=Usage(
                        redis, self.settings.redis_channel.usage_prefix, self.settings.coordinator.usage_interval
                    ),
                    idle_policy=idle_policy(self.settings),
                    runtime=runtime,
                    fence=fence,
                    archives=StoreLook(self.archive_store),
                    store=self.archive_store,
                    relay_folder=self.settings.relay_folder,
                    installation=installation,
                    coordinator=self.settings.coordinator,
                    reconciler=self.settings.reconciler,
                    archive=self.settings.archive,
                    retention=self.settings.retention,
                    auth=self.settings.auth,
                    inside_key=await inside_key(self.database_url),
                    metrics=self.metrics,
                    traces=self.traces,
                )
            )
            keeper = TemplateKeeper(
                self.settings, pool, runtime.name == "docker", lambda: hints.wake(Listener.CONTROLLER)
            )
            supervisor.coordinators.append(keeper)
            supervisor.reports = self.reports
            log.info("coordinators ready", runtime=runtime.name, installation=installation)
            await supervisor.run()

    def _leave_word(self, installation: str) -> None:
        """For `codehub reset`, which must know what is ours on an engine when no database can tell it any more."""
        folder = self.settings.codehub.data_dir
        if folder.is_dir():
            (folder / "installation").write_text(f"{installation}\n")
