"""The archives of a workspace over HTTP: which there are, which is current, why each stays, and keeping one."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.web.api.people import People
from tests.web.api.shelf import Shelf, archives
from tests.web.api.workspaces import ROOT, Owner


@pytest.fixture
async def garden(ada: Owner) -> dict[str, Any]:
    return await ada.create("garden")


async def keep(ada: Owner, workspace: dict[str, Any], archive_id: object, *, kept: bool) -> httpx.Response:
    return await ada.client.patch(f"{ROOT}/{workspace['id']}/archives/{archive_id}", json={"kept": kept})


async def test_a_new_workspace_has_none(ada: Owner, garden: dict[str, Any]) -> None:
    assert await archives(ada.client, garden) == []
    assert garden["archive"] is None


async def test_each_says_what_it_is(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    made = await shelf.put(garden, b"the files")
    [shown] = await archives(ada.client, garden)
    assert (shown["id"], shown["number"], shown["workspace_id"]) == (str(made.id), 1, garden["id"])
    assert (shown["size"], shown["entries"], shown["sha256"]) == (9, 7, made.sha256)
    assert (shown["kept"], shown["current"]) == (False, True)
    assert shown["stays_because"] == "it is the current archive"
    described = (await ada.get(garden)).json()["archive"]
    assert described == {"number": 1, "made_at": shown["made_at"], "size": 9, "entries": 7}


async def test_the_newest_stand_first_and_each_says_why_it_stays(
    ada: Owner, garden: dict[str, Any], shelf: Shelf
) -> None:
    made = [await shelf.put(garden) for _ in range(5)]
    await keep(ada, garden, made[0].id, kept=True)
    shown = await archives(ada.client, garden)
    assert [each["number"] for each in shown] == [5, 4, 3, 2, 1]
    assert [each["current"] for each in shown] == [True, False, False, False, False]
    assert [each["stays_because"] for each in shown] == [
        "it is the current archive",
        "it is among the newest 3",
        "it is among the newest 3",
        None,
        "its owner keeps it",
    ]


async def test_long_lists_are_told_page_by_page(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    for _ in range(5):
        await shelf.put(garden)
    found: list[int] = []
    cursor: str | None = None
    while True:
        params = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        page = (await ada.client.get(f"{ROOT}/{garden['id']}/archives", params=params)).json()
        assert len(page["items"]) <= 2
        found += [each["number"] for each in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert found == [5, 4, 3, 2, 1]
    wrong = await ada.client.get(f"{ROOT}/{garden['id']}/archives", params={"cursor": "x"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_cursor")


async def test_one_is_kept_and_let_go_and_each_is_told_once(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    made = await shelf.put(garden)
    for kept in (True, True, False, False):
        answer = await keep(ada, garden, made.id, kept=kept)
        assert (answer.status_code, answer.json()["kept"]) == (200, kept)
    assert await ada.count("audit_log WHERE action = 'archive.keep'") == 1
    assert await ada.count("audit_log WHERE action = 'archive.unkeep' AND subject = 'garden'") == 1


async def test_an_archive_is_found_only_at_its_own_workspace(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    other = await ada.create("other")
    made = await shelf.put(other)
    for archive_id in (made.id, uuid4()):
        answer = await keep(ada, garden, archive_id, kept=True)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert await ada.count("archives WHERE kept") == 0


async def test_a_deleted_workspace_still_shows_its_archives(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    made = await shelf.put(garden)
    await ada.delete(garden)
    [shown] = await archives(ada.client, garden)
    assert (shown["id"], shown["stays_because"]) == (str(made.id), "it is the current archive")


async def test_an_archive_that_a_fork_stands_on_stays(ada: Owner, garden: dict[str, Any], shelf: Shelf) -> None:
    oldest, *_ = [await shelf.put(garden) for _ in range(4)]
    assert (await archives(ada.client, garden))[-1]["stays_because"] is None
    asked = await ada.post(garden, "fork", json={"name": "fork", "archive_id": str(oldest.id)})
    assert asked.status_code == 201, asked.text
    assert (await archives(ada.client, garden))[-1]["stays_because"] == "another workspace was made from it"
    fork = asked.json()
    await ada.pool.execute(
        "UPDATE workspaces SET archive_key = $2, request = NULL WHERE id = $1", fork["id"], oldest.key
    )
    [shown] = await archives(ada.client, fork)
    assert (shown["id"], shown["workspace_id"], shown["current"]) == (str(oldest.id), garden["id"], True)
    assert (await archives(ada.client, garden))[-1]["stays_because"] == "another workspace was made from it"


async def test_administrators_see_and_keep_everybodys(
    people: People, garden: dict[str, Any], shelf: Shelf, ada: Owner
) -> None:
    made = await shelf.put(garden)
    head = await people.browser(await people.administrator())
    assert [each["id"] for each in await archives(head, garden)] == [str(made.id)]
    assert (await keep(Owner(head, ada.pool), garden, made.id, kept=True)).status_code == 200
