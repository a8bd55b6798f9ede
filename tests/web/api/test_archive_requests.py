"""What is asked for with archives: older files, a workspace made from them, and one that was deleted."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import orjson
import pytest

from codehub.model.states import ErrorReason, Phase
from codehub.settings import Settings
from tests.web.api.people import People
from tests.web.api.shelf import Shelf, Shelved
from tests.web.api.workspaces import ROOT, Owner, make_template


@pytest.fixture
async def garden(ada: Owner) -> dict[str, Any]:
    return await ada.create("garden", git_url="https://git.example.org/garden.git", resources={"cpus": 0.5})


@pytest.fixture
async def made(garden: dict[str, Any], shelf: Shelf) -> Shelved:
    return await shelf.put(garden)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def requested(ada: Owner, workspace: dict[str, Any]) -> dict[str, Any]:
    """What the controller finds in the row."""
    stored = await ada.pool.fetchval("SELECT request FROM workspaces WHERE id = $1", UUID(workspace["id"]))
    found: dict[str, Any] = orjson.loads(stored)
    return found


class TestRestore:
    async def test_older_files_are_asked_for_by_their_archive(
        self, ada: Owner, garden: dict[str, Any], made: Shelved, shelf: Shelf
    ) -> None:
        await shelf.put(garden)
        accepted = await ada.post(garden, "restore", json={"archive_id": str(made.id)})
        assert (accepted.status_code, accepted.json()["request"]) == (202, "restore")
        asked = await requested(ada, garden)
        assert (asked["kind"], asked["archive_key"], asked["actor"]) == ("restore", made.key, "ada")
        assert await ada.count("audit_log WHERE action = 'workspace.restore'") == 1

    async def test_the_same_asked_for_again_is_one_request_and_another_has_to_wait(
        self, ada: Owner, garden: dict[str, Any], made: Shelved, shelf: Shelf
    ) -> None:
        newer = await shelf.put(garden)
        for _ in range(2):
            assert (await ada.post(garden, "restore", json={"archive_id": str(made.id)})).status_code == 202
        assert refusal(await ada.post(garden, "restore", json={"archive_id": str(newer.id)})) == (
            409,
            "request_pending",
        )
        assert await ada.count("workspace_events WHERE kind = 'request'") == 1

    async def test_only_an_archive_of_the_workspace_itself_is_restored(
        self, ada: Owner, garden: dict[str, Any], shelf: Shelf
    ) -> None:
        others = await shelf.put(await ada.create("other"))
        for archive_id in (others.id, uuid4()):
            asked = await ada.post(garden, "restore", json={"archive_id": str(archive_id)})
            assert refusal(asked) == (404, "not_found")
        assert (await ada.post(garden, "restore", json={"archive_id": "x"})).status_code == 422

    async def test_out_of_an_error_it_takes_a_place_among_the_running(
        self, ada: Owner, garden: dict[str, Any], made: Shelved
    ) -> None:
        await ada.post(garden, "start")
        await ada.becomes(garden, Phase.ERROR, ErrorReason.DATA_LOST)
        running = [await ada.create(desired="RUNNING") for _ in range(2)]
        body = {"archive_id": str(made.id)}
        assert refusal(await ada.post(garden, "restore", json=body)) == (429, "limit_reached")
        await ada.post(running[0], "stop")
        assert (await ada.post(garden, "restore", json=body)).status_code == 202

    async def test_an_empty_home_is_given_only_for_a_lost_one(self, ada: Owner, garden: dict[str, Any]) -> None:
        await ada.becomes(garden, Phase.ERROR, ErrorReason.TIMEOUT)
        assert refusal(await ada.post(garden, "recover", json={"start_empty": True})) == (409, "not_lost")
        await ada.becomes(garden, Phase.ERROR, ErrorReason.ARCHIVE_CORRUPTED)
        assert (await ada.post(garden, "recover", json={"start_empty": True})).json()["request"] == "start_empty"

    @pytest.mark.usefixtures("made")
    async def test_lost_files_are_told_with_what_is_left_of_them(
        self, ada: Owner, garden: dict[str, Any], shelf: Shelf
    ) -> None:
        await ada.becomes(garden, Phase.ERROR, ErrorReason.DATA_LOST)
        lost = (await ada.get(garden)).json()["explanation"]
        assert "There is no archive to restore it from." in lost["summary"]
        await shelf.put(garden)
        left = (await ada.get(garden)).json()["explanation"]
        assert "Restore it from its archive of 2026-03-02 08:30 UTC." in left["summary"]
        assert left["params"]["restorable"]["count"] == 1
        assert "restore" in left["would_change"]


class TestFork:
    async def test_a_fork_begins_with_the_files_of_its_source(
        self, ada: Owner, garden: dict[str, Any], made: Shelved
    ) -> None:
        answer = await ada.post(garden, "fork", json={"name": "copy", "desired_state": "STANDBY"})
        assert answer.status_code == 201, answer.text
        fork = answer.json()
        assert answer.headers["location"] == f"{ROOT}/{fork['id']}"
        assert (fork["name"], fork["request"], fork["desired_state"]) == ("copy", "fork", "STANDBY")
        same = ("template", "git_url", "resources", "owner")
        assert {name: fork[name] for name in same} == {name: garden[name] for name in same}
        asked = await requested(ada, fork)
        assert (asked["kind"], asked["archive_key"]) == ("fork", made.key)
        assert (await ada.get(garden)).json()["request"] is None
        assert await ada.count("audit_log WHERE action = 'workspace.fork' AND subject = 'copy'") == 1

    async def test_an_older_archive_another_template_and_less_can_be_chosen(
        self, ada: Owner, garden: dict[str, Any], made: Shelved, shelf: Shelf
    ) -> None:
        await shelf.put(garden)
        await make_template(ada.pool, "other")
        body = {"name": "copy", "archive_id": str(made.id), "template": "other", "resources": {"cpus": 0.25}}
        fork = (await ada.post(garden, "fork", json=body)).json()
        assert (fork["template"]["name"], fork["resources"]) == ("other", {"cpus": 0.25})
        assert (await requested(ada, fork))["archive_key"] == made.key

    async def test_what_cannot_be_is_refused_and_nothing_is_made(
        self, ada: Owner, garden: dict[str, Any], made: Shelved
    ) -> None:
        empty = await ada.create("empty")
        assert refusal(await ada.post(empty, "fork", json={"name": "copy"})) == (409, "no_archive")
        other = {"name": "copy", "archive_id": str(made.id)}
        assert refusal(await ada.post(empty, "fork", json=other)) == (404, "not_found")
        assert refusal(await ada.post(garden, "fork", json={"name": "empty"})) == (409, "name_taken")
        unknown = {"name": "copy", "template": "nothing"}
        assert refusal(await ada.post(garden, "fork", json=unknown)) == (422, "unknown_template")
        above = {"name": "copy", "resources": {"cpus": 64}}
        assert refusal(await ada.post(garden, "fork", json=above)) == (422, "above_template")
        assert refusal(await ada.post(garden, "fork", json={"name": "copy", "image": "x"})) == (422, "invalid_request")
        assert await ada.count("workspaces") == 2

    @pytest.mark.usefixtures("made")
    async def test_a_running_fork_takes_a_place_and_an_archived_one_does_not(
        self, ada: Owner, garden: dict[str, Any]
    ) -> None:
        for name in ("one", "two"):
            assert (await ada.post(garden, "fork", json={"name": name})).status_code == 201
        assert refusal(await ada.post(garden, "fork", json={"name": "three"})) == (429, "limit_reached")
        asleep = await ada.post(garden, "fork", json={"name": "three", "desired_state": "ARCHIVED"})
        assert (asleep.status_code, asleep.json()["desired_state"]) == (201, "ARCHIVED")

    @pytest.mark.usefixtures("made")
    async def test_asked_for_again_under_its_key_it_is_made_once(self, ada: Owner, garden: dict[str, Any]) -> None:
        first, again = [
            await ada.post(garden, "fork", json={"name": "copy"}, headers={"Idempotency-Key": "k"}) for _ in range(2)
        ]
        assert (first.status_code, again.status_code, first.json()["id"]) == (201, 201, again.json()["id"])
        assert again.headers["idempotency-replayed"] == "true"

    @pytest.mark.usefixtures("made")
    async def test_a_deleted_source_will_do_while_its_archive_is_there(
        self, ada: Owner, garden: dict[str, Any]
    ) -> None:
        await ada.delete(garden)
        assert (await ada.post(garden, "fork", json={"name": "copy"})).status_code == 201

    @pytest.mark.usefixtures("made")
    async def test_a_fork_of_anybodys_is_the_administrators_own(
        self, people: People, garden: dict[str, Any], ada: Owner
    ) -> None:
        head = Owner(await people.browser(await people.administrator("head")), ada.pool)
        assert (await head.post(garden, "fork", json={"name": "copy"})).json()["owner"]["login"] == "head"


class TestUndelete:
    async def gone(self, ada: Owner, workspace: dict[str, Any]) -> dict[str, Any]:
        """Deleted, and nothing of its home is left."""
        deleted = await ada.delete(workspace)
        await ada.becomes(workspace, Phase.DELETED)
        answer: dict[str, Any] = deleted.json()
        return answer

    async def test_whether_it_can_be_undone_is_told_before_and_after(
        self, ada: Owner, garden: dict[str, Any], shelf: Shelf
    ) -> None:
        assert garden["undelete_seconds"] == 0
        plain = await self.gone(ada, await ada.create("plain"))
        assert (plain["undo_until"], plain["as_of"]) == (None, None)
        await shelf.put(garden)
        assert (await ada.get(garden)).json()["undelete_seconds"] == 7 * 86400
        deleted = await self.gone(ada, garden)
        assert (deleted["undo_until"] > deleted["deleted_at"], deleted["as_of"]) == (True, "2026-03-02T08:30:00+00:00")

    @pytest.mark.usefixtures("made")
    async def test_what_was_deleted_is_listed_and_comes_back_from_its_archive(
        self, ada: Owner, garden: dict[str, Any]
    ) -> None:
        deleted = await self.gone(ada, garden)
        assert await ada.names() == []
        [listed] = (await ada.client.get(ROOT, params={"deleted": "true"})).json()["items"]
        assert (listed["id"], listed["undo_until"]) == (garden["id"], deleted["undo_until"])
        assert listed["explanation"]["code"] == "deleted"
        assert listed["explanation"]["would_change"] == ["undelete"]
        back = await ada.post(garden, "undelete")
        assert (back.status_code, back.json()["desired_state"]) == (202, "ARCHIVED")
        assert (back.json()["deleted_at"], back.json()["explanation"]["code"]) == (None, "returning")
        assert await ada.names() == ["garden"]
        assert await ada.names(deleted="true") == []
        assert await ada.count("workspace_events WHERE before = 'DELETED' AND after = 'ARCHIVED'") == 1
        assert await ada.count("audit_log WHERE action = 'workspace.undelete'") == 1

    async def test_a_home_that_was_not_yet_taken_away_comes_back_as_it_was(
        self, ada: Owner, garden: dict[str, Any]
    ) -> None:
        await ada.pool.execute("UPDATE workspaces SET home_volume = 'home', phase = 'STANDBY'")
        await ada.delete(garden)
        back = await ada.post(garden, "undelete", json={})
        assert (back.status_code, back.json()["desired_state"]) == (202, "STANDBY")

    @pytest.mark.usefixtures("made")
    async def test_while_its_home_is_being_taken_away_one_has_to_wait(self, ada: Owner, garden: dict[str, Any]) -> None:
        await ada.delete(garden)
        under_way = "operation = 'DELETING', op_step = 'delete', op_id = gen_random_uuid(), op_clock_at = now()"
        await ada.pool.execute(f"UPDATE workspaces SET home_volume = 'home', {under_way}")  # noqa: S608
        refused = await ada.post(garden, "undelete")
        assert (*refusal(refused), refused.headers["retry-after"]) == (409, "being_deleted", "1")

    async def test_what_is_gone_for_good_does_not_come_back_as_something_else(
        self, ada: Owner, garden: dict[str, Any], shelf: Shelf
    ) -> None:
        assert refusal(await ada.post(garden, "undelete")) == (409, "not_deleted")
        await self.gone(ada, garden)
        assert refusal(await ada.post(garden, "undelete")) == (409, "cannot_come_back")
        made = await shelf.put(garden)
        await ada.pool.execute("DELETE FROM archives WHERE id = $1", made.id)
        assert refusal(await ada.post(garden, "undelete")) == (409, "cannot_come_back")
        await shelf.put(garden)
        await ada.pool.execute("UPDATE workspaces SET deleted_at = now() - interval '8 days'")
        assert refusal(await ada.post(garden, "undelete")) == (409, "cannot_come_back")

    @pytest.mark.usefixtures("made")
    async def test_a_name_that_is_taken_meanwhile_can_be_another(self, ada: Owner, garden: dict[str, Any]) -> None:
        await self.gone(ada, garden)
        await ada.create("garden")
        assert refusal(await ada.post(garden, "undelete")) == (409, "name_taken")
        assert (await ada.post(garden, "undelete", json={"name": "old garden"})).json()["name"] == "old garden"

    @pytest.mark.usefixtures("made")
    async def test_to_run_it_needs_a_place(self, ada: Owner, garden: dict[str, Any]) -> None:
        await self.gone(ada, garden)
        running = [await ada.create(desired="RUNNING") for _ in range(2)]
        body = {"desired_state": "RUNNING"}
        assert refusal(await ada.post(garden, "undelete", json=body)) == (429, "limit_reached")
        await ada.post(running[0], "stop")
        assert (await ada.post(garden, "undelete", json=body)).json()["desired_state"] == "RUNNING"

    class TestWithoutAWindow:
        @pytest.fixture
        def settings(self, settings: Settings) -> Settings:
            retention = settings.retention.model_copy(update={"undelete_seconds": 0})
            return settings.model_copy(update={"retention": retention})

        @pytest.mark.usefixtures("made")
        async def test_nothing_comes_back(self, ada: Owner, garden: dict[str, Any]) -> None:
            assert (await ada.delete(garden)).json()["undo_until"] is None
            assert refusal(await ada.post(garden, "undelete")) == (409, "cannot_come_back")
