"""A database without room on its disk: nothing is changed, and people are told why."""

import pytest

from codehub.stack.account import Account
from tests.chaos.disk import can_be_made, disk
from tests.folders import short_folder
from tests.tablespaces import tablespace
from tests.web.api.workspaces import Owner

pytestmark = pytest.mark.skipif(not can_be_made(), reason="only root can make a disk, and not in every container")


async def test_nothing_is_made_and_it_is_said_who_can_help(ada: Owner, database_url: str, account: Account) -> None:
    with short_folder() as folder, disk(folder / "disk") as small:
        async with tablespace(database_url, small, account) as (connection, space):
            await connection.execute(f"ALTER TABLE workspaces SET TABLESPACE {space}")
            async with small.full():
                answer = await ada.ask_for("garden")
                assert (answer.status_code, answer.json()["code"]) == (503, "database_full")
                assert "has to make room" in answer.json()["detail"]
                assert int(answer.headers["retry-after"]) > 0
            assert (await ada.ask_for("garden")).status_code == 201
            await connection.execute("ALTER TABLE workspaces SET TABLESPACE pg_default")
