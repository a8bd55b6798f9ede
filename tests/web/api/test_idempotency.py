"""Requests that are sent again: done once, whether the first one answered, is still at it, or came to nothing."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.web.api.people import People, User
from tests.web.api.workspaces import ROOT, TEMPLATE, Owner


def body(name: str = "garden") -> dict[str, str]:
    return {"name": name, "template": TEMPLATE, "desired_state": "STANDBY"}


async def test_the_same_request_again_gets_the_same_answer_and_is_done_once(ada: Owner) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    first = await ada.client.post(ROOT, json=body(), headers=key)
    again = await ada.client.post(ROOT, json=body(), headers=key)
    assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert {name: again.headers[name] for name in ("etag", "location", "content-type")} == {
        name: first.headers[name] for name in ("etag", "location", "content-type")
    }
    assert "idempotency-replayed" not in first.headers
    assert await ada.count("workspaces") == 1
    assert await ada.count("audit_log") == 1


async def test_many_at_the_same_time_are_done_once_and_all_get_the_answer(ada: Owner) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    answers = await asyncio.gather(*(ada.client.post(ROOT, json=body(), headers=key) for _ in range(10)))
    assert {(each.status_code, each.content) for each in answers} == {(201, answers[0].content)}
    assert await ada.count("workspaces") == 1


async def test_another_request_under_the_same_key_is_refused(ada: Owner) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    garden = (await ada.client.post(ROOT, json=body(), headers=key)).json()
    other = await ada.client.post(ROOT, json=body("other"), headers=key)
    elsewhere = await ada.post(garden, "start", headers=key)
    for refused in (other, elsewhere):
        assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_reused")


async def test_a_key_belongs_to_one_user(ada: Owner, people: People) -> None:
    key = {"Idempotency-Key": "the-same"}
    bob = Owner(await people.program(await people.user("bob")), ada.pool)
    answers = [await each.client.post(ROOT, json=body(), headers=key) for each in (ada, bob)]
    assert [each.json()["owner"]["login"] for each in answers] == ["ada", "bob"]


async def test_what_was_refused_is_tried_anew(ada: Owner) -> None:
    key = {"Idempotency-Key": uuid4().hex}
    garden = await ada.create("garden")
    assert (await ada.client.post(ROOT, json=body(), headers=key)).status_code == 409
    await ada.delete(garden)
    assert (await ada.client.post(ROOT, json=body(), headers=key)).status_code == 201


async def test_whoever_waits_too_long_for_the_first_is_told_that_it_is_in_progress(ada: Owner, user: User) -> None:
    """The first is a transaction that does not end; when it is gone, as after a crash, the key is free."""
    async with ada.pool.acquire() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute(
            "INSERT INTO idempotency_keys (user_id, key, fingerprint) VALUES ($1, 'mine', '')", user.id
        )
        waited = await ada.client.post(ROOT, json=body(), headers={"Idempotency-Key": "mine"})
        assert (waited.status_code, waited.json()["code"]) == (409, "in_progress")
        await transaction.rollback()
    assert (await ada.client.post(ROOT, json=body(), headers={"Idempotency-Key": "mine"})).status_code == 201


async def test_answers_are_kept_for_a_day_and_then_forgotten(ada: Owner) -> None:
    for name in ("first", "second"):
        await ada.client.post(ROOT, json=body(name), headers={"Idempotency-Key": name})
    await ada.pool.execute("UPDATE idempotency_keys SET created_at = created_at - $1::interval", timedelta(hours=23))
    assert (await ada.client.post(ROOT, json=body("first"), headers={"Idempotency-Key": "first"})).status_code == 201
    await ada.pool.execute("UPDATE idempotency_keys SET created_at = created_at - $1::interval", timedelta(hours=2))
    assert (await ada.client.post(ROOT, json=body("first"), headers={"Idempotency-Key": "first"})).status_code == 409
    await ada.client.post(ROOT, json=body("third"), headers={"Idempotency-Key": "third"})
    assert [each["key"] for each in await ada.pool.fetch("SELECT key FROM idempotency_keys")] == ["third"]


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "a b"])
async def test_a_key_is_one_printable_word(ada: Owner, key: str) -> None:
    assert (await ada.client.post(ROOT, json=body(), headers={"Idempotency-Key": key})).status_code == 422
