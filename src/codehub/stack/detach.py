"""A supervisor in the background, and the pipe through which it speaks until it is ready."""

import json
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TextIO

from codehub.errors import CodehubError, ExitCode
from codehub.stack.parts import PartStatus, State
from codehub.stack.running import AlreadyRunning
from codehub.stack.supervisor import Audience


class FailedInBackground(CodehubError):
    """What the supervisor could not do, with the exit code that it would have had in the foreground."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        super().__init__(sentence)
        self.exit_code = ExitCode(exit_code)


def detached(work: Callable[[Audience], None], log: Path, audience: Audience) -> None:
    """Do the work in the background; return when it says that it is ready, raise its CodehubError if it never is.

    It has a session of its own, no terminal, and init for a parent. What it says until then, the first administrator's
    password among it, comes through a pipe and is stored nowhere.
    """
    reading, writing = os.pipe()
    if (between := os.fork()) == 0:
        os.setsid()
        if os.fork() == 0:  # no session leader, so it can never get a terminal by opening one
            os.close(reading)
            _live(work, log, os.fdopen(writing, "w"))
        os._exit(0)
    os.close(writing)
    os.waitpid(between, 0)
    with os.fdopen(reading) as words:
        _hear(words, log, audience)


def _live(work: Callable[[Audience], None], log: Path, pipe: TextIO) -> NoReturn:
    """The whole life of the background process: it never returns into the command that it came from."""
    teller = _Teller(pipe)
    code = ExitCode.FAILED
    try:
        _leave_terminal(log)
        teller.say(pid=os.getpid())
        work(teller)
        code = ExitCode.OK
    except AlreadyRunning:
        teller.say(already_running=True)
    except CodehubError as error:
        code = error.exit_code
        teller.say(failed=str(error), exit_code=code)
    except BaseException as error:  # noqa: BLE001 (the last frame of this process: whatever it was has to be told)
        traceback.print_exc()
        teller.say(failed=f"codehub ended unexpectedly: {error!r}. More is in {log}", exit_code=code)
    finally:
        os._exit(code)


def _leave_terminal(log: Path) -> None:
    os.chdir("/")
    nothing, file = os.open(os.devnull, os.O_RDONLY), os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(file)


class _Teller:
    """The audience of the background process: the command that waits for it, as long as that does."""

    def __init__(self, pipe: TextIO) -> None:
        self._pipe: TextIO | None = pipe

    def changed(self, part: PartStatus) -> None:
        self.say(part=asdict(part) | {"since": part.since.isoformat()})

    def ready(self, url: str, password: str | None) -> None:
        self.say(ready=url, password=password)
        self._pipe = None

    def say(self, **words: object) -> None:
        if self._pipe is None:
            return
        with suppress(BrokenPipeError):  # nobody waits any more
            print(json.dumps(words), file=self._pipe, flush=True)


def _hear(words: TextIO, log: Path, audience: Audience) -> None:
    pid = 0
    try:
        for line in words:
            match json.loads(line):
                case {"pid": int(pid)}:
                    continue
                case {"part": part}:
                    since = datetime.fromisoformat(part["since"])
                    audience.changed(PartStatus(**part | {"state": State(part["state"]), "since": since}))
                case {"ready": url, "password": password}:
                    return audience.ready(url, password)
                case {"already_running": True}:
                    raise AlreadyRunning("Another command has just started codehub.")
                case {"failed": sentence, "exit_code": code}:
                    raise FailedInBackground(sentence, code)
                case _:
                    continue
    except KeyboardInterrupt:
        os.kill(pid, signal.SIGTERM)
        raise
    raise FailedInBackground(f"codehub was killed while it started. Its log is {log}", ExitCode.FAILED)
