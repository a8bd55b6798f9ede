"""How a job's container is made: it sees one home, the way to one archive, and nothing else."""

from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, assert_never

from codehub.job.order import DirectoryPlace, Kind, Order, S3Place
from codehub.runtimes.protocols import JobSpec

HOME = PurePosixPath("/job/home")
ARCHIVE = PurePosixPath("/job/archive")
RELAY = PurePosixPath("/job/relay")
ORDER = "/dev/stdin"
READ_ALL = ("DAC_READ_SEARCH",)
CAPABILITIES = {
    Kind.ARCHIVE: READ_ALL,
    Kind.VERIFY: READ_ALL,
    Kind.RESTORE: ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"),  # owners, files of any of them, their modes
}
FOREIGN_STORE = ("CHOWN", "DAC_OVERRIDE")
"""To write into a folder that is not root's, and leave there what is its owner's."""
MEMORY_BYTES = 512 * 1024**2  # zstd takes most of it at the highest level; at the usual ones a job stays below 200 MB
PIDS = 64
OPEN_FILES = 1024
LEAST_CPU = 16
"""Of 1024 that others have: as with nice 19. With less a restore would never end where all are busy."""
LEAST_IO = 10
LOG_BYTES = 64 * 1024**2  # a day of progress, and more; kept in one piece, since it is read from its first line


def configuration(spec: JobSpec, labels: dict[str, str], image: str) -> dict[str, Any]:
    """The body of the create request. What is not in here is as the engine has it: its seccomp profile, no privileges,
    no devices, no host namespaces.

    The order comes through standard input. Arguments and environment can be read by whoever may ask the engine, a file
    that is put into a container lies on the engine's disk, and its temporary file systems are there only once it runs;
    what goes through a pipe is nowhere. `StdinOnce` ends it when whoever gives the order is done, or dead."""
    order = spec.order
    return {
        "Image": image,
        "Cmd": [order.kind, ORDER],
        "User": "0:0",
        "Labels": labels,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "HostConfig": {
            "NetworkMode": "none",
            "Mounts": [_home(spec), _place(order)],
            "CapDrop": ["ALL"],
            "CapAdd": [*CAPABILITIES[order.kind], *_for_foreign_store(order)],
            "SecurityOpt": ["no-new-privileges"],
            "ReadonlyRootfs": True,
            "Memory": MEMORY_BYTES,
            "MemorySwap": MEMORY_BYTES,  # memory and swap together: no swap
            "PidsLimit": PIDS,
            "CpuShares": LEAST_CPU,
            "BlkioWeight": LEAST_IO,
            "Ulimits": [
                {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
                {"Name": "core", "Soft": 0, "Hard": 0},
            ],
            "LogConfig": {"Type": "json-file", "Config": {"max-size": str(LOG_BYTES), "max-file": "1"}},
            "RestartPolicy": {"Name": "no"},
        },
    }


def as_seen_inside(order: Order) -> Order:
    """The same order with the paths that it has in the container."""
    place = order.place
    match place:
        case DirectoryPlace():
            place = DirectoryPlace(Path(ARCHIVE))
        case S3Place(socket=str(socket)):
            place = replace(place, socket=str(RELAY / Path(socket).name))
        case S3Place():
            raise ValueError("a job in a container reaches an S3 store through a socket only")
        case _:
            assert_never(place)
    return replace(order, home=Path(HOME), place=place)


def _home(spec: JobSpec) -> dict[str, Any]:
    """Never filled from what the image has in that place."""
    return {
        "Type": "volume",
        "Source": spec.volume,
        "Target": str(HOME),
        "ReadOnly": spec.order.kind is not Kind.RESTORE,
        "VolumeOptions": {"NoCopy": True},
    }


def _place(order: Order) -> dict[str, Any]:
    """The folder of the socket, not the socket: a new leader's is another one, under the same name."""
    if isinstance(order.place, DirectoryPlace):
        return _bound(order.place.folder, ARCHIVE, read_only=order.kind is not Kind.ARCHIVE)
    return _bound(Path(order.place.socket or "").parent, RELAY, read_only=True)


def _bound(source: Path, target: PurePosixPath, *, read_only: bool) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(source), "Target": str(target), "ReadOnly": read_only}


def _for_foreign_store(order: Order) -> tuple[str, ...]:
    match order:
        case Order(kind=Kind.ARCHIVE, place=DirectoryPlace(folder)) if folder.is_dir() and folder.stat().st_uid != 0:
            return FOREIGN_STORE
        case _:
            return ()
