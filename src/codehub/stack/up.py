"""`codehub up`: one supervisor per data folder."""

import asyncio

from codehub.settings import Settings
from codehub.stack.assemble import assemble
from codehub.stack.data_folder import DataFolder, mapped_faults
from codehub.stack.public import listen
from codehub.stack.running import hold_lock
from codehub.stack.supervisor import Audience, Supervisor
from codehub.telemetry import logs


def supervise(settings: Settings, folder: DataFolder, audience: Audience, *, s3: bool) -> None:
    """Run the stack in this process until a signal ends it. Raises the CodehubError that made it impossible."""
    with (
        hold_lock(folder),
        folder.supervisor_log.open("a") as log,
        listen(*settings.codehub.listen_address) as listener,
        folder.sockets() as sockets,
    ):
        logs.configure(settings.codehub.log_level, "json", log)
        with mapped_faults(folder.path):
            stack = assemble(settings, folder, listener, sockets, s3=s3)

        async def run() -> None:
            await Supervisor(stack, audience).run()

        asyncio.run(run())
