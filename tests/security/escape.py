"""Ways out of a workspace, tried from inside: a program of the standard library alone, which `test_escapes.py` runs in
real workspaces. It prints which of them led somewhere, as JSON: the name of the way, and what was gained."""

import ctypes
import errno
import json
import os
import resource
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

Way = Callable[[], object]
"""Raises OSError where it is barred; returns what was gained, or nothing."""

BARRED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS, errno.ENOENT, errno.ENXIO, errno.ENODEV}
"""How a wall answers. Anything else, such as a complaint over an argument, means that the wall was not there."""
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    name: numbers[os.uname().machine]
    for name, numbers in {
        "add_key": {"x86_64": 248, "aarch64": 217},
        "bpf": {"x86_64": 321, "aarch64": 280},
        "io_uring_setup": {"x86_64": 425, "aarch64": 425},
        "kexec_load": {"x86_64": 246, "aarch64": 104},
        "perf_event_open": {"x86_64": 298, "aarch64": 241},
        "userfaultfd": {"x86_64": 323, "aarch64": 282},
    }.items()
}
NAMESPACES = {"mount": 1 << 17, "cgroup": 1 << 25, "host name": 1 << 26, "message": 1 << 27, "user": 1 << 28}
NAMESPACES |= {"process": 1 << 29, "network": 1 << 30}
ENGINE_SOCKETS = (
    "docker.sock",
    "containerd/containerd.sock",
    "podman/podman.sock",
    "crio/crio.sock",
    "dockershim.sock",
)
HARMLESS_DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "core"}
SYSTEM_FILES = {
    "the program for crash dumps": "/proc/sys/kernel/core_pattern",
    "the program that loads modules": "/proc/sys/kernel/modprobe",
    "the kernel's hot keys": "/proc/sysrq-trigger",
    "the program for device events": "/sys/kernel/uevent_helper",
    "the host's forwarding": "/proc/sys/net/ipv4/ip_forward",
    "the host's address space layout": "/proc/sys/kernel/randomize_va_space",
    "the first process's program": "/proc/1/exe",
    "the kernel log": "/dev/kmsg",
    "the host's passwords": "/etc/shadow",
    "a program of the system": "/bin/sh",
    "the loader's list": "/etc/ld.so.preload",
}
SECRETS = {
    "the memory of the machine": "/dev/mem",
    "the memory of the kernel": "/proc/kcore",
    "the keys of the kernel": "/proc/keys",
    "the kernel's trace": "/sys/kernel/tracing/trace",
    "the kernel's debugger": "/sys/kernel/debug/sched",
    "a disk": "/dev/vda",
    "another disk": "/dev/sda",
    "virtual machines": "/dev/kvm",
    "network tunnels": "/dev/net/tun",
    "loop devices": "/dev/loop-control",
    "file systems of users": "/dev/fuse",
    "the superuser's home": str(Path("/", "root", ".ssh")),
}
CGROUPS = Path("/sys/fs/cgroup")


def called(name: str, *arguments: object) -> object:
    """A call of the C library, or of the kernel by its number where the library has none."""
    ctypes.set_errno(0)
    call = getattr(libc, name) if name not in NUMBERS else lambda *given: libc.syscall(NUMBERS[name], *given)
    done = call(*arguments)
    if done == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"{name} returned {done}"


def writing(path: str) -> Way:
    def way() -> str:
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
        return f"{path} can be written"

    return way


def reading(path: str) -> Way:
    def way() -> str | None:
        if Path(path).is_dir():
            return f"{path} can be listed: {os.listdir(path)}"  # noqa: PTH208
        return f"{path} can be read" if Path(path).open("rb").read(1) else None

    return way


def walled(way: Way, *answers: int) -> Way:
    """One whose wall answers in its own way: nobody has that number there, or none of them may be made."""

    def tried() -> object:
        try:
            return way()
        except OSError as error:
            if error.errno in answers:
                return None
            raise

    return tried


def calling(name: object, *arguments: object) -> Way:
    return lambda: called(str(name), *arguments)


def status(field: str, contained: str) -> Way:
    def way() -> str | None:
        for process in ("self", "1"):
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
            found = next(line.split(":")[1].strip() for line in lines if line.startswith(f"{field}:"))
            if found != contained:
                return f"{field} of {process} is {found}"
        return None

    return way


def in_child(attempt: Callable[[], object]) -> Way:
    """For what would change this process: a child tries it and tells its error as its exit code."""

    def way() -> str | None:
        child = os.fork()
        if child == 0:
            code = 255
            try:
                attempt()
                code = 0
            except OSError as error:
                code = error.errno or 255
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code == 0:
            return "it was allowed"
        raise OSError(code, os.strerror(code))

    return way


def apart(flag: int) -> Callable[[], object]:
    return lambda: called("unshare", flag)


def join(kind: str) -> Callable[[], object]:
    return lambda: called("setns", os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0)


def devices() -> list[str]:
    found = [each for each in Path("/dev").rglob("*") if not each.is_symlink()]
    kinds = [each for each in found if stat.S_ISBLK(each.stat().st_mode) or stat.S_ISCHR(each.stat().st_mode)]
    return [str(each) for each in kinds if each.name not in HARMLESS_DEVICES and each.parent.name != "pts"]


def leaked_folders() -> list[str]:
    """Descriptors of folders that whoever started this left open lead out of any root."""
    found = []
    for process in ("self", "1"):
        for number in _descriptors(process):
            target = Path(f"/proc/{process}/fd/{number}")
            if target.exists() and target.is_dir() and str(target.readlink()) != f"/proc/{os.getpid()}/fd":
                found.append(f"{target} is {target.readlink()}")
    return found


def _descriptors(process: str) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/fd")  # noqa: PTH208
    except PermissionError:
        return []


def other_roots() -> list[str]:
    own = os.stat("/")  # noqa: PTH116
    found = []
    for process in (each for each in os.listdir("/proc") if each.isdigit()):  # noqa: PTH208
        try:
            seen = os.stat(f"/proc/{process}/root")  # noqa: PTH116
        except OSError:
            continue
        if (seen.st_dev, seen.st_ino) != (own.st_dev, own.st_ino):
            found.append(f"/proc/{process}/root")
    return found


def other_users() -> list[str]:
    return [
        f"process {each.name} is of {each.stat().st_uid}"
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and each.exists() and each.stat().st_uid not in (os.getuid(), 0, 65534)
    ]


def abstract_sockets() -> list[str]:
    lines = Path("/proc/net/unix").read_text().splitlines()[1:]
    return [line.split()[-1] for line in lines if line.split()[-1].startswith("@")]


def engine_sockets() -> list[str]:
    places = (Path(base, name) for base in ("/run", "/var/run") for name in ENGINE_SOCKETS)
    return [str(place) for place in places if place.exists()]


def writable_groups() -> list[str]:
    return [str(each) for each in CGROUPS.rglob("*") if each.is_file() and os.access(each, os.W_OK)]


def writable_with_devices() -> str | None:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    open_ones = [
        place for _, place, _, options, *_ in mounts if os.access(place, os.W_OK) and "dev" in options.split(",")
    ]
    return f"devices count on {open_ones}" if open_ones else None


def reach(family: int, kind: int, protocol: int = 0) -> Way:
    def way() -> str:
        with socket.socket(family, kind, protocol):
            return "such a socket can be made"

    return way


def type_for_the_terminal() -> object:
    import fcntl
    import termios

    with Path("/dev/tty").open("wb") as terminal:
        return fcntl.ioctl(terminal, termios.TIOCSTI, b"x")


def more_open_files() -> str | None:
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2**20, 2**20))
    except ValueError:  # its word for a refusal
        return None
    return "the limit can be raised"


def unkillable() -> None:
    Path("/proc/self/oom_score_adj").write_text("-1000")


def device(kind: int, major: int, minor: int) -> Way:
    def way() -> str:
        place = f"/tmp/device-{os.getpid()}"
        os.mknod(place, kind | 0o600, os.makedev(major, minor))
        os.unlink(place)  # noqa: PTH108
        return "a device can be made"

    return way


CALLS: dict[str, tuple[object, ...]] = {
    "mounting": ("mount", b"none", b"/tmp", b"tmpfs", 0, None),
    "making the system writable": ("mount", None, b"/", None, 0x20 | 0x1000, None),
    "uncovering what is hidden in /proc": ("umount2", b"/proc", 2),
    "loading a module": ("init_module", None, 0, b""),
    "another kernel": ("kexec_load", 0, 0, None, 0),
    "a restart of the machine": ("reboot", 0x89ABCDEF),
    "swap": ("swapon", b"/dev/vda", 0),
    "programs in the kernel": ("bpf", 0, None, 0),
    "counting what the kernel does": ("perf_event_open", None, 0, -1, -1, 0),
    "rings of the kernel": ("io_uring_setup", 1, ctypes.create_string_buffer(120)),
    "keys of the kernel": ("add_key", b"user", b"escape", b"x", 1, -3),
    "holding the kernel up in a page fault": ("userfaultfd", 0),
    "files by their number": ("open_by_handle_at", -100, ctypes.create_string_buffer(64), 0),
    "accounting": ("acct", b"/tmp/acct"),
    "the quota of a disk": ("quotactl", 0x80000200, b"/dev/vda", 0, None),
    "the kernel's messages": ("klogctl", 3, ctypes.create_string_buffer(256), 256),
    "watching a whole file system": ("fanotify_init", 0, 0),
}
SOCKETS = {
    "raw packets": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    "packets of others": (socket.AF_PACKET, socket.SOCK_RAW, 0),
    "the kernel's cryptography": (socket.AF_ALG, socket.SOCK_SEQPACKET, 0),
    "the machine below this one": (socket.AF_VSOCK, socket.SOCK_STREAM, 0),
}
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
WAYS: dict[str, Way] = {
    **{f"capabilities: {field}": status(field, "0" * 16) for field in CAPABILITIES},
    "privileges through a program": status("NoNewPrivs", "1"),
    "calls that the kernel does not filter": status("Seccomp", "2"),
    "being the superuser": lambda: 0 in {*os.getresuid(), *os.getresgid(), *os.getgroups()},
    "becoming the superuser": walled(in_child(lambda: os.setuid(0)), errno.EINVAL),
    "becoming the superuser's group": walled(in_child(lambda: os.setgid(0)), errno.EINVAL),
    "joining a group": in_child(lambda: os.setgroups([0])),
    **{f"a {name} namespace of its own": in_child(apart(flag)) for name, flag in NAMESPACES.items()},
    **{f"the namespace {kind} of the first process": in_child(join(kind)) for kind in ("mnt", "net", "pid", "user")},
    **{name: calling(*call) for name, call in CALLS.items()},
    **{f"writing: {what}": writing(path) for what, path in SYSTEM_FILES.items()},
    **{f"reading: {what}": reading(path) for what, path in SECRETS.items()},
    **{name: reach(*kind) for name, kind in SOCKETS.items()},
    "another root": in_child(lambda: os.chroot("/tmp")),
    "the device of a disk": device(stat.S_IFBLK, 254, 0),
    "the device of the memory": device(stat.S_IFCHR, 1, 1),
    "devices that are there": devices,
    "devices on what it can write to": writable_with_devices,
    "changing its own control group": writable_groups,
    "the engine": engine_sockets,
    "sockets of the host without a path": abstract_sockets,
    "folders that were left open": leaked_folders,
    "the root of another process": other_roots,
    "processes of others": other_users,
    "the time": in_child(lambda: time.clock_settime(time.CLOCK_REALTIME, time.time())),
    "the name of the machine": in_child(lambda: socket.sethostname(socket.gethostname())),
    "typing for the terminal that started it": type_for_the_terminal,
    "more open files": more_open_files,
    "endless open files": lambda: resource.getrlimit(resource.RLIMIT_NOFILE)[1] == resource.RLIM_INFINITY,
    "outliving others when memory is short": in_child(unkillable),
    "going before everybody": in_child(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
    "more of the processor": in_child(lambda: os.nice(-5)),
}


def outcome(way: Way) -> str | None:
    try:
        gained = way()
    except OSError as error:
        return None if error.errno in BARRED else f"no wall: {error}"
    return str(gained) if gained else None


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: outcome(way) for name, way in WAYS.items()}))
