"""Wishes over HTTP: start, stop, recover, change; what is written, and what is not."""

import asyncpg
import pytest

from codehub.model.states import ErrorReason, Phase
from codehub.settings import Settings
from tests.web.api.people import People
from tests.web.api.workspaces import Owner, make_template


@pytest.fixture
async def ada(people: People, pool: asyncpg.Pool) -> Owner:
    await make_template(pool)
    return Owner(await people.browser(await people.user("ada")), pool)


async def test_a_wish_that_is_to_be_carried_out_is_accepted_and_one_that_is_so_is_answered_at_once(ada: Owner) -> None:
    garden = await ada.create("garden")
    accepted = await ada.post(garden, "start")
    assert (accepted.status_code, accepted.json()["desired_state"]) == (202, "RUNNING")
    await ada.becomes(garden, Phase.RUNNING)
    assert (await ada.post(garden, "start")).status_code == 200
    assert (await ada.post(garden, "stop")).status_code == 202


async def test_a_wish_that_is_there_already_writes_nothing(ada: Owner) -> None:
    garden = await ada.create("garden")
    await ada.post(garden, "start")
    before = (await ada.get(garden)).json()
    again = await ada.post(garden, "start")
    assert (again.status_code, again.json()) == (202, before)
    patched = await ada.patch(garden, desired_state="RUNNING")
    assert (patched.status_code, patched.json()) == (202, before)
    assert await ada.count("workspace_events WHERE kind = 'wish'") == 1
    assert await ada.count("audit_log WHERE action = 'workspace.start'") == 1


async def test_a_workspace_is_wished_archived_and_awake_again(ada: Owner) -> None:
    garden = await ada.create("garden")
    accepted = await ada.post(garden, "archive")
    assert (accepted.status_code, accepted.json()["desired_state"]) == (202, "ARCHIVED")
    await ada.becomes(garden, Phase.ARCHIVED)
    assert (await ada.post(garden, "archive")).status_code == 200
    assert (await ada.post(garden, "start")).status_code == 202
    patched = await ada.patch(garden, desired_state="ARCHIVED")
    assert (patched.status_code, patched.json()["desired_state"]) == (200, "ARCHIVED")


async def test_what_rests_in_error_is_recovered_and_not_started(ada: Owner) -> None:
    garden = await ada.create("garden", "RUNNING")
    assert (await ada.post(garden, "recover")).json()["code"] == "not_in_error"
    await ada.becomes(garden, Phase.ERROR, ErrorReason.TIMEOUT)
    refused = await ada.post(garden, "start")
    assert (refused.status_code, refused.json()["code"]) == (409, "in_error")
    accepted = await ada.post(garden, "recover")
    assert (accepted.status_code, accepted.json()["request"]) == (202, "recover")
    assert (await ada.post(garden, "recover")).status_code == 202
    other = await ada.post(garden, "recover", json={"start_empty": True})
    assert (other.status_code, other.json()["code"]) == (409, "request_pending")
    assert await ada.count("workspace_events WHERE kind = 'request'") == 1


async def test_a_lost_home_is_given_up_by_its_owners_own_word(ada: Owner) -> None:
    garden = await ada.create("garden", "RUNNING")
    await ada.becomes(garden, Phase.ERROR, ErrorReason.DATA_LOST)
    assert (await ada.post(garden, "recover", json={"start_empty": True})).json()["request"] == "start_empty"


async def test_only_the_fields_that_are_sent_are_changed(ada: Owner) -> None:
    garden = await ada.create("garden", description="old", memo="kept", standby_after_seconds=60)
    changed = (await ada.patch(garden, description="new")).json()
    assert (changed["description"], changed["memo"], changed["standby_after_seconds"]) == ("new", "kept", 60)
    assert changed["revision"] == garden["revision"] + 1
    cleared = (await ada.patch(garden, standby_after_seconds=None)).json()
    assert (cleared["standby_after_seconds"], cleared["name"]) == (None, "garden")


async def test_a_change_of_a_version_that_is_gone_is_refused_and_writes_nothing(ada: Owner) -> None:
    garden = await ada.create("garden")
    seen = (await ada.get(garden)).headers["etag"]
    first = await ada.patch(garden, seen, memo="first")
    assert first.status_code == 200
    for fields in (
        {"memo": "second"},
        {"memo": "second", "desired_state": "RUNNING"},
        {"desired_state": "RUNNING"},
        {},
    ):
        refused = await ada.patch(garden, seen, **fields)
        assert (refused.status_code, refused.json()["code"]) == (412, "changed_meanwhile")
    assert (await ada.get(garden)).json() == first.json()
    assert (await ada.patch(garden, f'"999", {first.headers["etag"]}', memo="third")).status_code == 200
    assert (await ada.patch(garden, "*", memo="fourth")).status_code == 200


@pytest.mark.parametrize("tag", ["nonsense", '"x"', 'W/"1"', '""', '"99999999999999999999"'])
async def test_a_version_that_was_never_given_matches_nothing(ada: Owner, tag: str) -> None:
    garden = await ada.create("garden")
    assert (await ada.patch(garden, tag, memo="x")).status_code == 412


async def test_what_the_machine_does_meanwhile_does_not_change_the_version(ada: Owner) -> None:
    garden = await ada.create("garden", "RUNNING")
    seen = (await ada.get(garden)).headers["etag"]
    await ada.becomes(garden, Phase.RUNNING)
    assert (await ada.patch(garden, seen, memo="x")).status_code == 200


async def test_words_and_wish_are_changed_together_or_not_at_all(ada: Owner) -> None:
    await ada.create("taken")
    garden = await ada.create("garden")
    refused = await ada.patch(garden, name="taken", desired_state="RUNNING")
    assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
    assert (await ada.patch(garden, name="taken")).json()["code"] == "name_taken"
    assert (await ada.get(garden)).json() == garden
    both = await ada.patch(garden, name="orchard", desired_state="RUNNING")
    assert (both.status_code, both.json()["name"], both.json()["desired_state"]) == (202, "orchard", "RUNNING")


async def test_a_deleted_one_cannot_be_wished_back(ada: Owner) -> None:
    garden = await ada.create("garden")
    await ada.delete(garden)
    for action in ("start", "stop", "recover", "archive"):
        assert (await ada.post(garden, action)).status_code == 404
    assert (await ada.patch(garden, memo="x")).status_code == 404
    assert (await ada.patch(garden, desired_state="RUNNING")).status_code == 404


class TestCeilings:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        ttl = settings.ttl.model_copy(update={"standby_ceiling_seconds": 3600})
        return settings.model_copy(update={"ttl": ttl})

    @pytest.mark.parametrize(("seconds", "allowed"), [(3600, True), (3601, False), (0, False), (None, True)])
    async def test_no_idle_time_is_above_the_administrators_ceiling_and_never_is_above_all(
        self, ada: Owner, seconds: int | None, *, allowed: bool
    ) -> None:
        made = await ada.ask_for(standby_after_seconds=seconds)
        garden = await ada.create("garden")
        changed = await ada.patch(garden, standby_after_seconds=seconds)
        assert (made.status_code, changed.status_code) == ((201, 200) if allowed else (422, 422))
        if not allowed:
            assert (made.json()["code"], made.json()["at"]) == ("above_ceiling", "standby_after_seconds")
        assert (await ada.ask_for(archive_after_seconds=0)).status_code == 201
