"""How a workspace's container is made: everything that keeps a hostile one inside (contract 13)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codehub.model import inside
from codehub.runtimes.docker import labels
from codehub.runtimes.docker.system_calls import security_option
from codehub.runtimes.protocols import InstanceSpec

USER = 1000
HOME = "/home/coder"
OPEN_FILES = 16384  # an IDE watches whole source trees; more than this not every engine may give
COMMANDS = Path("/usr/local/bin")
LOG_BYTES = 1024**2
LOG_FILES = 3
TEMPORARY_SHARE = 4  # of the memory, which files in /tmp are counted against


def configuration(
    spec: InstanceSpec, installation: str, network: str, address: str, inside_folder: Path | None = None
) -> dict[str, Any]:
    """The body of the create request. What is not in here is as the engine has it: no privileges, no devices,
    no host namespaces, no published ports.

    The engine's own init is process 1: without it a program that ignores SIGTERM costs the whole grace at every stop,
    and orphaned children of terminals are never reaped. There is no restart policy: whether it runs is codehub's."""
    limits = spec.resources
    environment = {"HOME": HOME, **spec.environment}  # an image that does not know the user would have it at the root
    return {
        "Image": spec.image,
        "User": f"{USER}:{USER}",
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Labels": labels.of_instance(installation, spec, address),
        "HostConfig": {
            "NetworkMode": network,
            "Mounts": [_home(spec, installation), *_shown(inside_folder)],
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges", security_option()],
            "ReadonlyRootfs": True,
            "Tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={limits.memory_bytes // TEMPORARY_SHARE}"},  # noqa: S108
            "Memory": limits.memory_bytes,
            "MemorySwap": limits.memory_bytes,  # memory and swap together: no swap
            "NanoCpus": int(limits.cpus * 1e9),
            "PidsLimit": limits.pids,
            "Ulimits": [
                {"Name": "nofile", "Soft": OPEN_FILES, "Hard": OPEN_FILES},
                {"Name": "core", "Soft": 0, "Hard": 0},
            ],
            "Init": True,
            "LogConfig": {"Type": "json-file", "Config": {"max-size": str(LOG_BYTES), "max-file": str(LOG_FILES)}},
            "RestartPolicy": {"Name": "no"},
        },
        "NetworkingConfig": {"EndpointsConfig": {network: {"IPAMConfig": {"IPv4Address": address}}}},
    }


def begun_by(program: str, image: Mapping[str, Any]) -> dict[str, Any]:
    """The part of the body that lets this program start what the image would have started itself."""
    return {"Entrypoint": [program], "Cmd": [*(image["Entrypoint"] or ()), *(image["Cmd"] or ())]}


def _home(spec: InstanceSpec, installation: str) -> dict[str, Any]:
    """The labels are for what the engine makes where the home is gone, which must never pass for one."""
    options = {"Labels": labels.of_stand_in(installation, spec)}
    return {"Type": "volume", "Source": spec.volume, "Target": HOME, "VolumeOptions": options}


def _shown(inside_folder: Path | None) -> list[dict[str, Any]]:
    """The folder, not the socket in it: that of a new codehub is another one, under the same name. The program a second
    time, where every shell finds it: an image has its own idea of PATH, and so have login shells."""
    if inside_folder is None:
        return []
    program = Path(inside.PROGRAM)
    places = {inside_folder: inside.FOLDER, inside_folder / program.relative_to(inside.FOLDER): COMMANDS / program.name}
    return [
        {"Type": "bind", "Source": str(source), "Target": str(target), "ReadOnly": True}
        for source, target in places.items()
    ]
