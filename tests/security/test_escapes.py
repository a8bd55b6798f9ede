"""No way out of a workspace (control C18): each of a list is tried inside a real one, on either runtime."""

from types import ModuleType

import pytest

from tests.security import escape, side_doors
from tests.security.inside import in_a_container, in_a_sandbox

PROGRAMS = (escape, side_doors)


def test_the_list_is_long() -> None:
    assert len(escape.WAYS) + len(side_doors.WAYS) >= 100


@pytest.mark.parametrize("program", PROGRAMS)
async def test_there_is_no_way_out_of_a_container(docker_image: str, program: ModuleType) -> None:
    assert await in_a_container(docker_image, program) == {}


@pytest.mark.parametrize("program", PROGRAMS)
async def test_there_is_no_way_out_of_a_sandbox(program: ModuleType) -> None:
    assert await in_a_sandbox(program) == {}
