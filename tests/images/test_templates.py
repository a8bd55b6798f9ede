"""The rows of the built-in templates, on a real database."""

from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from codehub.images.templates import BUILT_IN, Availability, ensure_templates
from codehub.model.states import ImageState
from codehub.store.engine import single
from codehub.store.tables import templates

BUILDING = Availability("codehub/code-server:1", ImageState.BUILDING, "The image is being built.")
READY = Availability("codehub/code-server:1", ImageState.READY)


async def row(connection: AsyncConnection, name: str = "code-server") -> Any:  # noqa: ANN401 - a row
    return (await connection.execute(select(templates).where(templates.c.name == name))).one()


async def test_a_template_is_made_and_becomes_ready(database_url: str) -> None:
    engine = single(database_url, "test")
    async with engine.begin() as connection:
        await ensure_templates(connection, {"code-server": BUILDING})
        made = await row(connection)
        assert (made.status, made.status_detail) == ("building", "The image is being built.")
        assert (made.port, made.health_path, made.strip_prefix, made.built_in) == (8080, "/healthz", True, True)
        assert made.resources["memory_bytes"] == 2 * 1024**3
        assert made.id == BUILT_IN["code-server"].id

        await ensure_templates(connection, {"code-server": READY})
        assert (await row(connection)).status == "ready"
    await engine.dispose()


async def test_a_template_that_says_so_already_is_not_written(database_url: str) -> None:
    engine = single(database_url, "test")
    async with engine.begin() as connection:
        await ensure_templates(connection, {"code-server": READY})
        version = text("SELECT xmin::text || ctid::text FROM templates")
        before = (await connection.execute(version)).scalar_one()
        await ensure_templates(connection, {"code-server": READY})
        assert (await connection.execute(version)).scalar_one() == before
    await engine.dispose()


async def test_what_an_administrator_changed_stays(database_url: str) -> None:
    engine = single(database_url, "test")
    async with engine.begin() as connection:
        await ensure_templates(connection, {"jupyterlab": READY})
        await connection.execute(update(templates).values(resources={"cpus": 8}, standby_after_seconds=60))
        await ensure_templates(connection, {"jupyterlab": BUILDING})
        found = await row(connection, "jupyterlab")
        assert (found.status, found.resources, found.standby_after_seconds) == ("building", {"cpus": 8}, 60)
    await engine.dispose()


async def test_a_template_of_an_administrator_under_the_same_name_is_left_alone(database_url: str) -> None:
    engine = single(database_url, "test")
    async with engine.begin() as connection:
        await ensure_templates(connection, {"code-server": READY})
        await connection.execute(update(templates).values(built_in=False, image_ref="ours:1"))
        await ensure_templates(connection, {"code-server": BUILDING})
        assert (await row(connection)).image_ref == "ours:1"
    await engine.dispose()


@pytest.mark.parametrize("template", BUILT_IN.values(), ids=BUILT_IN)
def test_a_built_in_template_is_a_tool_with_limits(template: Any) -> None:  # noqa: ANN401
    assert set(template.resources) == {"memory_bytes", "cpus", "pids", "disk_bytes"}
    assert template.tool.name == template.name
