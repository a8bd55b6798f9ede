"""`codehub serve` without roles: what answers runs as children, which are started again whenever they die."""

import asyncio
import signal
import socket

import typer

from codehub import clock
from codehub.errors import CodehubError
from codehub.settings import Settings
from codehub.stack.account import current_account
from codehub.stack.answering import Answerers, Answering, answerers
from codehub.stack.data_folder import DataFolder
from codehub.stack.parts import Kept, PartStatus
from codehub.stack.restarts import Restarts
from codehub.stack.running import hold_lock, write_state


def keep_serving(settings: Settings, listener: socket.socket) -> None:
    """Until a signal asks for the end. `codehub status`, `restart` and `down` find it by its data folder, as with
    `up`."""
    folder = DataFolder(settings.codehub.data_dir, current_account())
    folder.prepare()

    async def keep() -> None:
        environment = settings.environment()
        await _Keeper(folder, answerers(settings, folder, folder.account, listener, sockets, environment)).run()

    with hold_lock(folder), folder.sockets() as sockets:
        asyncio.run(keep())


class _Keeper:
    def __init__(self, folder: DataFolder, made_after: Answerers) -> None:
        self._folder = folder
        self._url = made_after.url
        self._since = clock.now()
        self._ready = False
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._answering = Answering(made_after, self._changed, hurry=self._hurry)
        self._restarts = Restarts(self._roll, self._write_state)
        self._tasks = asyncio.TaskGroup()

    async def run(self) -> None:
        """Raises what made the first start impossible; later a child may die as often as it likes."""
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, self._asked_to_stop)
        self._restarts.listen()
        failure = None
        async with self._tasks as tasks:
            working = tasks.create_task(self._work())
            stopping = asyncio.ensure_future(self._stop.wait())
            await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
            failure = working.result() if working.done() else None
            for task in (working, stopping):
                task.cancel()
            await self._answering.stop()
        if failure is not None:
            raise failure

    async def _work(self) -> CodehubError:
        """Start and restart; returns only if there is nothing to go on with."""
        try:
            await self._answering.start(self._begin)
        except CodehubError as error:
            return error
        self._ready = True
        self._write_state()
        typer.echo(f"codehub answers: {self._url}")
        return await self._restarts.run()

    def _begin(self, part: Kept) -> None:
        self._tasks.create_task(part.run())

    async def _roll(self) -> None:
        await self._answering.roll(self._begin)

    def _asked_to_stop(self) -> None:
        if self._stop.is_set():
            self._hurry.set()
        self._stop.set()

    def _changed(self, before: PartStatus, after: PartStatus) -> None:
        self._write_state()
        if before.state is not after.state:
            typer.echo(f"  {after.name} {after.state}{f': {after.detail}' if after.detail else ''}")

    def _write_state(self) -> None:
        statuses = [part.status for part in self._answering.parts]
        write_state(self._folder, self._since, self._url, statuses, self._restarts.told, ready=self._ready)
