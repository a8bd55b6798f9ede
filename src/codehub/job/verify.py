"""Read an archive back and compare it with what was sent: what a store has taken, it need not have kept."""

from contextlib import closing
from typing import assert_never

from codehub.job.faults import Corrupt, JobFault, TryAgain
from codehub.job.marker import Totals
from codehub.job.order import Order, Proof
from codehub.job.place import open_place
from codehub.job.programs import TAR_COMPARE
from codehub.job.progress import Progress, Stage
from codehub.job.unpack import Unpacking, declared_totals


def verify(order: Order, progress: Progress) -> Totals:
    """Prove the archive whole, by its checksum and entry list, or by unpacking it against the home itself as well."""
    with closing(open_place(order)) as place:
        declared = declared_totals(order, place)
        progress.begin(Stage.VERIFY, declared.uncompressed)
        _prove(order, Unpacking(order, place, declared, progress.tell))
        return declared


def _prove(order: Order, unpacking: Unpacking) -> None:
    match order.proof:
        case Proof.CHECKSUM:
            unpacking.run()
        case Proof.EXTRACT:
            try:
                unpacking.run(TAR_COMPARE, order.home)
            except (Corrupt, TryAgain):
                raise
            except JobFault as difference:
                raise Corrupt(f"The archive is not that of the home. {difference}") from difference
        case _:
            assert_never(order.proof)
