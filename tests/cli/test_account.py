"""`codehub token`, `session` and `password`: a person's own account, proven by the password each time."""

import pytest

from codehub.errors import ExitCode
from tests.cli.serving import Person
from tests.web.api.people import PASSWORD

pytestmark = pytest.mark.timeout(120)

GIVEN = f"{PASSWORD}\n"


async def test_a_token_is_made_used_listed_and_revoked(ada: Person) -> None:
    made = (
        await ada.codehub("token", "create", "ci", "--scope", "read", "--lasts", "2h", "--json", given=GIVEN)
    ).json()
    assert (made["scopes"], made["token"][:8]) == (["read"], "codehub_")
    told = (await ada.codehub("token", "list", given=GIVEN)).stdout
    assert "ci" in told
    assert made["token"] not in told
    refused = await ada.codehub("ws", "create", "garden", "--json", CODEHUB_TOKEN=made["token"])
    assert (refused.code, refused.error()["problem"]["code"]) == (ExitCode.REFUSED, "scope_missing")
    assert (await ada.codehub("token", "revoke", "ci", given=GIVEN)).stdout == "ci is revoked.\n"
    assert (await ada.codehub("ws", "list", CODEHUB_TOKEN=made["token"])).code == ExitCode.NOT_LOGGED_IN
    again = await ada.codehub("token", "revoke", "ci", given=GIVEN)
    assert again.code == ExitCode.NOT_FOUND
    assert "There is no token 'ci'. See: codehub token list" in again.stderr


async def test_a_wrong_password_gets_nothing(ada: Person) -> None:
    for command in (("token", "list"), ("session", "list"), ("password",)):
        outcome = await ada.codehub(*command, "--json", given="guess\nfour new words here\n")
        assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.NOT_LOGGED_IN, "wrong_credentials")


async def test_browsers_are_listed_and_logged_out(ada: Person) -> None:
    await ada.open_session()
    await ada.open_session()
    listed = (await ada.codehub("session", "list", "--json", given=GIVEN)).json()["items"]
    assert len(listed) == 2
    one = await ada.codehub("session", "revoke", listed[0]["id"][:8], given=GIVEN)
    assert (one.code, one.stdout) == (0, "Logged out: 1.\n")
    told = (await ada.codehub("session", "list", given=GIVEN)).stdout
    assert listed[1]["id"][:8] in told
    assert (await ada.codehub("session", "revoke", given=GIVEN)).code == ExitCode.USAGE
    assert (await ada.codehub("session", "revoke", "--all", given=GIVEN)).code == 0
    assert (await ada.codehub("session", "list", given=GIVEN)).stdout == "You are logged in nowhere else.\n"


async def test_a_password_is_changed_and_programs_go_on(ada: Person) -> None:
    await ada.open_session()
    weak = await ada.codehub("password", "--json", given=f"{PASSWORD}\nshort\n")
    assert (weak.code, weak.error()["problem"]["code"]) == (ExitCode.REFUSED, "weak_password")
    changed = await ada.codehub("password", given=f"{PASSWORD}\nfour new words here\n")
    assert (changed.code, changed.stdout) == (
        0,
        "Your password is changed. Browsers logged out: 1; tokens revoked: 0.\n",
    )
    assert (await ada.codehub("whoami")).code == 0
    assert (await ada.codehub("token", "list", given=GIVEN)).code == ExitCode.NOT_LOGGED_IN
    assert (await ada.codehub("token", "list", given="four new words here\n")).code == 0


async def test_a_password_can_take_the_tokens_with_it(ada: Person) -> None:
    given = f"{PASSWORD}\nfour new words here\n"
    assert (await ada.codehub("password", "--revoke-tokens", "--json", given=given)).json()["tokens_revoked"] == 1
    assert (await ada.codehub("whoami")).code == ExitCode.NOT_LOGGED_IN
