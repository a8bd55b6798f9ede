"""What the engine is asked to make (control C21): one author for each body, and nothing that a template, a workspace or
a name says gets into the part that makes the walls."""

import json
import uuid
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from codehub.job.order import DirectoryPlace, Kind
from codehub.runtimes.docker import container, job_container, system_calls
from codehub.runtimes.protocols import InstanceSpec, Resources, VolumeSpec
from tests.contracts.job_kit import Errand

FORBIDDEN = (
    "Binds", "BlkioDeviceReadBps", "CapAdd", "Cgroup", "CgroupParent", "DeviceCgroupRules", "DeviceRequests", "Devices",
    "ExtraHosts", "GroupAdd", "IpcMode", "Isolation", "Links", "MaskedPaths", "OomKillDisable", "OomScoreAdj",
    "PidMode", "PortBindings", "Privileged", "PublishAllPorts", "ReadonlyPaths", "Runtime", "ShmSize", "Sysctls",
    "UTSMode", "UsernsMode", "VolumesFrom",
)  # fmt: skip
"""Each of them could open a wall; what is not said is as the engine has it, which is closed."""
WORKSPACE_ID = uuid.uuid4()
WITHOUT_PRIVILEGES = ["no-new-privileges", f"seccomp={json.dumps(system_calls.profile(), separators=(',', ':'))}"]
WORDS = st.text(max_size=40) | st.sampled_from(
    ["--privileged", "host", "/:/host", "container:1", "a=b", '","Privileged":true']
)


def started(words: list[str]) -> InstanceSpec:
    name, image, path, variable, value = words
    return InstanceSpec(
        name=name,
        workspace_id=WORKSPACE_ID,
        op_id=uuid.uuid4(),
        epoch=1,
        volume="codehub-home",
        image=image,
        port=8080,
        health_path=path,
        environment={variable: value},
        resources=Resources(memory_bytes=64 * 1024**2, cpus=0.5, pids=32),
    )


def walls(body: dict[str, Any]) -> dict[str, Any]:
    sent = json.loads(json.dumps(body))
    assert set(sent) == {"Image", "User", "Env", "Labels", "HostConfig", "NetworkingConfig"}
    found: dict[str, Any] = sent["HostConfig"]
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, min_size=5, max_size=5))
def test_no_workspace_can_ask_for_more_than_its_limits(words: list[str]) -> None:
    plain = container.configuration(started(["name", "image", "/", "A", "b"]), "ours", "codehub-net", "10.0.0.2")
    body = container.configuration(started(words), "ours", "codehub-net", "10.0.0.2")
    assert walls(body) == walls(plain)
    assert body["User"] == "1000:1000"
    assert not [name for name in FORBIDDEN if name in body["HostConfig"]]
    assert body["HostConfig"]["CapDrop"] == ["ALL"]
    assert body["HostConfig"]["SecurityOpt"] == WITHOUT_PRIVILEGES
    assert {mount["Type"] for mount in body["HostConfig"]["Mounts"]} == {"volume"}


def test_a_job_gets_one_home_and_the_way_to_one_archive(tmp_path: Path) -> None:
    home = VolumeSpec("codehub-home", uuid.uuid4(), uuid.uuid4(), 1)
    for kind in Kind:
        spec = Errand(DirectoryPlace(tmp_path)).spec(kind, home)
        limits = job_container.configuration(spec, "ours", "codehub/job")["HostConfig"]
        assert not [name for name in FORBIDDEN if name in limits and name != "CapAdd"]
        assert limits["NetworkMode"] == "none"
        assert limits["SecurityOpt"] == WITHOUT_PRIVILEGES
        assert len(limits["Mounts"]) == 2
        assert not {"SYS_ADMIN", "SYS_PTRACE", "NET_ADMIN", "SYS_MODULE", "MKNOD", "SETUID"} & set(limits["CapAdd"])
