"""How a part is kept, on real processes: pauses grow, a stop ends, and a first start that fails says why."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from codehub.errors import ServiceError
from codehub.stack.account import Account, current_account
from codehub.stack.parts import Kept, PartStatus, State
from codehub.telemetry.health import Check


@dataclass(frozen=True)
class Script:
    """A service that is a few lines of shell; it is ready once it has made a file."""

    folder: Path
    text: str
    stop_seconds: float = 5.0

    name = "script"
    stop_signal = signal.SIGTERM
    death_signal = signal.SIGKILL
    inherited = ()

    @property
    def account(self) -> Account:
        return current_account()

    @property
    def log(self) -> Path:
        return self.folder / "script.log"

    def prepare(self) -> None:
        (self.folder / "ready").unlink(missing_ok=True)

    def argv(self) -> Sequence[str]:
        return ["/bin/sh", "-c", self.text]

    def environment(self) -> Mapping[str, str]:
        return {}

    async def check(self) -> Check:
        return Check("script", (self.folder / "ready").exists(), 0.1, "")


class Story:
    """Everything that happened to a part."""

    def __init__(self) -> None:
        self.statuses: list[PartStatus] = []

    def changed(self, before: PartStatus, after: PartStatus) -> None:
        if before.state is not after.state:
            self.statuses.append(after)

    def times(self, state: State) -> list[float]:
        return [status.since.timestamp() for status in self.statuses if status.state is state]


@pytest.mark.timeout(60)
async def test_the_pauses_between_restarts_grow(tmp_path: Path) -> None:
    story = Story()
    part = Kept(Script(tmp_path, "exit 3"), story.changed, hurry=asyncio.Event(), needed=False)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(part.run())
        while part.status.restarts < 5:
            await asyncio.sleep(0.02)
        await part.stop()
    pauses = [later - earlier for earlier, later in pairwise(story.times(State.RESTARTING))]
    assert all(pause > nominal for pause, nominal in zip(pauses, (0.1, 0.2, 0.4, 0.8), strict=True))
    assert part.status.state is State.STOPPED


async def test_a_first_start_that_fails_says_why_and_is_not_repeated(tmp_path: Path) -> None:
    part = Kept(Script(tmp_path, "echo 'FATAL:  no such thing'; exit 3"), Story().changed, hurry=asyncio.Event())
    await part.run()
    with pytest.raises(ServiceError, match=r"exit code 3: no such thing\. Its log is .*script\.log"):
        await part.started
    assert (part.status.state, part.status.restarts) == (State.FAILED, 0)


@pytest.mark.parametrize("hurry", [False, True])
async def test_one_that_will_not_stop_is_killed_after_its_time_or_in_a_hurry(tmp_path: Path, hurry: bool) -> None:
    deaf = Script(tmp_path, "trap '' TERM; touch ready; while :; do sleep 1; done", stop_seconds=60 if hurry else 0.2)
    hurried = asyncio.Event()
    part = Kept(deaf, Story().changed, hurry=hurried)
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(part.run())
        await part.started
        if hurry:
            hurried.set()
        await part.stop()
    assert part.status.state is State.STOPPED
