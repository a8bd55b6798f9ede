"""Bring a home back, into a fresh and empty volume. It is whole when this returns, and thrown away when it does not."""

import subprocess
from contextlib import closing

from codehub.job.faults import JobFault
from codehub.job.home import Home
from codehub.job.marker import Totals
from codehub.job.order import Order
from codehub.job.place import open_place
from codehub.job.programs import TAR_EXTRACT
from codehub.job.progress import Progress, Stage
from codehub.job.unpack import Unpacking, declared_totals


def restore(order: Order, progress: Progress) -> Totals:
    """Extract while hashing; success is declared only after the hash was right and everything is on the disk."""
    with closing(open_place(order)) as place:
        declared = declared_totals(order, place)
        with closing(Home(order.home)) as home:
            home.require_empty()
            home.require_room(declared.content, declared.entries)
        progress.begin(Stage.RESTORE, declared.uncompressed)
        Unpacking(order, place, declared, progress.tell).run(TAR_EXTRACT, order.home)
    progress.begin(Stage.SYNC)
    synced = subprocess.run(["sync", "--file-system", str(order.home)], capture_output=True, text=True, check=False)
    if synced.returncode != 0:
        raise JobFault(f"The home cannot be made durable: {synced.stderr.strip()}")
    return declared
