"""How a part is kept, on real processes: pauses grow, a stop ends, and a first start that fails says why."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from codehub.errors import ServiceError
from codehub.stack import parts
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
        ready = (self.folder / "ready").exists()
        return Check("script", ready, 0.1, "" if ready else "it has no file")


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
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(part.run())
        await part.started
        if hurry:
            hurried.set()
        await part.stop()
    assert part.status.state is State.STOPPED


async def test_one_that_is_stuck_is_started_anew_and_it_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "CHECK_SECONDS", 0.05)
    story, asked = Story(), list[float]()

    def is_stuck(silent_seconds: float) -> bool:
        asked.append(silent_seconds)
        return silent_seconds > 0.2

    script = Script(tmp_path, "touch ready; exec sleep 600")
    part = Kept(script, story.changed, hurry=asyncio.Event(), is_stuck=is_stuck)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(part.run())
        await part.started
        script.prepare()  # its file is gone: it does not pass its checks any more
        while part.status.restarts < 1 or part.status.state is not State.READY:
            await asyncio.sleep(0.02)
        await part.stop()
    assert asked[0] < 0.2 < asked[-1]
    (told,) = [each.detail for each in story.statuses if each.state is State.RESTARTING]
    assert told == "script is stuck, and is started anew: it has no file."
