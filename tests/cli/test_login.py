"""Logging in by browser, password and token; several servers; and a file that nobody else reads."""

import json
import stat
import sys
from pathlib import Path

import pytest

from codehub.errors import ExitCode
from tests.cli.command import Command
from tests.cli.serving import Person
from tests.web.api.people import PASSWORD

pytestmark = pytest.mark.timeout(120)

BROWSER = Path(__file__).with_name("browser.py")


def contexts(codehub: Command) -> Path:
    return codehub.folder / ".config" / "codehub" / "contexts.json"


async def log_in(somebody: Person, *options: str) -> Command:
    """At a machine that knows of no server yet."""
    codehub = somebody.logged_out
    outcome = await codehub(
        *("login", somebody.server.url, "--password", "--user", somebody.login, *options), given=f"{PASSWORD}\n"
    )
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout == f"You are logged in to {somebody.server.url} as {somebody.login}.\n"
    return codehub


async def test_without_a_login_commands_say_how_to_log_in(codehub: Command) -> None:
    outcome = await codehub("ws", "list")
    assert outcome.code == ExitCode.NOT_LOGGED_IN
    assert outcome.stderr == "codehub: You are not logged in to any codehub. Log in with: codehub login\n"
    assert (await codehub("context", "list")).stdout.startswith("You are not logged in to any codehub.")


async def test_a_password_becomes_a_token_that_only_its_owner_can_read(ada: Person) -> None:
    codehub = await log_in(ada)
    me = (await codehub("whoami", "--json")).json()["me"]
    assert (me["login"], me["proof"], me["scopes"]) == (ada.login, "token", ["hold", "read", "workspaces"])
    assert me["expires_at"] is not None
    assert stat.S_IMODE(contexts(codehub).stat().st_mode) == 0o600
    assert stat.S_IMODE(contexts(codehub).parent.stat().st_mode) == 0o700
    assert PASSWORD not in contexts(codehub).read_text()
    assert [each.name for each in contexts(codehub).parent.iterdir()] == ["contexts.json"]


async def test_the_session_of_a_login_ends_with_it(ada: Person) -> None:
    codehub = await log_in(ada)
    listed = await codehub("session", "list", given=f"{PASSWORD}\n")
    assert (listed.code, listed.stdout) == (0, "You are logged in nowhere else.\n")


async def test_a_wrong_password_is_told_and_nothing_is_kept(ada: Person) -> None:
    codehub = ada.logged_out
    outcome = await codehub("login", ada.server.url, "--password", "--user", ada.login, given="guess\n")
    assert outcome.code == ExitCode.NOT_LOGGED_IN
    assert outcome.stderr == "codehub: The login or the password is wrong.\n"
    assert not contexts(codehub).exists()


async def test_a_token_is_read_from_the_standard_input(ada: Person) -> None:
    codehub = ada.logged_out
    assert (await codehub("login", ada.server.url, "--token", given=f"{ada.token}\n")).code == 0
    assert (await codehub("ws", "list")).code == 0
    nothing = await codehub("login", ada.server.url, "--token")
    assert nothing.code == ExitCode.USAGE
    wrong = await codehub("login", ada.server.url, "--token", given="codehub_wrong\n")
    assert wrong.code == ExitCode.NOT_LOGGED_IN
    assert (await codehub("ws", "list")).code == 0


async def test_two_ways_at_once_are_a_mistake(codehub: Command) -> None:
    assert (await codehub("login", "--token", "--password")).code == ExitCode.USAGE


async def test_only_a_login_for_it_administers(root: Person) -> None:
    codehub = await log_in(root)
    refused = await codehub("user", "list", "--json")
    assert (refused.code, refused.error()["problem"]["code"]) == (ExitCode.REFUSED, "scope_missing")
    assert "codehub login --admin" in refused.error()["remedy"]
    codehub = await log_in(root, "--admin")
    assert (await codehub("user", "list")).code == 0


async def test_a_browser_approves_and_the_command_gets_its_token(ada: Person) -> None:
    outcome = await ada.logged_out("login", ada.server.url, **browser(ada, "approve"))
    assert outcome.code == 0, outcome.stderr
    assert outcome.stdout == f"You are logged in to {ada.server.url} as {ada.login}.\n"
    assert "compare this code there: " in outcome.stderr
    me = (await ada.logged_out("whoami", "--json")).json()["me"]
    assert me["scopes"] == ["hold", "read", "workspaces"]


async def test_a_login_that_the_browser_refuses_is_refused(ada: Person) -> None:
    outcome = await ada.logged_out("login", ada.server.url, **browser(ada, "refuse"))
    assert outcome.code == ExitCode.REFUSED
    assert outcome.stderr.endswith("codehub: The login was refused in the browser.\n")


def browser(somebody: Person, answer: str) -> dict[str, str]:
    """A program that does what a person does with the page, and first what a page of a stranger could try."""
    return {
        "BROWSER": f"{sys.executable} {BROWSER} %s",
        "BROWSER_LOGIN": somebody.login,
        "BROWSER_PASSWORD": PASSWORD,
        "BROWSER_ANSWER": answer,
    }


async def test_logging_out_revokes_the_token_and_forgets_it(ada: Person) -> None:
    codehub = await log_in(ada)
    token = json.loads(contexts(codehub).read_text())["contexts"].popitem()[1]["token"]
    assert (await codehub("logout", "--json")).json()["revoked"] is True
    assert (await codehub("whoami")).code == ExitCode.NOT_LOGGED_IN
    assert token not in contexts(codehub).read_text()
    assert (await ada.codehub("whoami", CODEHUB_TOKEN=token)).code == ExitCode.NOT_LOGGED_IN


async def test_a_login_in_the_place_of_another_revokes_that(ada: Person) -> None:
    codehub = await log_in(ada)
    first = json.loads(contexts(codehub).read_text())["contexts"].popitem()[1]["token"]
    await log_in(ada)
    assert (await ada.codehub("whoami", CODEHUB_TOKEN=first)).code == ExitCode.NOT_LOGGED_IN
    assert (await codehub("whoami")).code == 0


async def test_there_can_be_several_servers(ada: Person, root: Person) -> None:
    codehub = await log_in(ada, "--context", "mine")
    await log_in(root, "--context", "theirs")
    listed = (await codehub("context", "list", "--json")).json()["items"]
    assert {each["name"]: (each["login"], each["current"]) for each in listed} == {
        "mine": (ada.login, False),
        "theirs": (root.login, True),
    }
    assert "token" not in (await codehub("context", "list", "--json")).stdout
    assert (await codehub("whoami", "--context", "mine", "--json")).json()["me"]["login"] == ada.login
    assert (await codehub("context", "use", "mine")).code == 0
    assert (await codehub("whoami", "--json")).json()["context"] == "mine"
    assert (await codehub("context", "remove", "mine")).code == 0
    assert (await codehub("ws", "list")).code == ExitCode.NOT_LOGGED_IN
    unknown = await codehub("ws", "list", "--context", "mine")
    assert unknown.stderr == "codehub: There is no context 'mine'. There is: theirs.\n"


async def test_the_environment_stands_above_the_file(ada: Person, root: Person) -> None:
    codehub = await log_in(ada, "--context", "mine")
    variables = {"CODEHUB_SERVER": root.server.url, "CODEHUB_TOKEN": root.token}
    assert (await codehub("whoami", "--json", **variables)).json()["me"]["login"] == root.login
    assert (await codehub("whoami", "--context", "mine", "--json", **variables)).json()["me"]["login"] == ada.login
    by_address = await codehub("whoami", "--json", CODEHUB_SERVER=ada.server.url)
    assert by_address.json()["me"]["login"] == ada.login
    unknown = await codehub("whoami", CODEHUB_SERVER="https://codehub.example.org")
    assert unknown.code == ExitCode.NOT_LOGGED_IN


async def test_a_damaged_file_is_told(codehub: Command) -> None:
    contexts(codehub).parent.mkdir(parents=True)
    contexts(codehub).write_text("{")
    outcome = await codehub("ws", "list")
    assert outcome.code == ExitCode.CONFIGURATION
    assert "contexts.json is damaged. Remove it, and log in again" in outcome.stderr
