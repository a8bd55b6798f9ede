"""`codehub hold`: a workspace stays awake while a command runs, and the command is as it would be without."""

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from codehub.cli import holding
from codehub.cli.server import Server
from codehub.errors import ExitCode
from codehub.model.accounts import Scope
from tests.cli.command import Command
from tests.cli.serving import Person, people
from tests.cli.test_workspaces import make
from tests.coordinators.house import until
from tests.web.api.people import User

pytestmark = pytest.mark.timeout(120)


async def reasons(somebody: Person) -> list[str]:
    found = (await somebody.codehub("ws", "holds", "garden", "--json")).json()
    return [each["reason"] for each in found["items"]]


async def stored(somebody: Person, workspace: Mapping[str, Any]) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(somebody.server.database_url)
    try:
        rows: list[asyncpg.Record] = await connection.fetch(
            "SELECT * FROM holds WHERE workspace_id = $1 ORDER BY made_at", workspace["id"]
        )
        return rows
    finally:
        await connection.close()


def lasts(row: asyncpg.Record) -> float:
    seconds: float = (row["ends_at"] - row["made_at"]).total_seconds()
    return seconds


async def until_held(somebody: Person, workspace: Mapping[str, Any]) -> None:
    async def is_held() -> bool | None:
        return bool(await stored(somebody, workspace)) or None

    await until(is_held, 30)


async def test_it_is_held_while_the_command_runs_and_no_longer(ada: Person) -> None:
    workspace = await make(ada, "garden")
    what = ("hold", "-w", "garden", "--reason", "nightly build", "--", "cat")
    async with ada.codehub.running(*what, variables={}) as process:
        await until_held(ada, workspace)
        assert await reasons(ada) == ["nightly build"]
        async with asyncio.timeout(60):
            stdout, stderr = await process.communicate(b"from stdin")
    assert (process.returncode, stdout, stderr) == (0, b"from stdin", b"")
    assert await reasons(ada) == []
    told = (await ada.codehub("ws", "events", "garden")).stdout
    assert [each for each in ("placed", "released", "nightly build") if each not in told] == []


@pytest.mark.parametrize("code", [0, 3, 77])
async def test_it_ends_as_the_command_ends(ada: Person, code: int) -> None:
    await make(ada, "garden")
    assert (await ada.codehub("hold", "-w", "garden", "--", "sh", "-c", f"exit {code}")).code == code
    assert await reasons(ada) == []


async def test_a_command_that_is_not_there_is_said_and_holds_nothing(ada: Person) -> None:
    await make(ada, "garden")
    outcome = await ada.codehub("hold", "-w", "garden", "--", "no-such-command")
    assert (outcome.code, outcome.stderr) == (127, "codehub: There is no command 'no-such-command'.\n")
    assert await reasons(ada) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_is_for_the_command_and_the_hold_is_let_go(ada: Person, number: int) -> None:
    workspace = await make(ada, "garden")
    async with ada.codehub.running("hold", "-w", "garden", "--", "sleep", "600", variables={}) as process:
        await until_held(ada, workspace)
        process.send_signal(number)
        async with asyncio.timeout(60):
            assert await process.wait() == 128 + number
    assert await stored(ada, workspace) == []


async def test_one_that_is_killed_leaves_a_hold_that_ends_soon(ada: Person) -> None:
    workspace = await make(ada, "garden")
    async with ada.codehub.running("hold", "-w", "garden", "--", "sleep", "1", variables={}) as process:
        await until_held(ada, workspace)
        process.kill()
        await process.wait()
    [left] = await stored(ada, workspace)
    assert lasts(left) <= holding.HOLD_SECONDS


async def test_a_workspace_that_cannot_be_held_runs_no_command(ada: Person, eve: Person) -> None:
    workspace = await make(ada, "garden")
    outcome = await eve.codehub("hold", "-w", workspace["id"], "--", "touch", "ran")
    assert outcome.code == ExitCode.NOT_FOUND
    assert not (eve.codehub.folder / "ran").exists()


async def test_which_one_is_said_by_an_option_or_by_the_environment(ada: Person) -> None:
    workspace = await make(ada, "garden")
    assert (await ada.codehub("hold", "--", "true")).code == 2
    assert (await ada.codehub("hold", "--", "true", CODEHUB_WORKSPACE=workspace["id"])).code == 0


async def test_without_a_command_it_is_held_for_a_time(ada: Person) -> None:
    workspace = await make(ada, "garden")
    placed = (await ada.codehub("hold", "-w", "garden", "--for", "2h", "--reason", "talk", "--json")).json()
    [left] = await stored(ada, workspace)
    assert lasts(left) == 7200
    assert (await ada.codehub("ws", "release", "garden", placed["id"])).stdout == "It holds no longer.\n"
    assert await reasons(ada) == []
    assert (await ada.codehub("ws", "holds", "garden")).stdout == "Nothing holds it.\n"


async def test_a_token_that_can_only_hold_is_enough_where_the_id_is_known(ada: Person) -> None:
    workspace = await make(ada, "garden")
    async with people(ada.server) as everybody:
        user_id = await everybody.pool.fetchval("SELECT id FROM users WHERE login = $1", ada.login)
        token = await everybody.token(User(user_id, ada.login), Scope.HOLD)
    only_holds = Command(ada.codehub.folder, {**ada.codehub.variables, "CODEHUB_TOKEN": token.value})
    assert (await only_holds("hold", "-w", workspace["id"], "--", "true")).code == 0
    assert (await only_holds("ws", "list")).code == ExitCode.REFUSED


async def test_extending_needs_a_running_one(ada: Person) -> None:
    await make(ada, "garden")
    outcome = await ada.codehub("ws", "extend", "garden")
    assert outcome.code == ExitCode.REFUSED
    assert "there is nothing to extend" in outcome.stderr


class TestRenewing:
    """In this process, where the test sets how often."""

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(holding, "HOLD_SECONDS", 60)
        monkeypatch.setattr(holding, "PAUSE_SECONDS", 0.1)

    @contextlib.asynccontextmanager
    async def holding(
        self, ada: Person, workspace: Mapping[str, Any], longest: int | None = None
    ) -> AsyncIterator[None]:
        server, done = Server(ada.server.url, {"Authorization": f"Bearer {ada.token}"}), threading.Event()

        def work() -> None:
            with holding.held(server, f"/workspaces/{workspace['id']}/holds", "build", longest):
                done.wait(60)

        working = asyncio.create_task(asyncio.to_thread(work))
        try:
            await until_held(ada, workspace)
            yield
        finally:
            done.set()
            await working
            server._http.close()

    async def test_it_is_renewed_while_the_command_runs(self, ada: Person) -> None:
        workspace = await make(ada, "garden")
        async with self.holding(ada, workspace):

            async def is_renewed() -> bool | None:
                return any(lasts(row) > 60 for row in await stored(ada, workspace)) or None

            await until(is_renewed, 30)
        assert await stored(ada, workspace) == []

    async def test_it_is_not_renewed_beyond_what_was_said(self, ada: Person) -> None:
        workspace = await make(ada, "garden")
        async with self.holding(ada, workspace, longest=30):
            [placed] = await stored(ada, workspace)
        assert lasts(placed) <= 30

    async def test_what_ends_it_meanwhile_is_said_and_ends_nothing(
        self, ada: Person, capfd: pytest.CaptureFixture[str]
    ) -> None:
        workspace = await make(ada, "garden")
        told: list[str] = []
        async with self.holding(ada, workspace):
            await ada.execute("DELETE FROM holds WHERE workspace_id = $1", UUID(workspace["id"]))

            async def is_said() -> bool | None:
                told.append(capfd.readouterr().err)
                return any("could not be renewed" in each for each in told) or None

            await until(is_said, 30)

    async def test_an_administrators_ceiling_is_said(self, ada: Person, capfd: pytest.CaptureFixture[str]) -> None:
        workspace = await make(ada, "garden")
        told: list[str] = []
        async with self.holding(ada, workspace):
            await ada.execute(
                "UPDATE holds SET made_at = made_at - interval '2 days' WHERE workspace_id = $1", UUID(workspace["id"])
            )

            async def is_said() -> bool | None:
                told.append(capfd.readouterr().err)
                return any("an administrator allows no longer one" in each for each in told) or None

            await until(is_said, 30)
