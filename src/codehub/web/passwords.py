"""Hashing of passwords beside the event loop, a few at a time: however many log in, other requests are answered."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from codehub.store.passwords import Verdict, check_password, hash_password
from codehub.web.problems import ServiceAway

WAITING = 1000
"""So many may wait for a turn. More is no rush hour but an attack, and waiting would only keep their sockets open."""
NICENESS = 5
"""Hashing yields the processor to whoever answers requests."""

P = ParamSpec("P")
T = TypeVar("T")


class Passwords:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(
            max_workers=max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="passwords", initializer=_be_nice
        )
        self._waiting = 0

    async def hash(self, password: str) -> str:
        return await self._in_turn(hash_password, password)

    async def check(self, password_hash: str | None, password: str) -> Verdict:
        return await self._in_turn(check_password, password_hash, password)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    async def _in_turn(self, work: Callable[P, T], *args: P.args, **_: P.kwargs) -> T:
        if self._waiting >= WAITING:
            raise ServiceAway("Too many people log in at this moment; try again.")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._waiting -= 1


def _be_nice() -> None:
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)  # on Linux a thread has its own
