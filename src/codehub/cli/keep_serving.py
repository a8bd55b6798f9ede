"""`codehub serve` without roles: what answers runs as a child, which is started again whenever it dies."""

import asyncio
import signal
import socket

import typer

from codehub import clock
from codehub.settings import Settings
from codehub.stack.account import current_account
from codehub.stack.data_folder import DataFolder
from codehub.stack.parts import Kept, PartStatus
from codehub.stack.public import url_of
from codehub.stack.running import hold_lock, write_state
from codehub.stack.serve import Serve


def keep_serving(settings: Settings, listener: socket.socket) -> None:
    """Until a signal asks for the end. `codehub status` and `codehub down` find it by its data folder, as with `up`."""
    folder = DataFolder(settings.codehub.data_dir, current_account())
    folder.prepare()
    child = Serve(folder.path, folder.account, listener, settings.environment(), folder.logs / "serve.log")
    with hold_lock(folder):
        asyncio.run(_Keeper(folder, child).run())


class _Keeper:
    def __init__(self, folder: DataFolder, child: Serve) -> None:
        self._folder = folder
        self._child = child
        self._url = url_of(child.listener)
        self._since = clock.now()
        self._ready = False
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()

    async def run(self) -> None:
        """Raises what made the first start impossible; later the child may die as often as it likes."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._asked_to_stop)
        part = Kept(self._child, self._changed, hurry=self._hurry)
        async with asyncio.TaskGroup() as tasks:
            keeping = tasks.create_task(part.run())
            ending = tasks.create_task(self._end_when_asked(part))
            await asyncio.wait({part.started, keeping}, return_when=asyncio.FIRST_COMPLETED)
            failure = part.started.exception() if part.started.done() else None
            if failure is not None:
                ending.cancel()
            elif part.started.done():
                self._say_ready(part.status)
        if failure is not None:
            raise failure

    def _say_ready(self, status: PartStatus) -> None:
        self._ready = True
        self._write_state(status)
        typer.echo(f"codehub answers: {self._url}")

    async def _end_when_asked(self, part: Kept) -> None:
        await self._stop.wait()
        await part.stop()

    def _asked_to_stop(self) -> None:
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def _changed(self, before: PartStatus, after: PartStatus) -> None:
        self._write_state(after)
        if before.state is not after.state:
            typer.echo(f"  {after.name} {after.state}{f': {after.detail}' if after.detail else ''}")

    def _write_state(self, status: PartStatus) -> None:
        write_state(self._folder, self._since, self._url, [status], ready=self._ready)
