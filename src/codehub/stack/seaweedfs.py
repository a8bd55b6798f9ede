"""SeaweedFS as codehub runs it with `--s3`: master, volume, filer and S3 gateway in one process on loopback."""

import hashlib
import json
import random
import secrets
import shutil
import signal
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from codehub.archives.open import ensure_bucket, open_store
from codehub.stack.account import Account
from codehub.telemetry.health import Check, examine

URL = "s3://codehub/archives"
PROBE_URL = "s3://codehub/probe"  # beside the archives, where no listing of them finds it

# Every port that weed opens, by option. Those that are not named here it would open at fixed numbers or not at all.
PORTS = (
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "s3.port",
    "s3.port.grpc",
    "metricsPort",
)
NAME_STORES = 8
"""The names in a folder are in one of them, which one follows from its path. One that once found no room on the disk
takes nothing more before it is opened anew, also when there is room again."""
STUCK_SECONDS = 15.0
NEEDED_ROOM = 0.01
"""The share of the disk below which SeaweedFS itself takes nothing more."""
_PORT_RANGE = range(20000, 32000)  # below the ports that Linux gives to outgoing connections


@dataclass(frozen=True)
class SeaweedFS:
    folder: Path
    sockets: Path
    programs: Path
    account: Account
    access_key: str
    secret_key: str = field(repr=False)
    ports: Mapping[str, int]
    log: Path
    probed: deque[str] = field(default_factory=lambda: deque(_one_folder_for_each()), repr=False, compare=False)
    """Where the next checks write."""

    name = "seaweedfs"
    stop_signal = signal.SIGTERM
    stop_seconds = 30.0  # 15 s is usual: the volume server says goodbye to the master first
    death_signal = signal.SIGKILL  # the kernel has what it acknowledged; a polite end would outlive the supervisor
    inherited = ()

    @property
    def endpoint(self) -> str:
        return self.access["s3_endpoint"]

    @property
    def access(self) -> dict[str, str]:
        return store_access(self.ports, self.access_key, self.secret_key)

    def prepare(self) -> None:
        """Write the one identity that may use the S3 gateway; without any it would be open to everybody here."""
        self.account.make_folder(self.folder)
        self.account.make_folder(self.sockets)
        self.account.make_folder(self.folder / "data")
        credentials = [{"accessKey": self.access_key, "secretKey": self.secret_key}]
        identity = {"name": "codehub", "credentials": credentials, "actions": ["Admin"]}
        self.account.write_private(self.folder / "s3.json", json.dumps({"identities": [identity]}))

    def argv(self) -> Sequence[str]:
        options = {
            "dir": str(self.folder / "data"),
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            **{option: str(port) for option, port in self.ports.items()},
            "master.volumeSizeLimitMB": "1024",
            "master.volumePreallocate": "false",
            "master.telemetry": "false",
            "master.electionTimeout": "200ms",  # nobody else stands for election: waiting the usual 10 s finds no one
            "volume.max": "0",
            "volume.preStopSeconds": "0",
            "filer": "true",
            "filer.localSocket": str(self.sockets / "filer.sock"),
            "s3": "true",
            "s3.config": str(self.folder / "s3.json"),
            "s3.localSocket": str(self.sockets / "s3.sock"),
            "s3.port.iceberg": "0",
            "s3.port.lance": "0",
        }
        return [
            str(self.programs / "weed"),
            "-logtostderr=true",
            "server",
            *(f"-{key}={options[key]}" for key in options),
        ]

    def environment(self) -> Mapping[str, str]:
        """Bounded memory, and signed requests between its halves: its HTTP ports are open to every user of the machine.

        The signing keys live as long as the process; nothing outside it needs them.
        """
        keys = ("JWT_SIGNING_KEY", "JWT_FILER_SIGNING_KEY", "JWT_FILER_SIGNING_READ_KEY")
        return {"HOME": str(self.folder), "GOMEMLIMIT": "300MiB"} | {
            f"WEED_{key}": secrets.token_hex(32) for key in keys
        }

    async def check(self) -> Check:
        """Write an object: the gateway listens long before the volume server takes writes. Each time in another store
        of names, but in the same one until that has worked."""
        return await examine("archive store", self._use())

    async def _use(self) -> str:
        await ensure_bucket(PROBE_URL, **self.access)
        await open_store(PROBE_URL, **self.access).put(f"{self.probed[0]}/ready", b"ready")
        self.probed.rotate(-1)
        return "SeaweedFS"

    def is_stuck(self, silent_seconds: float) -> bool:
        """Whether only a new start helps. While the disk is full none would, and what is there can be read."""
        if silent_seconds <= STUCK_SECONDS:
            return False
        try:
            disk = shutil.disk_usage(self.folder)
        except OSError:  # a disk that fails or is gone: no start would help
            return False
        return disk.free > NEEDED_ROOM * disk.total


def _one_folder_for_each() -> Sequence[str]:
    """One folder for each store of names."""
    folders: dict[int, str] = {}
    for number in count():
        path = f"/buckets/{PROBE_URL.removeprefix('s3://')}/{number}"
        folders.setdefault(hashlib.md5(path.encode(), usedforsecurity=False).digest()[-1] % NAME_STORES, str(number))
        if len(folders) == NAME_STORES:
            break
    return tuple(folders.values())


def store_access(ports: Mapping[str, int], access_key: str, secret_key: str) -> dict[str, str]:
    """How the store is opened, by the names that `open_store` and the settings use."""
    endpoint = f"http://127.0.0.1:{ports['s3.port']}"
    return {"s3_endpoint": endpoint, "s3_access_key_id": access_key, "s3_secret_access_key": secret_key}


def remembered_ports(file: Path) -> dict[str, int]:
    """The ports of the last start, or free ones where another program has taken one of them since."""
    try:
        ports: dict[str, int] = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        ports = {}
    if ports.keys() != set(PORTS) or not all(map(_is_free, ports.values())):
        candidates = random.sample(_PORT_RANGE, len(_PORT_RANGE))
        free = (port for port in candidates if _is_free(port) and not _is_left(port))
        ports = {option: next(free) for option in PORTS}
        file.write_text(json.dumps(ports))
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _is_left(port: int) -> bool:
    """Whether there is a socket of this port, of those that SeaweedFS makes in /tmp and leaves there when it is killed.
    Another user's it can neither remove nor use, and would never become ready."""
    return any(Path("/tmp").glob(f"seaweedfs-*-{port}.sock"))  # noqa: S108 (SeaweedFS knows no other place)
