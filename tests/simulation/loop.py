"""An event loop in which time passes only when nothing else can happen, and a process can end or freeze at any await.

Everything that runs belongs to the process that its context names, or to none: people, services and the checks. What
belongs to a process that has crashed is kept and never resumed, since kill -9 runs no `finally`; what belongs to one
that is frozen waits until it goes on. The order of what is ready is that of its seed, so that the same seed always
gives the same history. No thread, no socket, no clock."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")

AT_ONCE = 50_000
"""So many callbacks at one moment of time are a circle that nobody leaves."""


class Stuck(Exception):
    """Nothing is ready, and nothing ever will be; or everything is, and time stands still."""


class State(Enum):
    LIVE = "live"
    FROZEN = "frozen"
    DEAD = "dead"


@dataclass(eq=False)
class Process:
    """Whatever is run in its context shares its fate."""

    name: str
    state: State = State.LIVE
    held: list[asyncio.Handle] = field(default_factory=list)
    """What is ready to run in it once it goes on, or would be if it lived."""


PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)
"""None: whatever is no process of codehub's."""


class Pause:
    """What is awaited to let everybody else go first: `asyncio.sleep(0)`, which is two coroutines each time."""

    def __await__(self) -> Generator[None, None, None]:
        return iter(ONCE)  # type: ignore[return-value] # which has no frame of its own


ONCE = (None,)
PAUSE = Pause()


class Ready(asyncio.TimerHandle):
    """As any other handle, without what is kept for debugging: there are a thousand of them in a short history."""

    __slots__ = ()

    def __init__(
        self, callback: Callable[..., object], values: tuple[Any, ...], context: Context | None, when: float = 0.0
    ) -> None:
        self._callback: Any = callback
        self._args: Any = values
        self._context = copy_context() if context is None else context
        self._when = when
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True
        self._callback = self._args = None


class VirtualLoop(asyncio.BaseEventLoop):
    _ready: deque[Any]  # the private names of handles are no part of their types
    _scheduled: list[tuple[float, int, Any]]
    _stopping: bool

    def __init__(self, chance: Random | None = None) -> None:
        super().__init__()
        self._chance = chance
        self._moment = 0.0
        self._at_this_moment = 0
        self._asked = 0
        self._tasks: list[asyncio.Task[Any]] = []
        """All of them: what nobody refers to any more is closed, which no crash does."""
        self.set_exception_handler(lambda *_: None)  # tasks of the dead are never awaited

    def time(self) -> float:
        return self._moment

    def go_on(self, process: Process) -> None:
        """A frozen process runs again, with all that has become ready meanwhile."""
        process.state = State.LIVE
        self._ready.extend(process.held)
        process.held.clear()

    def outside(self, seconds: float, callback: Callable[..., None], *values: Any) -> None:  # noqa: ANN401
        """Call it later, whatever becomes of the process that asks for it."""
        self.call_later(seconds, callback, *values, context=Context())

    def call_soon(  # type: ignore[override]
        self,
        callback: Callable[..., object],
        *values: Any,  # noqa: ANN401
        context: Context | None = None,
    ) -> asyncio.Handle:
        handle = Ready(callback, values, context)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *values: Any,  # noqa: ANN401
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """At one moment of time, who asked first is first."""
        handle = Ready(callback, values, context, when)
        self._asked += 1
        heappush(self._scheduled, (when, self._asked, handle))
        return handle

    def call_later(  # type: ignore[override]
        self,
        seconds: float,
        callback: Callable[..., object],
        *values: Any,  # noqa: ANN401
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._moment + seconds, callback, *values, context=context)

    def create_task(  # type: ignore[override]
        self, work: Coroutine[Any, Any, T], *, name: str | None = None, context: Context | None = None
    ) -> asyncio.Task[T]:
        task = asyncio.Task(work, loop=self, name=name, context=context)
        self._tasks.append(task)
        return task

    def _asyncgen_firstiter_hook(self, _: object) -> None:
        """Nobody shuts them down together: the loop is left as it is."""

    async def run_in_executor(self, _executor: object, call: Callable[..., T], *values: Any) -> T:  # type: ignore[override] # noqa: ANN401
        """At once: there is no thread."""
        return call(*values)

    def _run_once(self) -> None:
        ready, chance, live = self._ready, self._chance, State.LIVE
        self._let_time_pass()
        while ready and not self._stopping:
            if chance is not None and len(ready) > 1:
                place = chance.randrange(len(ready))
                ready[0], ready[place] = ready[place], ready[0]
            self._at_this_moment += 1
            if self._at_this_moment > AT_ONCE:
                raise Stuck(f"time does not pass: {AT_ONCE} callbacks at {self._moment:.3f} s")
            handle = ready.popleft()
            if handle._cancelled:
                continue
            process: Process | None = handle._context.get(PROCESS)
            if process is None or process.state is live:
                handle._context.run(handle._callback, *handle._args)
            else:
                process.held.append(handle)

    def _let_time_pass(self) -> None:
        ready, scheduled = self._ready, self._scheduled
        while scheduled and scheduled[0][2]._cancelled:
            heappop(scheduled)
        if not ready:
            if not scheduled:
                raise Stuck("nothing is ready, and nothing is waited for")
            if scheduled[0][0] > self._moment:
                self._moment = scheduled[0][0]
                self._at_this_moment = 0
        while scheduled and scheduled[0][0] <= self._moment:
            handle = heappop(scheduled)[2]
            if not handle._cancelled:
                ready.append(handle)
