"""Lists: in a stable order, page by page, narrowed and searched, and never cut off in silence."""

from typing import Any
from uuid import UUID

import asyncpg
import pytest

from codehub.model.states import ErrorReason, Phase
from tests.web.api.people import People
from tests.web.api.workspaces import ROOT, Owner, make_template


@pytest.fixture
async def ada(people: People, pool: asyncpg.Pool) -> Owner:
    await make_template(pool)
    return Owner(await people.browser(await people.user("ada")), pool)


async def pages(owner: Owner, path: str = ROOT, **parameters: Any) -> list[list[str]]:  # noqa: ANN401
    """All pages, by the names on each."""
    found: list[list[str]] = []
    cursor = None
    while not found or cursor is not None:
        answer = (await owner.client.get(path, params={**parameters, **({"cursor": cursor} if cursor else {})})).json()
        found.append([each["name"] for each in answer["items"]])
        cursor = answer["next"]
    return found


async def test_pages_go_on_where_they_ended_whatever_comes_and_goes_meanwhile(ada: Owner) -> None:
    made = [await ada.create(f"w{number}") for number in range(7)]
    assert await pages(ada, limit=3) == [["w6", "w5", "w4"], ["w3", "w2", "w1"], ["w0"]]
    first = (await ada.client.get(ROOT, params={"limit": 3})).json()
    await ada.create("new")
    await ada.delete(made[4])
    rest = (await ada.client.get(ROOT, params={"limit": 10, "cursor": first["next"]})).json()
    assert ([each["name"] for each in rest["items"]], rest["next"]) == (["w3", "w2", "w1", "w0"], None)


async def test_workspaces_of_the_same_moment_are_each_listed_once(ada: Owner) -> None:
    for number in range(5):
        await ada.create(f"w{number}")
    await ada.pool.execute("UPDATE workspaces SET created_at = '2026-01-01'")
    found = await pages(ada, limit=2)
    assert [len(page) for page in found] == [2, 2, 1]
    assert {name for page in found for name in page} == {f"w{number}" for number in range(5)}


async def test_a_page_that_is_just_full_says_whether_more_follows(ada: Owner) -> None:
    assert await pages(ada, limit=2) == [[]]
    for name in ("a", "b"):
        await ada.create(name)
    assert await pages(ada, limit=2) == [["b", "a"]]
    assert await pages(ada, limit=1) == [["b"], ["a"]]


async def test_a_list_can_be_narrowed_by_phase_wish_and_template(ada: Owner) -> None:
    other = await make_template(ada.pool, "other")
    await ada.create("asleep")
    await ada.create("wanted", "RUNNING", template="other")
    running = await ada.create("running", "RUNNING")
    await ada.becomes(running, Phase.RUNNING)
    assert await ada.names(phase="RUNNING") == ["running"]
    assert await ada.names(phase=["RUNNING", "PENDING"]) == ["running", "wanted", "asleep"]
    assert await ada.names(desired="RUNNING") == ["running", "wanted"]
    assert await ada.names(desired="RUNNING", phase="PENDING") == ["wanted"]
    assert await ada.names(template="other") == await ada.names(template=str(other)) == ["wanted"]
    assert await ada.names(template="nothing") == []


async def test_words_are_found_in_name_and_description_in_any_case_and_taken_literally(ada: Owner) -> None:
    await ada.create("Garden", description="Roses")
    await ada.create("100% done", description="under_score")
    await ada.create("정원")
    assert await ada.names(q="garden") == await ada.names(q="ROSES") == ["Garden"]
    assert await ada.names(q="%") == await ada.names(q="_") == ["100% done"]
    assert await ada.names(q="원") == ["정원"]
    assert await ada.names(q="denRo") == []


@pytest.mark.parametrize(
    "parameters",
    [
        {"limit": 0},
        {"limit": 201},
        {"limit": "many"},
        {"phase": "ASLEEP"},
        {"cursor": "x"},
        {"cursor": "AAAA"},
        {"cursor": "MjAyNi0wMS0wMSAx"},
        {"q": "\x00"},
        {"colour": "red"},
    ],
)
async def test_what_cannot_be_asked_is_told(ada: Owner, parameters: dict[str, str]) -> None:
    answer = await ada.client.get(ROOT, params=parameters)
    assert answer.status_code == 422


async def test_an_administrator_lists_everybodys_page_by_page(ada: Owner, people: People) -> None:
    boss = Owner(await people.browser(await people.administrator()), ada.pool)
    await ada.create("a")
    await boss.create("b")
    assert await pages(boss, "/api/v1/admin/workspaces", limit=1) == [["b"], ["a"]]
    assert (await ada.client.get("/api/v1/admin/workspaces")).status_code == 403


async def test_an_administrator_narrows_everybodys_by_what_is_under_way_and_what_failed(
    ada: Owner, people: People
) -> None:
    boss = Owner(await people.browser(await people.administrator()), ada.pool)
    failed, busy = await ada.create("failed"), await ada.create("busy")
    await ada.create("quiet")
    await ada.becomes(failed, Phase.ERROR, ErrorReason.DATA_LOST)
    await ada.pool.execute(
        """UPDATE workspaces SET operation = 'STOPPING', op_id = id, op_step = 'stop', op_clock_at = now()
           WHERE id = $1""",
        UUID(busy["id"]),
    )
    everybodys = "/api/v1/admin/workspaces"
    assert await pages(boss, everybodys, operation="STOPPING") == [["busy"]]
    assert await pages(boss, everybodys, operation=["STARTING", "STOPPING"], phase="ERROR") == [[]]
    assert await pages(boss, everybodys, error="DataLost") == [["failed"]]
    assert await pages(boss, everybodys, error="Timeout") == [[]]
