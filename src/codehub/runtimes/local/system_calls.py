"""What a sandbox may not ask of the kernel, whatever it is: a filter of system calls, as bubblewrap takes it.

A list of what is barred, not of what is allowed: people run anything in a workspace, debuggers among it. Barred is what
needs a privilege that nobody there has, so that a mistake in the kernel's own check is no way out; and what has been a
way out for users without any: programs and keys in the kernel, its event counters, page faults that a user handles,
rings, and sockets that lead elsewhere than to the network."""

import errno
import os
import struct

from codehub.runtimes import socket_families

ALIKE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
    "quotactl_fd": 443,
}
"""The newer ones have one number on all machines."""
OLDER = {
    "x86_64": {
        "acct": 163, "add_key": 248, "bpf": 321, "chroot": 161, "clock_adjtime": 305, "clock_settime": 227,
        "delete_module": 176, "fanotify_init": 300, "finit_module": 313, "init_module": 175, "ioperm": 173, "iopl": 172,
        "kcmp": 312, "kexec_file_load": 320, "kexec_load": 246, "keyctl": 250, "lookup_dcookie": 212, "mount": 165,
        "open_by_handle_at": 304, "perf_event_open": 298, "pivot_root": 155, "quotactl": 179, "reboot": 169,
        "request_key": 249, "setns": 308, "settimeofday": 164, "swapoff": 168, "swapon": 167, "syslog": 103,
        "umount2": 166, "unshare": 272, "userfaultfd": 323, "vhangup": 153,
    },
    "aarch64": {
        "acct": 89, "add_key": 217, "bpf": 280, "chroot": 51, "clock_adjtime": 266, "clock_settime": 112,
        "delete_module": 106, "fanotify_init": 262, "finit_module": 273, "init_module": 105, "kcmp": 272,
        "kexec_file_load": 294, "kexec_load": 104, "keyctl": 219, "lookup_dcookie": 18, "mount": 40,
        "open_by_handle_at": 265, "perf_event_open": 241, "pivot_root": 41, "quotactl": 60, "reboot": 142,
        "request_key": 218, "setns": 268, "settimeofday": 170, "swapoff": 225, "swapon": 224, "syslog": 116,
        "umount2": 39, "unshare": 97, "userfaultfd": 282, "vhangup": 58,
    },
}  # fmt: skip
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SOCKET = {"x86_64": 41, "aarch64": 198}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435
"""What it is asked for is behind a pointer, which a filter cannot follow: libraries take the older one instead."""
NAMESPACES = 0x7E020000
"""The flags of `clone` that ask for one."""
FOREIGN = 0x40000000
"""From here on, on x86_64, the same calls under other numbers."""

# The fields of what a filter is shown, and the few instructions that it consists of.
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000


def filter_program() -> bytes:
    """For this machine. What comes under another machine's numbers, 32-bit programs among it, is not known to it."""
    machine = os.uname().machine
    allowed, barred = _instruction(_RETURN, _ALLOW), _refused(errno.EPERM)
    argument = _instruction(_LOAD, _FIRST_ARGUMENT)
    program = [
        _instruction(_LOAD, _MACHINE),
        _instruction(_IF_EQUAL, MACHINES[machine], 1, 0),
        _refused(errno.ENOSYS),
        _instruction(_LOAD, _NUMBER),
        *_where(_IF_AT_LEAST, FOREIGN, _refused(errno.ENOSYS)),
        *_where(_IF_EQUAL, CLONE3, _refused(errno.ENOSYS)),
    ]
    for number in sorted((OLDER[machine] | ALIKE).values()):
        program += _where(_IF_EQUAL, number, barred)
    program += _where(_IF_EQUAL, CLONE[machine], argument, *_where(_IF_ANY_BIT, NAMESPACES, barred), allowed)
    families = [each for family in socket_families.ALLOWED for each in _where(_IF_EQUAL, family, allowed)]
    program += _where(_IF_EQUAL, SOCKET[machine], argument, *families, barred)
    return b"".join([*program, allowed])


def _where(test: int, value: int, *then: bytes) -> tuple[bytes, ...]:
    return _instruction(test, value, 0, len(then)), *then


def _refused(error: int) -> bytes:
    return _instruction(_RETURN, _REFUSE | error)


def _instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
