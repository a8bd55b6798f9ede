"""How a job's container is made: it sees one home, the way to one archive, and nothing else."""

import os
from typing import Any

from codehub.job.order import Kind
from codehub.runtimes.docker import labels
from codehub.runtimes.docker.system_calls import security_option
from codehub.runtimes.job_view import HOME, LOG_BYTES, MEMORY_BYTES, PIDS, Way, way_to_archive, writes_home
from codehub.runtimes.protocols import JobSpec

ORDER = "/dev/stdin"
READ_ALL = ("DAC_READ_SEARCH",)
CAPABILITIES = {
    Kind.ARCHIVE: READ_ALL,
    Kind.VERIFY: READ_ALL,
    Kind.RESTORE: ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"),  # owners, files of any of them, their modes
}
FOREIGN_STORE = ("CHOWN", "DAC_OVERRIDE")
"""To write into a folder that is not root's, and leave there what is its owner's."""
OPEN_FILES = 1024
LEAST_CPU = 16
"""Of 1024 that others have: as with nice 19. With less a restore would never end where all are busy."""
LEAST_IO = 10


def configuration(spec: JobSpec, installation: str, image: str) -> dict[str, Any]:
    """The body of the create request. What is not in here is as the engine has it: no privileges, no devices,
    no host namespaces.

    The order comes through standard input. Arguments and environment can be read by whoever may ask the engine, a file
    that is put into a container lies on the engine's disk, and its temporary file systems are there only once it runs;
    what goes through a pipe is nowhere. `StdinOnce` ends it when whoever gives the order is done, or dead."""
    order, way = spec.order, way_to_archive(spec.order)
    return {
        "Image": image,
        "Cmd": [order.kind, ORDER],
        "User": "0:0",
        "Labels": labels.of_job(installation, spec),
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "HostConfig": {
            "NetworkMode": "none",
            "Mounts": [_home(spec, installation), _way(way)],
            "CapDrop": ["ALL"],
            "CapAdd": [*CAPABILITIES[order.kind], *_for_foreign_store(way)],
            "SecurityOpt": ["no-new-privileges", security_option()],
            "ReadonlyRootfs": True,
            "Memory": MEMORY_BYTES,
            "MemorySwap": MEMORY_BYTES,  # memory and swap together: no swap
            "PidsLimit": PIDS,
            "CpuShares": LEAST_CPU,
            "BlkioWeight": LEAST_IO,
            "CpusetCpus": _processors(),
            "Ulimits": [
                {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
                {"Name": "core", "Soft": 0, "Hard": 0},
            ],
            "LogConfig": {"Type": "json-file", "Config": {"max-size": str(LOG_BYTES), "max-file": "1"}},
            "RestartPolicy": {"Name": "no"},
        },
    }


def _processors() -> str:
    """All but one. Weight alone is not enough: the kernel is slow to make namespaces while no processor is idle, and a
    start of another workspace would take half as long again."""
    known = sorted(os.sched_getaffinity(0))
    return ",".join(map(str, known[1:] or known))


def _home(spec: JobSpec, installation: str) -> dict[str, Any]:
    """Never filled from what the image has in that place. The labels are for what the engine makes where the home is
    gone, which must never pass for one."""
    return {
        "Type": "volume",
        "Source": spec.volume,
        "Target": str(HOME),
        "ReadOnly": not writes_home(spec.order.kind),
        "VolumeOptions": {"NoCopy": True, "Labels": labels.of_stand_in(installation, spec)},
    }


def _way(way: Way) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(way.folder), "Target": str(way.inside), "ReadOnly": not way.writable}


def _for_foreign_store(way: Way) -> tuple[str, ...]:
    return FOREIGN_STORE if way.writable and way.folder.is_dir() and way.folder.stat().st_uid != 0 else ()
