"""The dashboard and its forms in a browser without JavaScript: everything can be done there."""

import re
from html import unescape

import httpx
import pytest

from codehub.model.states import ErrorReason, Phase
from codehub.web.pages.sought import PER_PAGE
from tests.web.api.people import PASSWORD, People, User, form_token
from tests.web.api.shelf import Shelf
from tests.web.api.workspaces import Owner

PERSON = {"Accept": "text/html", "Referer": "http://codehub.test/?sort=name"}


@pytest.fixture
async def browser(people: People, user: User) -> httpx.AsyncClient:
    """Of the owner; redirects are not followed, so that a test sees where they lead."""
    client = await people.browser(user)
    client.headers.update(PERSON)
    return client


def texts(page: httpx.Response, kind: str) -> list[str]:
    return [unescape(text) for text in re.findall(rf"<{kind}>(?:<a [^>]*>)?([^<]*)<", page.text)]


async def act(browser: httpx.AsyncClient, action: str, *workspaces: dict[str, str]) -> httpx.Response:
    sent = {
        "csrf_token": form_token(await browser.get("/")),
        "action": action,
        "ids": [each["id"] for each in workspaces],
    }
    return await browser.post("/workspaces/act", data=sent)


async def test_who_is_not_logged_in_does_that_first(people: People) -> None:
    answer = await (await people.client(headers=PERSON)).get("/?show=ERROR")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2F%3Fshow%3DERROR")


async def test_who_has_nothing_yet_is_told_how_to_begin(browser: httpx.AsyncClient) -> None:
    page = await browser.get("/")
    assert "Make your first workspace" in page.text
    assert 'href="/workspaces/new"' in page.text


async def test_a_card_says_what_it_is_and_why(browser: httpx.AsyncClient, ada: Owner) -> None:
    await ada.create("<garden>", description="The shop")
    page = await browser.get("/")
    assert texts(page, "h2") == ["<garden>"]
    assert "The shop" in page.text
    assert "Its home is made ready in a moment" in page.text
    assert (await browser.get("/", headers={"Accept-Language": "ko"})).text.count("곧 홈을 준비합니다") == 1


async def test_a_list_is_searched_narrowed_sorted_and_paged(browser: httpx.AsyncClient, ada: Owner) -> None:
    for name in ("b", "a", "c"):
        made = await ada.create(name)
    await ada.becomes(made, Phase.ERROR, ErrorReason.TIMEOUT)
    assert texts(await browser.get("/"), "h2") == ["c", "a", "b"]
    assert texts(await browser.get("/?sort=name"), "h2") == ["a", "b", "c"]
    assert texts(await browser.get("/?q=A"), "h2") == ["a"]
    assert texts(await browser.get("/?show=ERROR"), "h2") == ["c"]
    assert "No workspace matches" in (await browser.get("/?show=RUNNING")).text
    for number in range(PER_PAGE):
        await ada.create(f"d{number:03}")
    second = await browser.get("/?page=2&sort=name")
    assert texts(second, "h2") == [f"d{PER_PAGE - 3 + number:03}" for number in range(3)]
    assert "Page 2 of 2" in second.text
    assert texts(await browser.get("/?page=99&sort=name"), "h2") == texts(second, "h2")


async def test_nobody_sees_what_belongs_to_others(people: People, browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    other = await people.browser(await people.user())
    other.headers.update(PERSON)
    assert "garden" not in (await other.get("/")).text
    assert "garden" not in (await other.get("/fragments/cards", params={"ids": made["id"].replace("-", "")})).text
    for what in ("fork", "delete"):
        assert (await other.get(f"/workspaces/{made['id']}/{what}")).status_code == 404
    sent = {"csrf_token": form_token(await other.get("/")), "action": "delete", "ids": [made["id"]]}
    await other.post("/workspaces/act", data=sent)
    assert texts(await browser.get("/"), "h2") == ["garden"]


async def test_a_deed_comes_back_to_the_list_and_is_told_once(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    answer = await act(browser, "start", made)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?sort=name")
    assert "garden starts." in (await browser.get("/")).text
    assert "garden starts." not in (await browser.get("/")).text
    assert (await ada.get(made)).json()["desired_state"] == "RUNNING"


async def test_of_several_what_is_refused_to_one_keeps_none_of_the_others(
    browser: httpx.AsyncClient, ada: Owner
) -> None:
    shed, garden = await ada.create("shed"), await ada.create("garden")
    await ada.becomes(shed, Phase.ERROR, ErrorReason.TIMEOUT)
    await act(browser, "start", shed, garden)
    page = await browser.get("/")
    assert "garden starts." in page.text
    assert "shed: It is in an error" in page.text
    assert (await ada.get(garden)).json()["desired_state"] == "RUNNING"


async def test_a_form_of_another_page_does_nothing(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden")
    answer = await browser.post("/workspaces/act", data={"csrf_token": "x", "action": "delete", "ids": [made["id"]]})
    assert answer.status_code == 403
    assert "load it again" in answer.text
    assert texts(await browser.get("/"), "h2") == ["garden"]


async def test_the_script_of_a_page_gets_what_happened_with_its_undo(browser: httpx.AsyncClient, ada: Owner) -> None:
    made = await ada.create("garden", "RUNNING")
    sent = {"csrf_token": form_token(await browser.get("/")), "action": "stop", "ids": [made["id"]]}
    answer = await browser.post("/workspaces/act", data=sent, headers={"X-Requested-With": "fetch"})
    assert answer.status_code == 200
    assert "garden is stopped." in answer.text
    assert 'name="action" value="start"' in answer.text


async def test_a_workspace_is_made_with_what_was_chosen(browser: httpx.AsyncClient, ada: Owner) -> None:
    form = await browser.get("/workspaces/new")
    sent = {"csrf_token": form_token(form), "name": "garden", "template": "ide", "memory": "0.5", "standby": "3600"}
    sent["repository"] = " https://git.example.org/shop/garden.git "
    answer = await browser.post("/workspaces/new", data=sent)
    assert answer.status_code == 303, answer.text
    [made] = (await ada.client.get("/api/v1/workspaces")).json()["items"]
    assert (made["name"], made["standby_after_seconds"], made["desired_state"]) == ("garden", 3600, "STANDBY")
    assert made["resources"] == {"memory_bytes": 2**29}
    assert made["git_url"] == "https://git.example.org/shop/garden.git"


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("name", "a/b", "A name is on one line"),
        ("memory", "much", "One of these is not a number"),
        ("repository", "https://ada:secret@git.example.org/garden.git", "without a password"),
        ("cpus", "7", "more than the template gives"),
        ("template", "none", "no such template"),
    ],
)
async def test_what_is_wrong_in_a_form_is_shown_with_what_was_filled_in(
    browser: httpx.AsyncClient, field: str, value: str, told: str
) -> None:
    good = {"csrf_token": form_token(await browser.get("/workspaces/new")), "name": "garden", "template": "ide"}
    answer = await browser.post("/workspaces/new", data={**good, "description": "The shop", field: value})
    assert answer.status_code == 422
    assert told in answer.text
    assert 'value="The shop"' in answer.text


async def test_before_a_deletion_one_is_told_what_is_lost(browser: httpx.AsyncClient, ada: Owner, shelf: Shelf) -> None:
    lost, kept = await ada.create("lost"), await ada.create("kept")
    await shelf.put(kept)
    assert "cannot be undone" in (await browser.get(f"/workspaces/{lost['id']}/delete")).text
    assert "can be brought back" in (await browser.get(f"/workspaces/{kept['id']}/delete")).text
    await act(browser, "delete", kept)
    await ada.becomes(kept, Phase.DELETED)
    assert texts(await browser.get("/"), "h2") == ["lost"]
    deleted = await browser.get("/?show=deleted")
    assert texts(deleted, "h2") == ["kept"]
    assert 'value="undelete"' in deleted.text


async def test_a_fork_begins_with_an_archive(browser: httpx.AsyncClient, ada: Owner, shelf: Shelf) -> None:
    made = await ada.create("garden")
    assert (await browser.get(f"/workspaces/{made['id']}/fork")).status_code == 409
    await shelf.put(made)
    form = await browser.get(f"/workspaces/{made['id']}/fork")
    answer = await browser.post(
        f"/workspaces/{made['id']}/fork", data={"csrf_token": form_token(form), "name": "garden 2"}
    )
    assert answer.status_code == 303, answer.text
    assert texts(await browser.get("/"), "h2") == ["garden 2", "garden"]


async def test_language_and_theme_are_remembered(browser: httpx.AsyncClient) -> None:
    sent = await browser.post("/preferences?next=/account", data={"language": "ko", "theme": "dark"})
    assert (sent.status_code, sent.headers["location"]) == (303, "/account")
    page = await browser.get("/account", headers={"Accept-Language": "en"})
    assert '<html lang="ko" data-theme="dark">' in page.text
    assert (await browser.get("/api/v1/me")).json()["locale"] == "ko"


async def test_a_token_is_shown_once_and_revoked(browser: httpx.AsyncClient, people: People) -> None:
    form = {"csrf_token": form_token(await browser.get("/account")), "name": "laptop", "scope": "read", "days": "30"}
    made = await browser.post("/account/tokens", data=form)
    [secret] = re.findall(r"codehub_[\w-]+", made.text)
    program = await people.client(headers={"Authorization": f"Bearer {secret}"})
    assert (await program.get("/api/v1/me")).status_code == 200
    page = await browser.get("/account")
    assert secret not in page.text
    [address] = re.findall(r'action="(/account/tokens/[^"]+/revoke)"', page.text)
    assert (await browser.post(address, data={"csrf_token": form_token(page)})).status_code == 303
    assert (await program.get("/api/v1/me")).status_code == 401


async def test_other_browsers_are_logged_out_one_by_one_or_together(
    browser: httpx.AsyncClient, people: People, user: User
) -> None:
    others = [await people.browser(user) for _ in range(3)]
    page = await browser.get("/account")
    address = re.findall(r'action="(/account/sessions/[0-9a-f-]{36}/end)"', page.text)[0]
    await browser.post(address, data={"csrf_token": form_token(page)})
    assert "That browser is logged out." in (await browser.get("/account")).text
    assert [(await each.get("/api/v1/me")).status_code for each in others].count(401) == 1
    await browser.post("/account/sessions/end-others", data={"csrf_token": form_token(page)})
    assert {(await each.get("/api/v1/me")).status_code for each in others} == {401}
    assert (await browser.get("/account")).status_code == 200


async def test_a_password_is_changed_on_the_page(people: People) -> None:
    user = await people.user("bob", password=PASSWORD)
    browser = await people.browser(user)
    browser.headers.update(PERSON)
    form = {
        "csrf_token": form_token(await browser.get("/account")),
        "present": PASSWORD,
        "new": "four more words are better",
    }
    for field, value, told in (("present", "wrong", "is not the one"), ("new", "short", "at least 12 characters")):
        answer = await browser.post("/account/password", data={**form, field: value})
        assert answer.status_code in {403, 422}
        assert told in answer.text
    assert (await browser.post("/account/password", data=form)).status_code == 303
    assert "The password is changed" in (await browser.get("/account")).text


async def test_a_logout_ends_the_session(browser: httpx.AsyncClient) -> None:
    answer = await browser.post("/logout", data={"csrf_token": form_token(await browser.get("/"))})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert (await browser.get("/api/v1/me")).status_code == 401
