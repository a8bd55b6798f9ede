"""A workspace's way out: a network namespace of its own, connected by slirp4netns, which carries its connections as
those of an ordinary program of its user.

Such a program could also call the host itself, its neighbours and a cloud's metadata service. What keeps a workspace
from that are routes in its own namespace, which it has no power over: they are set before it is connected."""

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network
from pathlib import Path

from codehub.runtimes import host

SUBNET = IPv4Network("198.19.255.0/24")
"""Set aside for tests of devices (RFC 2544), so nobody's real network lies behind it."""
GATEWAY_AND_NAME_SERVER = IPv4Network("198.19.255.2/31")
NAME_SERVER = "198.19.255.3"
LINK_LOCAL = IPv4Network("169.254.0.0/16")
"""Where every cloud has its metadata service."""
TUNNEL = Path("/dev/net/tun")

# From linux/sched.h, linux/rtnetlink.h and linux/sockios.h.
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
RTM_NEWROUTE, RTA_DST, RT_TABLE_MAIN, RTPROT_STATIC, RTN_PROHIBIT = 24, 1, 254, 4, 8
NLM_REQUEST, NLM_ACK, NLM_CREATE, NLM_REPLACE = 0x1, 0x4, 0x400, 0x100
SIOCSIFFLAGS, IFF_UP = 0x8914, 0x1

# As root: the device may be root's alone, so the program is shown one of its own, in a mount namespace of its own.
_OWN_TUNNEL = """
mount -t tmpfs -o mode=0711 codehub /mnt
mknod -m 0666 /mnt/tun c 10 200
mount --bind /mnt/tun /dev/net/tun
exec "$@"
"""


def obstacle() -> str | None:
    """Why workspaces can have no network here; None where they can."""
    if shutil.which("slirp4netns") is None:
        return "slirp4netns is not installed"
    if not os.access(TUNNEL, os.R_OK | os.W_OK):
        return f"{TUNNEL} is not there or not open to codehub's user"
    return None


def barred(further: Iterable[str]) -> list[IPv4Network]:
    """The host's own addresses, every range it stands in, the metadata service, and what the operator names. Of the
    subnet between workspace and slirp4netns all but the two addresses that mean something: calls to the others would
    come out on the host's network."""
    networks = [LINK_LOCAL, *host.networks(), *map(IPv4Network, host.own_addresses()), *map(IPv4Network, further)]
    return [*dict.fromkeys(networks), *SUBNET.address_exclude(GATEWAY_AND_NAME_SERVER)]


def close_off(pid: int, networks: Sequence[IPv4Network]) -> None:
    """Bring up loopback in the process's network namespace, and bar the networks there. Done by a child, because a
    process that has entered another user namespace cannot come back."""
    if (child := os.fork()) == 0:
        code = 1
        try:
            _enter(pid)
            with socket.socket() as any_socket:
                fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as kernel:
                for network in networks:
                    _bar(kernel, network)
            code = 0
        finally:
            os._exit(code)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise OSError("its network namespace could not be closed off")


def command(pid: int, ready: int, end: int, become: Sequence[str]) -> list[str]:
    """The program that connects the process's network namespace, under the user that `become` changes to. It has no
    files, no privileges and few system calls, and lets nobody in."""
    program = [
        "slirp4netns",
        "--configure",
        "--mtu=65520",
        f"--cidr={SUBNET}",
        "--disable-host-loopback",
        "--enable-sandbox",
        "--enable-seccomp",
        f"--ready-fd={ready}",
        f"--exit-fd={end}",
        str(pid),
        "tap0",
    ]
    own_tunnel = ["unshare", "--mount", "sh", "-ec", _OWN_TUNNEL, "sh"] if os.geteuid() == 0 else []
    return [*own_tunnel, *become, *program]


def start(pid: int, become: Sequence[str]) -> subprocess.Popen[bytes]:
    """Connect it, and return when that is done. What it prints goes where our own errors go. It ends when the other end
    of a pipe is closed, which this process holds and never closes: with it, that is."""
    reading, writing = os.pipe()
    end, _ = os.pipe()
    process = subprocess.Popen(
        command(pid, writing, end, become), stdin=subprocess.DEVNULL, stdout=sys.stderr, pass_fds=[writing, end]
    )
    os.close(writing)
    os.close(end)
    with os.fdopen(reading, "rb") as ready:
        if not ready.read(1):
            raise OSError(f"slirp4netns ended with code {process.wait()}")
    return process


def _enter(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(os.pidfd_open(pid), CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def _bar(kernel: socket.socket, network: IPv4Network) -> None:
    """Add a route that answers every call with "Permission denied"."""
    route = struct.pack(
        "=8BI", socket.AF_INET, network.prefixlen, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, 0, RTN_PROHIBIT, 0
    )
    route += struct.pack("=HH4s", 8, RTA_DST, network.network_address.packed)
    flags = NLM_REQUEST | NLM_ACK | NLM_CREATE | NLM_REPLACE
    kernel.send(struct.pack("=IHHII", 16 + len(route), RTM_NEWROUTE, flags, 0, 0) + route)
    if (error := struct.unpack_from("=i", kernel.recv(4096), 16)[0]) != 0:
        raise OSError(-error, f"{network} cannot be barred")
