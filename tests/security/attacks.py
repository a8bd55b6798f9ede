"""Attacks on what all workspaces share, run inside of one: a program of the standard library alone. It is told which
one, goes on until a wall stops it or the seconds are over, lets go of what it took, and prints what stopped it."""

import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MIB = 1024**2
MOST = {"processes": 2000, "memory": 512 * MIB, "disk": 256 * MIB}
MOST |= {"files": 100_000, "sockets": 50_000, "output": 8 * MIB}
"""Where an attack ends by itself: what it takes of a machine without walls is bounded too."""
HOME = Path.home()


def processes() -> str:
    children: list[int] = []
    try:
        while len(children) < MOST["processes"]:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return "no wall"


def memory() -> str:
    return _by_child(lambda: [b"\1" * MIB for _ in range(MOST["memory"] // MIB)])


def disk() -> str:
    return _filling(lambda: _write(HOME / "flood", MOST["disk"]))


def files() -> str:
    def create() -> None:
        for number in range(MOST["files"]):
            (HOME / "many" / str(number)).touch()

    (HOME / "many").mkdir(exist_ok=True)
    return _filling(create)


def sockets() -> str:
    return _by_child(lambda: [socket.socket() for _ in range(MOST["sockets"])])


def output() -> str:
    """Where the first process prints, and so into the log that codehub keeps."""
    with Path("/proc/1/fd/1").open("wb", buffering=0) as log:
        log.writelines(b"x" * 1023 + b"\n" for _ in range(MOST["output"] // 1024))
    return "no wall"


def _by_child(attempt: Callable[[], object]) -> str:
    """Whoever enforces a limit of memory kills, and sockets take some, too."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            attempt()
        except MemoryError:
            code = errno.ENOMEM
        except OSError as error:
            code = error.errno or 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "killed" if code < 0 else errno.errorcode.get(code, "no wall")


def _write(path: Path, most: int) -> None:
    with path.open("wb", buffering=0) as file:
        for _ in range(most // MIB):
            file.write(b"\1" * MIB)
        os.fsync(file.fileno())


def _filling(attempt: Callable[[], None]) -> str:
    try:
        attempt()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    finally:
        with suppress(OSError):
            (HOME / "flood").unlink()
        for each in (HOME / "many").glob("*"):
            each.unlink()
    return "no wall"


ATTACKS = {each.__name__: each for each in (processes, memory, disk, files, sockets, output)}

if __name__ == "__main__":
    attack, ends = ATTACKS[sys.argv[1]], time.monotonic() + float(sys.argv[2])
    stopped_by = attack()
    while time.monotonic() < ends:
        stopped_by = attack()
    sys.stdout.write(stopped_by)
