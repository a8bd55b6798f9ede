"""Whoever watches a tunnel can neither break nor change it."""

import structlog

from codehub.proxy.doorkeeper import Watcher

log = structlog.get_logger(__name__)


class Watched:
    """Tells a watcher; one that fails is told nothing more."""

    __slots__ = ("_watcher",)

    def __init__(self, watcher: Watcher | None) -> None:
        self._watcher = watcher

    def from_visitor(self, data: bytes) -> None:
        if self._watcher is not None:
            try:
                self._watcher.from_visitor(data)
            except Exception as error:  # noqa: BLE001 (a bulkhead; said in `_fail`)
                self._fail(error)

    def from_workspace(self, data: bytes) -> None:
        if self._watcher is not None:
            try:
                self._watcher.from_workspace(data)
            except Exception as error:  # noqa: BLE001 (a bulkhead; said in `_fail`)
                self._fail(error)

    def ended(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            try:
                watcher.ended()
            except Exception as error:  # noqa: BLE001 (a bulkhead; said in `_fail`)
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        log.warning("a watcher failed", exc_info=error)
        self._watcher = None
