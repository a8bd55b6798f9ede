"""The same walls, come at from the side: by 32-bit calls, by numbers that are longer than the kernel reads, by older
and newer calls. Like `escape.py` a program of the standard library alone, which tells what led somewhere."""

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import sys
from collections.abc import Callable

Way = Callable[[], int]
"""What the kernel answers: an error as a negative number, as its calls do."""

BARRED = {errno.EPERM, errno.EACCES, errno.ENOSYS}
LONGER = 1 << 32
"""Above all bits that the kernel reads of an `int`."""
NEW_USER = 1 << 28
MAP_32BIT = 0x40
CALLS = {
    "clone": {"x86_64": 56, "aarch64": 220},
    "clone3": {"x86_64": 435, "aarch64": 435},
    "socket": {"x86_64": 41, "aarch64": 198},
    "open_by_handle_at": {"x86_64": 304, "aarch64": 265},
}
OLD_CALLS = {"socketcall": 102, "unshare": 310, "socket": 359, "io_uring_setup": 425}
"""Their 32-bit numbers."""
FAMILIES = {
    "the kernel's cryptography": 38,
    "the machine below this one": 40,
    "a cluster": 30,
    "radio": 31,
    "packets past the kernel": 44,
}
OLD_SOCKETS = 1
"""What `socketcall` is told to make one."""
INTERRUPT = bytes.fromhex("53 89f8 89f3 87d1 cd80 5b 4863c0 c3")
"""A function of four numbers: makes the 32-bit call of the first with the others, and returns the kernel's answer."""
libc = ctypes.CDLL(None, use_errno=True)


def calling(name: str, *arguments: int) -> Way:
    def way() -> int:
        ctypes.set_errno(0)
        number, given = CALLS[name][os.uname().machine], [ctypes.c_long(each) for each in arguments]
        done = int(libc.syscall(ctypes.c_long(number), *given))
        return -ctypes.get_errno() if done == -1 else done

    return way


def calling_old(name: str, *arguments: int) -> Way:
    def way() -> int:
        page = low_page(INTERRUPT)
        made = ctypes.CFUNCTYPE(ctypes.c_long, *([ctypes.c_int] * 4))(place_of(page))
        return int(made(OLD_CALLS[name], *arguments, *[0] * (3 - len(arguments))))

    return way


def old_socket(family: int) -> Way:
    """Its arguments lie in memory, where no filter looks."""

    def way() -> int:
        told = low_page(b"".join(each.to_bytes(4, "little") for each in (family, socket.SOCK_SEQPACKET, 0)))
        return calling_old("socketcall", OLD_SOCKETS, place_of(told))()

    return way


def low_page(content: bytes) -> mmap.mmap:
    """Where a 32-bit number can point to."""
    page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_32BIT, mmap.PROT_WRITE | 1 | 4)
    page.write(content)
    return page


def place_of(page: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(page))


def in_new_process(flags: int) -> Way:
    return calling("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)


def in_newer_process(flags: int) -> Way:
    """Its arguments lie in memory too."""

    def way() -> int:
        told = (ctypes.c_uint64 * 8)(flags, 0, 0, 0, signal.SIGCHLD)
        return calling("clone3", ctypes.addressof(told), ctypes.sizeof(told))()

    return way


ANYWHERE: dict[str, Way] = {
    "a user namespace with a process": in_new_process(NEW_USER),
    "a user namespace with a newer call": in_newer_process(NEW_USER),
    **{name: calling("socket", family, socket.SOCK_SEQPACKET, 0) for name, family in FAMILIES.items()},
    **{
        f"{name}, longer": calling("socket", LONGER | each, socket.SOCK_SEQPACKET, 0) for name, each in FAMILIES.items()
    },
    "files by their number": calling("open_by_handle_at", -100, 0, 0),
}
OLD: dict[str, Way] = {
    "old rings": calling_old("io_uring_setup", 1, 0),
    "an old user namespace": calling_old("unshare", NEW_USER),
    **{f"old: {name}": calling_old("socket", family, socket.SOCK_SEQPACKET) for name, family in FAMILIES.items()},
    **{f"older: {name}": old_socket(family) for name, family in FAMILIES.items()},
}
WAYS = ANYWHERE | (OLD if os.uname().machine == "x86_64" else {})


def outcome(way: Way) -> str | None:
    """Each in a process of its own, which may die of it: of a call that is not there for 32 bits, for one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(way()).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    said = os.read(reader, 64).decode()
    os.close(reader)
    return None if not said or -int(said) in BARRED else f"no wall: {said}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: outcome(way) for name, way in WAYS.items()}))
