"""Guessing gets slow, and nobody can lock out somebody else."""

import asyncio
from pathlib import Path

import httpx
import pytest

from codehub.settings import Settings
from tests.web.api.people import PASSWORD, People, User

ATTACKER = "198.51.100.66"
FREE = 3


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    variables = {
        "CODEHUB_DATA_DIR": str(tmp_path),
        "AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT": str(FREE),
        "AUTH_LOGIN_ATTEMPTS_PER_ADDRESS": "6",
    }
    return Settings.load(variables, tmp_path)


pytestmark = pytest.mark.usefixtures("ada")


@pytest.fixture
async def ada(people: People) -> User:
    return await people.user("ada", password=PASSWORD)


async def log_in(client: httpx.AsyncClient, login: str = "ada", password: str = PASSWORD) -> httpx.Response:
    return await client.post("/api/v1/auth/login", json={"login": login, "password": password})


async def guess(people: People, times: int, login: str = "ada", address: str = ATTACKER) -> list[int]:
    client = await people.client(address=address)
    return [(await log_in(client, login, f"guess {number}")).status_code for number in range(times)]


async def fail(
    people: People, times: int, *, login: str = "ada", address: str = ATTACKER, ago: str = "-1 hour"
) -> None:
    """So many failures, the newest so long ago. With one that is still to come, no wait can end while a test runs."""
    await people.pool.execute(
        "INSERT INTO login_attempts (login, address, succeeded, at)"
        " SELECT $1, $2, false, clock_timestamp() - $3::text::interval FROM generate_series(1, $4)",
        login,
        address,
        ago,
        times,
    )


async def test_guesses_beyond_the_free_ones_are_not_looked_at(people: People) -> None:
    await fail(people, FREE - 1)
    assert await guess(people, 3) == [401, 429, 429]
    answer = await log_in(await people.client(address=ATTACKER))
    assert answer.status_code == 429
    assert answer.json()["code"] == "too_many_attempts"
    assert int(answer.headers["retry-after"]) == answer.json()["retry_after_seconds"] > 0


async def test_who_has_waited_may_try_again(people: People) -> None:
    await fail(people, FREE + 1, ago="11 seconds")
    assert (await log_in(await people.client(address=ATTACKER))).status_code == 200


async def test_an_account_that_does_not_exist_is_limited_like_any_other(people: People) -> None:
    await fail(people, FREE - 1, login="nobody")
    assert await guess(people, 2, "nobody") == [401, 429]


async def test_the_owner_gets_in_from_elsewhere_after_a_hundred_guesses(people: People) -> None:
    await fail(people, 100)
    assert await guess(people, 1) == [429]
    assert (await log_in(await people.client(address="203.0.113.9"))).status_code == 200


async def test_the_owner_gets_in_from_the_same_address_with_a_browser_that_did_before(people: People) -> None:
    owner = await people.client(address=ATTACKER)
    await log_in(owner)
    await fail(people, 100)
    assert await guess(people, 1) == [429]
    owner.cookies.delete("codehub")
    assert (await log_in(owner)).status_code == 200


async def test_a_browser_that_was_here_before_has_to_wait_after_its_own_guesses(people: People) -> None:
    browser = await people.client(address=ATTACKER)
    await log_in(browser)
    assert (await log_in(browser, "ada", "wrong")).status_code == 401
    device = await people.pool.fetchval("SELECT address FROM login_attempts WHERE NOT succeeded")
    await fail(people, FREE, address=device)
    assert (await log_in(browser)).status_code == 429


async def test_what_a_browser_remembers_is_good_for_its_own_account_alone(people: People) -> None:
    mallory = await people.user("mallory", password=PASSWORD)
    browser = await people.client(address=ATTACKER)
    await log_in(browser, mallory.login)
    await fail(people, FREE)
    assert (await log_in(browser)).status_code == 429


@pytest.mark.parametrize("value", ["", ".", "x.y", "0" * 32 + "." + "0" * 64, "é.é"])
async def test_a_made_up_device_is_no_device(people: People, value: str) -> None:
    await fail(people, FREE)
    header = {"Cookie": f"codehub-device={value}".encode()}
    client = await people.client(address=ATTACKER, headers=header)
    assert (await log_in(client)).status_code == 429


async def test_a_success_forgives_the_failures_before_it(people: People) -> None:
    await guess(people, FREE - 1)
    await log_in(await people.client(address=ATTACKER))
    assert await guess(people, FREE) == [401] * FREE


async def test_one_address_on_many_accounts_has_to_wait(people: People) -> None:
    for name in "abcde":
        await fail(people, 1, login=name)
    assert [await guess(people, 1, name) for name in "fgh"] == [[401], [429], [429]]


async def test_a_login_of_ones_own_forgives_nothing_on_other_accounts(people: People) -> None:
    for name in "abcde":
        await fail(people, 1, login=name)
    assert (await log_in(await people.client(address=ATTACKER))).status_code == 200
    assert [await guess(people, 1, name) for name in "fgh"] == [[401], [429], [429]]


async def test_neighbours_in_one_ipv6_network_are_one(people: People) -> None:
    await fail(people, FREE - 1, address="2001:db8::/64")
    assert await guess(people, 1, address="2001:db8::1") == [401]
    assert await guess(people, 1, address="2001:db8::2") == [429]
    assert await guess(people, 1, address="2001:db8:0:1::1") == [401]


async def test_guesses_at_the_same_time_know_of_each_other(people: People) -> None:
    await fail(people, FREE - 1)
    client = await people.client(address=ATTACKER)
    answers = await asyncio.gather(*(log_in(client, "ada", f"guess {number}") for number in range(20)))
    assert sorted(answer.status_code for answer in answers) == [401] + [429] * 19


async def test_many_may_log_in_at_once_from_behind_one_address(people: People) -> None:
    crowd = [await people.user(password=PASSWORD) for _ in range(12)]
    answers = await asyncio.gather(*[log_in(await people.client(), user.login) for user in crowd])
    assert {answer.status_code for answer in answers} == {200}


async def test_old_failures_are_forgotten(people: People) -> None:
    await fail(people, FREE, ago="16 minutes")
    assert await guess(people, 1) == [401]
    assert await people.pool.fetchval("SELECT count(*) FROM login_attempts") == 1
