"""What codehub writes on all it makes, so that any replica can list, probe and judge it without the database."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from codehub.job.faults import ExitCode
from codehub.model.conditions import Endpoint
from codehub.runtimes.protocols import (
    Instance,
    InstanceSpec,
    InstanceState,
    Job,
    JobSpec,
    JobState,
    Volume,
    VolumeSpec,
)

INSTALLATION = "codehub.installation"
WORKSPACE = "codehub.workspace"
INCARNATION = "codehub.incarnation"
OPERATION = "codehub.operation"
EPOCH = "codehub.epoch"
VOLUME = "codehub.volume"
ADDRESS = "codehub.address"
PORT = "codehub.port"
HEALTH_PATH = "codehub.health_path"
IDENTITY = "codehub.identity"
JOB = "codehub.job"
STAND_IN = "codehub.stand_in"
"""What a home does not have, and the volume has that the engine makes by itself where a home is gone: whose it is."""

REMOVING = "removing"
STATES = {
    "created": InstanceState.CREATED,
    "running": InstanceState.RUNNING,
    "restarting": InstanceState.RUNNING,
    "paused": InstanceState.RUNNING,
    REMOVING: InstanceState.EXITED,
    "exited": InstanceState.EXITED,
    "dead": InstanceState.EXITED,
}
TOLD = {
    "type": ["container", "volume"],
    "event": ["create", "start", "die", "oom", "pause", "unpause", "destroy"],
}
"""The filter for events. Not by label: no event of a volume has any."""
KILLED = 137
JOBS_WITHOUT_EXIT = {"created": ExitCode.TRY_AGAIN, REMOVING: KILLED, "dead": KILLED}
"""What to take for the exit code of a job that has none: one that was never started, and those on their way out."""
EXIT_CODE = re.compile(r"^Exited \((\d+)\)")


def own(installation: str, workspace_id: UUID | None = None) -> dict[str, list[str]]:
    """The filter that listings are asked with. The workspace's label is asked for even where any will do: it leaves out
    what belongs to the installation as a whole."""
    workspace = WORKSPACE if workspace_id is None else f"{WORKSPACE}={workspace_id}"
    return {"label": [f"{INSTALLATION}={installation}", workspace]}


def own_instances(installation: str, workspace_id: UUID | None = None) -> dict[str, list[str]]:
    """Only an instance has a port: other containers of a workspace do not count as its instance."""
    return {"label": [*own(installation, workspace_id)["label"], PORT]}


def own_jobs(installation: str, workspace_id: UUID | None = None) -> dict[str, list[str]]:
    return {"label": [*own(installation, workspace_id)["label"], JOB]}


def own_stand_ins(installation: str) -> dict[str, list[str]]:
    return {"label": [f"{STAND_IN}={installation}", WORKSPACE]}


def of_spec(installation: str, spec: InstanceSpec | VolumeSpec | JobSpec) -> dict[str, str]:
    return {
        INSTALLATION: installation,
        WORKSPACE: str(spec.workspace_id),
        INCARNATION: spec.name,
        OPERATION: str(spec.op_id),
        EPOCH: str(spec.epoch),
    }


def of_instance(installation: str, spec: InstanceSpec, address: str) -> dict[str, str]:
    return of_spec(installation, spec) | {
        VOLUME: spec.volume,
        ADDRESS: address,
        PORT: str(spec.port),
        HEALTH_PATH: spec.health_path,
    }


def of_stand_in(installation: str, spec: InstanceSpec | JobSpec) -> dict[str, str]:
    return {STAND_IN: installation, WORKSPACE: str(spec.workspace_id)}


def of_job(installation: str, spec: JobSpec) -> dict[str, str]:
    return of_spec(installation, spec) | {VOLUME: spec.volume, JOB: spec.order.kind}


def job(listed: Mapping[str, Any]) -> Job:
    """One entry of the engine's listing."""
    labels = listed["Labels"]
    runs = STATES[listed["State"]] is InstanceState.RUNNING
    exited = EXIT_CODE.match(listed["Status"])
    code = int(exited[1]) if exited else JOBS_WITHOUT_EXIT.get(listed["State"], KILLED)
    return Job(
        name=labels[INCARNATION],
        workspace_id=UUID(labels[WORKSPACE]),
        op_id=UUID(labels[OPERATION]),
        epoch=int(labels[EPOCH]),
        volume=labels[VOLUME],
        state=JobState.RUNNING if runs else JobState.ENDED,
        exit_code=None if runs else code,
    )


def instance(listed: Mapping[str, Any]) -> Instance:
    """One entry of the engine's listing, which says all that is needed: nothing is asked for one by one."""
    labels = listed["Labels"]
    state = STATES[listed["State"]]
    endpoint = Endpoint(listed["Id"], labels[ADDRESS], int(labels[PORT]))
    return Instance(
        id=listed["Id"],
        name=labels[INCARNATION],
        workspace_id=UUID(labels[WORKSPACE]),
        op_id=UUID(labels[OPERATION]),
        epoch=int(labels[EPOCH]),
        volume=labels[VOLUME],
        state=state,
        endpoint=endpoint if state is InstanceState.RUNNING else None,
        health_path=labels[HEALTH_PATH],
        message=ending(listed["Status"]) if state is InstanceState.EXITED else "",
    )


def instance_told_of(event: Mapping[str, Any], installation: str) -> UUID | None:
    """Whose instance an event is about that the engine tells of a container; None for a container of somebody else."""
    found = event["Actor"]["Attributes"]
    ours = found.get(INSTALLATION) == installation and PORT in found
    return UUID(found[WORKSPACE]) if ours and WORKSPACE in found else None


def ending(status: str) -> str:
    """`Exited (137) 3 seconds ago` without the time, which would make every look at it a change."""
    code = EXIT_CODE.match(status)
    return f"exited with code {code[1]}" if code else status


def volume(listed: Mapping[str, Any]) -> Volume:
    return Volume(name=listed["Name"], workspace_id=UUID(listed["Labels"][WORKSPACE]))
