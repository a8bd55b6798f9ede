"""What developers' programs ask of the kernel, and have to get in a workspace. Like `escape.py` a program of the
standard library alone; it prints what was refused, as JSON: what it was, and the error."""

import ctypes
import errno
import json
import multiprocessing
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

Way = Callable[[], object]
"""Raises OSError where it is refused."""

TRACE_ME, PEEK_MEMORY, DETACH = 0, 2, 17
STAY = 0x40000
"""A personality: addresses stay where they are from one run to the next."""
NO_NEW_PRIVILEGES = 38
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long] * 4
word = ctypes.c_long(0x5EED)


def checked(answer: int) -> int:
    if answer == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def debug_a_child() -> None:
    """As debuggers do: it stops, its memory is looked at, and it goes on."""
    child = os.fork()
    if child == 0:
        libc.ptrace(TRACE_ME, 0, 0, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(0)
    os.waitpid(child, os.WUNTRACED)
    ctypes.set_errno(0)
    seen = checked(libc.ptrace(PEEK_MEMORY, child, ctypes.addressof(word), 0))
    checked(libc.ptrace(DETACH, child, 0, 0))
    os.waitpid(child, 0)
    if seen != word.value:
        raise OSError(errno.EIO, "its memory reads otherwise")


def fixed_addresses() -> None:
    before = checked(libc.personality(0xFFFFFFFF))
    checked(libc.personality(before | STAY))
    checked(libc.personality(before))


def begin_a_thread() -> None:
    done = threading.Event()
    threading.Thread(target=done.set).start()
    if not done.wait(30):
        raise TimeoutError


def between_processes() -> None:
    """Shared memory, semaphores and a pipe."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(abs, range(4))


def descriptor_of_a_process() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    found = os.pidfd_open(child)
    select.select([found], [], [], 30)
    os.close(found)
    os.waitpid(child, 0)


def talk(family: int, kind: int, address: object) -> Way:
    def way() -> None:
        with socket.socket(family, kind) as made:
            made.bind(address)  # type: ignore[arg-type]

    return way


def watch_a_folder() -> None:
    watching = checked(libc.inotify_init1(0))
    checked(libc.inotify_add_watch(watching, b"/tmp", 0x100))
    os.close(watching)


def named_pipe() -> None:
    place = f"/tmp/everyday-{os.getpid()}.pipe"
    os.mkfifo(place)
    Path(place).unlink()


WAYS: dict[str, Way] = {
    "a child is debugged": debug_a_child,
    "addresses are kept where they are": fixed_addresses,
    "a thread is begun": begin_a_thread,
    "processes work together": between_processes,
    "a process is waited for by its descriptor": descriptor_of_a_process,
    "a program is run": lambda: os.waitpid(os.posix_spawn("/bin/sh", ["sh", "-c", ":"], {}), 0),
    "a server listens": talk(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
    "a path is listened at": talk(socket.AF_UNIX, socket.SOCK_STREAM, f"/tmp/everyday-{os.getpid()}.socket"),
    "the network's interfaces are listed": socket.if_nameindex,
    "the kernel tells of routes": talk(socket.AF_NETLINK, socket.SOCK_RAW, (0, 0)),
    "a pair of sockets is made": socket.socketpair,
    "files live in memory": lambda: os.close(os.memfd_create("everyday")),
    "a folder is watched": watch_a_folder,
    "a program fences itself in": lambda: checked(libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)),
    "it is nice": lambda: os.nice(1),
    "it keeps to one processor": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "a pipe has a name": named_pipe,
}


def outcome(way: Way) -> str | None:
    try:
        way()
    except OSError as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: outcome(way) for name, way in WAYS.items()}))
