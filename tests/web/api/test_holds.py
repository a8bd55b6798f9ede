"""What keeps a workspace awake: holds, their ends and ceilings, and somebody who says that they are there."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from codehub.model.accounts import Scope
from codehub.model.states import Phase
from codehub.settings import Settings
from codehub.store.holds import MOST
from tests.web.api.people import People, User
from tests.web.api.workspaces import ROOT, Owner

CEILING = 7200


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(tmp_path), "TTL_HOLD_CEILING_SECONDS": str(CEILING)}, tmp_path)


async def place(owner: Owner, workspace: dict[str, Any], reason: str = "build", seconds: int = 600) -> dict[str, Any]:
    answer = await owner.post(workspace, "holds", json={"reason": reason, "seconds": seconds})
    assert answer.status_code == 201, answer.text
    placed: dict[str, Any] = answer.json()
    return placed


async def renew(owner: Owner, hold: dict[str, Any], seconds: int) -> dict[str, Any]:
    answer = await owner.client.patch(_path(hold), json={"seconds": seconds})
    assert answer.status_code == 200, answer.text
    renewed: dict[str, Any] = answer.json()
    return renewed


async def reasons(owner: Owner, workspace: dict[str, Any]) -> list[str]:
    answer = await owner.client.get(f"{ROOT}/{workspace['id']}/holds")
    assert answer.status_code == 200, answer.text
    return [each["reason"] for each in answer.json()["items"]]


def _path(hold: dict[str, Any]) -> str:
    return f"{ROOT}/{hold['workspace_id']}/holds/{hold['id']}"


def lasts(hold: dict[str, Any]) -> float:
    return (datetime.fromisoformat(hold["ends_at"]) - datetime.fromisoformat(hold["made_at"])).total_seconds()


async def running(ada: Owner) -> dict[str, Any]:
    workspace = await ada.create(desired="RUNNING")
    await ada.becomes(workspace, Phase.RUNNING)
    return workspace


class TestPlacing:
    async def test_a_hold_says_what_for_by_whom_and_until_when(self, ada: Owner) -> None:
        workspace = await running(ada)
        placed = await place(ada, workspace, "nightly build", 600)
        assert (placed["reason"], placed["made_by"]) == ("nightly build", "ada")
        assert placed["workspace_id"] == workspace["id"]
        assert lasts(placed) == 600
        assert await reasons(ada, workspace) == ["nightly build"]

    async def test_the_one_that_lasts_longest_is_told_with_the_workspace(self, ada: Owner) -> None:
        workspace = await running(ada)
        longest = await place(ada, workspace, "long", 3600)
        await place(ada, workspace, "short", 600)
        shown = (await ada.get(workspace)).json()
        assert shown["hold"] == {"reason": "long", "until": longest["ends_at"].replace("Z", "+00:00")}
        assert shown["explanation"]["next"] == {"what": "sleep", "at": shown["hold"]["until"]}
        assert "The hold 'long' keeps it awake until" in shown["explanation"]["summary"]
        assert await reasons(ada, workspace) == ["long", "short"]

    async def test_one_above_the_ceiling_is_refused(self, ada: Owner) -> None:
        workspace = await running(ada)
        answer = await ada.post(workspace, "holds", json={"reason": "build", "seconds": CEILING + 1})
        assert (answer.status_code, answer.json()["code"]) == (422, "above_ceiling")
        await place(ada, workspace, seconds=CEILING)

    @pytest.mark.parametrize(
        "body",
        [
            {"reason": "", "seconds": 60},
            {"reason": "two\nlines", "seconds": 60},
            {"reason": "build", "seconds": 0},
            {"reason": "build", "seconds": "60"},
            {"reason": "build"},
            {"reason": "build", "seconds": 60, "until": "tomorrow"},
        ],
    )
    async def test_what_makes_no_sense_is_refused(self, ada: Owner, body: dict[str, Any]) -> None:
        answer = await ada.post(await running(ada), "holds", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")

    async def test_sent_again_it_is_the_same_one(self, ada: Owner) -> None:
        workspace = await running(ada)
        body, key = {"reason": "build", "seconds": 60}, {"Idempotency-Key": str(uuid4())}
        both = [await ada.post(workspace, "holds", json=body, headers=key) for _ in range(2)]
        assert both[0].json() == both[1].json()
        assert await reasons(ada, workspace) == ["build"]

    async def test_there_is_a_most_and_those_that_ended_do_not_count(self, ada: Owner) -> None:
        workspace = await running(ada)
        for _ in range(MOST):
            await place(ada, workspace)
        answer = await ada.post(workspace, "holds", json={"reason": "build", "seconds": 60})
        assert (answer.status_code, answer.json()["code"]) == (409, "too_many_holds")
        await ada.pool.execute("UPDATE holds SET ends_at = clock_timestamp()")
        await place(ada, workspace, "another")
        assert await reasons(ada, workspace) == ["another"]

    async def test_a_sleeping_one_can_be_held_and_sleeps_on(self, ada: Owner) -> None:
        workspace = await ada.create()
        await place(ada, workspace)
        assert (await ada.get(workspace)).json()["desired_state"] == "STANDBY"


class TestRenewing:
    async def test_it_lasts_for_so_long_from_now_on_and_never_shorter(self, ada: Owner) -> None:
        placed = await place(ada, await running(ada), seconds=600)
        assert lasts(await renew(ada, placed, 1200)) >= 1200
        assert lasts(await renew(ada, placed, 60)) >= 1200

    async def test_it_lasts_no_longer_than_the_ceiling_from_its_beginning_on(self, ada: Owner) -> None:
        placed = await place(ada, await running(ada), seconds=600)
        await ada.pool.execute("UPDATE holds SET made_at = made_at - interval '1 hour'")
        assert lasts(await renew(ada, placed, CEILING)) == CEILING

    async def test_one_that_was_let_go_is_not_there(self, ada: Owner) -> None:
        placed = await place(ada, await running(ada))
        assert (await ada.client.delete(_path(placed))).status_code == 204
        assert (await ada.client.patch(_path(placed), json={"seconds": 60})).status_code == 404


class TestLettingGo:
    async def test_what_is_let_go_holds_no_longer(self, ada: Owner) -> None:
        workspace = await running(ada)
        long, short = await place(ada, workspace, "long", 3600), await place(ada, workspace, "short", 1200)
        assert (await ada.client.delete(_path(long))).status_code == 204
        assert (await ada.get(workspace)).json()["hold"]["reason"] == "short"
        assert (await ada.client.delete(_path(short))).status_code == 204
        shown = (await ada.get(workspace)).json()
        assert shown["hold"] is None
        assert "hold" not in shown["explanation"]["summary"]
        assert (await ada.client.delete(_path(short))).status_code == 404

    async def test_the_history_and_the_audit_log_tell_of_it(self, ada: Owner) -> None:
        workspace = await running(ada)
        placed = await place(ada, workspace, "nightly build")
        await ada.client.delete(_path(placed))
        events = (await ada.client.get(f"{ROOT}/{workspace['id']}/events")).json()["items"]
        told = [(each["after"], each["actor"], each["detail"]) for each in events if each["kind"] == "hold"]
        assert told == [("released", "ada", "nightly build"), ("placed", "ada", "nightly build")]
        done = [row["action"] for row in await ada.pool.fetch("SELECT action FROM audit_log ORDER BY id")]
        assert done[-2:] == ["hold.place", "hold.release"]


class TestExtending:
    async def test_it_stays_awake_for_all_of_its_idle_time_from_now_on(self, ada: Owner) -> None:
        workspace = await running(ada)
        await ada.pool.execute("UPDATE workspaces SET phase_changed_at = now() - interval '9 minutes'")
        before = (await ada.get(workspace)).json()["explanation"]["next"]["at"]
        answer = await ada.post(workspace, "extend")
        assert answer.status_code == 200
        assert answer.json()["last_activity"] == "extension"
        later = datetime.fromisoformat(answer.json()["explanation"]["next"]["at"]) - datetime.fromisoformat(before)
        assert later > timedelta(minutes=8)

    @pytest.mark.parametrize(
        "change", ["phase = 'STANDBY'", "desired_state = 'STANDBY'"], ids=["asleep", "about to be stopped"]
    )
    async def test_what_does_not_run_is_not_extended(self, ada: Owner, change: str) -> None:
        workspace = await running(ada)
        await ada.pool.execute(f"UPDATE workspaces SET {change}")  # noqa: S608 (ours)
        answer = await ada.post(workspace, "extend")
        assert (answer.status_code, answer.json()["code"]) == (409, "not_running")
        assert (await ada.get(workspace)).json()["last_access_at"] is None


async def test_a_token_that_can_only_hold_holds(ada: Owner, people: People, user: User, pool: asyncpg.Pool) -> None:
    workspace = await running(ada)
    holder = Owner(await people.program(user, Scope.HOLD), pool)
    placed = await place(holder, workspace)
    await renew(holder, placed, 1200)
    assert await reasons(holder, workspace) == ["build"]
    assert (await holder.client.delete(_path(placed))).status_code == 204
    refused = await holder.get(workspace)
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")


async def test_pages_are_told_of_a_hold(ada: Owner, database_url: str) -> None:
    """The row changes in a way that its trigger tells of."""
    workspace = await running(ada)
    heard: list[str] = []
    connection = await asyncpg.connect(database_url)
    try:
        await connection.add_listener("ws_sse", lambda *said: heard.append(said[-1]))
        await place(ada, workspace)
        await connection.execute("SELECT 1")  # what was notified before comes with its answer
    finally:
        await connection.close()
    assert [each.split()[0] for each in heard] == [workspace["id"]]
