"""Into a workspace, from a login on another origin: by a code that is good once, soon, there and in this browser."""

from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

from tests.front_door.house import House, Person


def query(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


async def test_somebody_logged_in_gets_to_where_they_wanted_to_go(ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    answer = await browser.open(f"{browser.origin(garden)}/folder?x=1&y=2")
    assert answer.status_code == 200
    assert answer.json()["path"] == "/folder?x=1&y=2"


async def test_somebody_who_is_not_is_asked_to_log_in_first(codehub: House, garden: UUID) -> None:
    browser = codehub.browser()
    answer = await browser.open(f"{browser.origin(garden)}/folder?x=1")
    assert answer.status_code == 200
    assert "Log in to codehub" in answer.text
    assert browser.origin(garden) in answer.headers["content-security-policy"]  # where the form will lead in the end


async def test_scripts_and_programs_are_not_sent_around(codehub: House, garden: UUID) -> None:
    browser = codehub.browser()
    assert (await browser.fetch(browser.origin(garden))).status_code == 401
    async with browser.websocket(browser.origin(garden)) as socket:
        assert socket.status == 401


async def test_what_is_not_there_and_what_is_somebody_elses_look_alike(garden: UUID, eve: Person) -> None:
    browser = await eve.log_in()
    foreign = await browser.open(browser.origin(garden))
    missing = await browser.open(browser.origin(uuid4()))
    assert (foreign.status_code, foreign.text) == (missing.status_code, missing.text)
    assert foreign.status_code == 404


async def test_a_code_is_used_once(codehub: House, ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    opened = await browser.open(browser.origin(garden), follow=False)
    code = await browser.open(opened.headers["location"], follow=False)
    other = codehub.browser()
    other.jar = {host: dict(cookies) for host, cookies in browser.jar.items()}
    assert "codehub-visit" in (await browser.open(code.headers["location"], follow=False)).headers["set-cookie"]
    again = await other.open(code.headers["location"], follow=False)
    assert "set-cookie" not in again.headers
    assert again.headers["location"] == f"{browser.origin(garden)}/"


async def test_a_code_is_worth_nothing_in_another_browser(codehub: House, ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    opened = await browser.open(browser.origin(garden), follow=False)
    code = (await browser.open(opened.headers["location"], follow=False)).headers["location"]
    thief = codehub.browser()
    assert (await thief.open(code, follow=False)).status_code == 403
    await thief.open(thief.origin(garden), follow=False)  # now it has a mark, but another one
    assert "set-cookie" not in (await thief.open(code, follow=False)).headers


async def test_a_code_for_one_workspace_opens_no_other(ada: Person, garden: UUID, kitchen: UUID) -> None:
    browser = await ada.log_in()
    opened = await browser.open(browser.origin(garden), follow=False)
    code = query((await browser.open(opened.headers["location"], follow=False)).headers["location"])["code"]
    browser.jar[f"{kitchen.hex}.localhost"] = browser.jar[f"{garden.hex}.localhost"]
    entered = await browser.open(f"{browser.origin(kitchen)}/.codehub/enter?code={code}&to=/", follow=False)
    assert "set-cookie" not in entered.headers


async def test_a_code_that_comes_too_late_begins_anew(codehub: House, ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    opened = await browser.open(browser.origin(garden), follow=False)
    code = (await browser.open(opened.headers["location"], follow=False)).headers["location"]
    lasts = await codehub.fetchval(
        "SELECT max(extract(epoch FROM expires_at - clock_timestamp())) FROM login_codes WHERE user_id = $1",
        ada.user.id,
    )
    assert 0 < lasts <= 30
    await codehub.fetchval("UPDATE login_codes SET expires_at = clock_timestamp() WHERE user_id = $1", ada.user.id)
    late = await browser.open(code, follow=False)
    assert "set-cookie" not in late.headers
    assert (await browser.open(late.headers["location"])).status_code == 200


async def test_a_visit_is_good_for_one_workspace_alone(ada: Person, garden: UUID, kitchen: UUID) -> None:
    browser = await ada.at(garden)
    browser.jar[f"{kitchen.hex}.localhost"] = browser.jar[f"{garden.hex}.localhost"]
    assert (await browser.fetch(browser.origin(kitchen))).status_code == 401
    browser.jar[urlsplit(browser.home).hostname or ""] = browser.jar[f"{garden.hex}.localhost"]
    assert (await browser.fetch(f"{browser.home}/api/v1/me")).status_code == 401


async def test_nobody_is_led_away_from_here(ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    for wanted in ("//evil.example/", "/\\evil.example", "/%0d%0aSet-Cookie: a=b"):
        answer = await browser.open(f"{browser.origin(garden)}{wanted}", follow=False)
        while answer.is_redirect:
            assert urlsplit(answer.headers["location"]).hostname in {f"{garden.hex}.localhost", "127.0.0.1"}
            answer = await browser.open(answer.headers["location"], follow=False)


async def test_tabs_that_are_opened_together_all_get_in(ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    first = await browser.open(f"{browser.origin(garden)}/a", follow=False)
    second = await browser.open(f"{browser.origin(garden)}/b", follow=False)
    assert (await browser.open(first.headers["location"])).json()["path"] == "/a"
    assert (await browser.open(second.headers["location"])).json()["path"] == "/b"


async def test_a_workspace_is_found_by_its_name_and_by_its_path_on_our_own_origin(ada: Person, garden: UUID) -> None:
    browser = await ada.log_in()
    for way in (
        f"http://garden.localhost:{browser.address[1]}/notes?x=1",
        f"{browser.home}/w/garden/notes?x=1",
        f"{browser.home}/w/{garden}/notes?x=1",
        f"{browser.home}/w/{garden.hex}/notes?x=1",
    ):
        answer = await browser.open(way)
        assert answer.json()["path"] == "/notes?x=1", way
        assert dict(answer.json()["headers"])["Host"] == f"{garden.hex}.localhost:{browser.address[1]}"
    assert (await browser.open(f"{browser.home}/w/nothing/")).status_code == 404
    assert (await browser.fetch(f"http://garden.localhost:{browser.address[1]}/")).status_code == 404
