"""A small campaign in every run. The large one: python -m tests.chaos --minutes 20 --seed 1"""

from pathlib import Path
from random import Random

import pytest

from tests.chaos.campaign import campaign
from tests.chaos.checker import breaches
from tests.chaos.faults import EVERYTHING, JOB, WORKSPACE, Fault, Kind
from tests.chaos.history import History, Struck, Synced
from tests.chaos.relay import Trouble

FAULTS = [
    Fault(Kind.KILL, "serve-1"),
    Fault(Kind.KILL, "serve-2"),
    Fault(Kind.KILL, "proxy-1"),
    Fault(Kind.KILL, "postgres"),
    Fault(Kind.KILL, "valkey"),
    Fault(Kind.KILL, JOB),
    Fault(Kind.KILL, WORKSPACE),
    Fault(Kind.KILL, EVERYTHING),
    Fault(Kind.FREEZE, "serve-1", 4),
    Fault(Kind.CUT, "postgres", 2, Trouble.RESET),
    Fault(Kind.RESTART, "postgres"),
]
FULL = Fault(Kind.FILL, "postgres", 4)


@pytest.mark.timeout(900)
async def test_nothing_is_lost_whatever_is_killed(tmp_path: Path) -> None:
    history = History(tmp_path / "history.jsonl")
    async with campaign(history, seed=0, say=print) as made:
        struck = [*FAULTS, FULL] if made.ground.disks else FAULTS
        faults = Random(0).sample(struck, len(struck))  # noqa: S311
        await made.run(faults, workers=3, go_on=lambda: True)
        await made.look()
    assert breaches(history.events) == []
    assert sum(isinstance(event, Struck) for event in history.events) == len(struck)
    assert any(isinstance(event, Synced) for event in history.events)
