"""The filters of system calls (control C18): of one mind on both runtimes, and in nobody's way."""

import pytest

from codehub.runtimes.docker import system_calls as of_containers
from codehub.runtimes.local import system_calls as of_sandboxes
from tests.security import everyday
from tests.security.inside import in_a_container, in_a_sandbox


@pytest.mark.parametrize("machine", of_sandboxes.OLDER)
def test_what_a_sandbox_is_refused_a_container_is_not_allowed(machine: str) -> None:
    refused = {*of_sandboxes.OLDER[machine], *of_sandboxes.ALIKE}
    assert len(refused) > 40
    assert not refused & of_containers.ALLOWED


async def test_what_developers_need_works_in_a_container(docker_image: str) -> None:
    assert await in_a_container(docker_image, everyday) == {}


async def test_what_developers_need_works_in_a_sandbox() -> None:
    assert await in_a_sandbox(everyday) == {}
