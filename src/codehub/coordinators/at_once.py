"""What the controller writes of many rows at once: one that cannot be written keeps none of the others from it."""

from collections.abc import Sequence

import structlog

from codehub.coordinators.leadership import Deposed
from codehub.coordinators.office import Acted, Office, ThinnedOut
from codehub.store.protocols import Judged, SeatLost

log = structlog.get_logger()


async def recorded_at_once(office: Office, outcomes: Sequence[Acted | ThinnedOut]) -> Sequence[Acted | ThinnedOut]:
    """Record the acts that simply returned, most of them by far, in one statement, and leave the others. Where one
    of the rows keeps that from being written, all are left: each has its own turn then."""
    simple = [each for each in outcomes if isinstance(each, Acted) and each.fault is None and each.made is None]
    done = [each.workspace for each in simple]
    if len(done) < 2:
        return outcomes
    try:
        await office.store.all_acted(done)
    except (Deposed, SeatLost):
        raise
    except Exception:
        log.exception("acts are recorded one by one")
        return outcomes
    return [each for each in outcomes if each not in simple]


async def tell_judged(office: Office, judged: Sequence[Judged]) -> None:
    """All at once, or where one of the rows keeps that from being written, each by itself."""
    try:
        await office.store.judged(judged)
    except (Deposed, SeatLost):
        raise
    except Exception:
        log.exception("rows are judged one by one")
        for each in judged:
            with office.refusals.bulkhead(each.workspace):
                await office.store.judged([each])
