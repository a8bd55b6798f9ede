"""How many workspaces there are in each phase."""

from codehub.model.states import Phase
from codehub.store.reads import Reads

_COUNT = "SELECT phase, count(*) AS number FROM workspaces GROUP BY phase"


async def count_phases(reads: Reads) -> dict[Phase, int]:
    """Every phase is there, those of which there is none included: a line that vanishes looks like a failed scrape."""
    found = {row["phase"]: row["number"] for row in await reads.fetch(_COUNT)}
    return {phase: found.get(phase, 0) for phase in Phase}
