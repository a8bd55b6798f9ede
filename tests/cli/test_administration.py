"""`codehub user`, `template` and `admin`: what administrators see to."""

import json

import pytest

from codehub.errors import ExitCode
from tests.cli.serving import Person

pytestmark = pytest.mark.timeout(120)


async def test_the_life_of_an_account(root: Person) -> None:
    login = f"bob-{root.login}"
    made = (await root.codehub("user", "create", login, "--max-running", "1", "--json")).json()
    assert (made["user"]["role"], made["user"]["max_running"]) == ("user", 1)
    bob = root.logged_out
    arguments = ("login", root.server.url, "--password", "--user", login, "--context", "bob")
    assert (await bob(*arguments, given=f"{made['password']}\n")).code == 0

    assert login in (await root.codehub("user", "list", "--search", login)).stdout
    assert "may run     1" in (await root.codehub("user", "show", login)).stdout
    edited = await root.codehub("user", "edit", login, "--max-running", "default", "--json")
    assert edited.json()["max_running"] is None

    assert (await root.codehub("user", "disable", login)).stdout == f"{login} is disabled.\n"
    assert (await bob("whoami", "--context", "bob")).code == ExitCode.NOT_LOGGED_IN
    refused = await bob(*arguments, "--json", given=f"{made['password']}\n")
    assert (refused.code, refused.error()["problem"]["code"]) == (ExitCode.REFUSED, "account_disabled")
    assert (await root.codehub("user", "enable", login)).stdout == f"{login} is enabled.\n"

    reset = (await root.codehub("user", "password", login, "--json")).json()
    assert (await bob(*arguments, given=f"{made['password']}\n")).code == ExitCode.NOT_LOGGED_IN
    assert (await bob(*arguments, given=f"{reset['password']}\n")).code == 0
    chosen = await root.codehub("user", "password", login, "--ask-password", given="four new words here\n")
    assert (chosen.code, chosen.stdout) == (0, f"{login} can log in.\n")

    kept = await root.codehub("user", "delete", login, given="n\n")
    assert kept.code == ExitCode.FAILED
    assert (await root.codehub("user", "delete", login, "--yes")).stdout == f"{login} is removed.\n"
    assert (await root.codehub("user", "show", login)).code == ExitCode.NOT_FOUND


async def test_an_account_is_found_by_its_id_and_near_ones_are_told(root: Person, ada: Person) -> None:
    found = (await root.codehub("user", "show", ada.login, "--json")).json()
    assert (await root.codehub("user", "show", found["id"], "--json")).json()["login"] == ada.login
    near = await root.codehub("user", "show", ada.login[:-1])
    assert near.stderr == f"codehub: There is no account '{ada.login[:-1]}'. Did you mean {ada.login}?\n"


async def test_what_cannot_be_done_to_accounts_is_told(root: Person, ada: Person) -> None:
    taken = await root.codehub("user", "create", ada.login, "--json")
    assert (taken.code, taken.error()["problem"]["code"]) == (ExitCode.REFUSED, "login_taken")
    await ada.codehub("ws", "create", "garden", "--no-start")
    owner = await root.codehub("user", "delete", ada.login, "--yes", "--json")
    assert (owner.code, owner.error()["problem"]["code"]) == (ExitCode.REFUSED, "workspaces_remain")
    assert (await root.codehub("user", "edit", ada.login)).code == ExitCode.USAGE
    assert (await root.codehub("user", "edit", ada.login, "--max-running", "many")).code == ExitCode.USAGE


@pytest.mark.parametrize(
    "command", ["user list", "template list", "admin limits", "admin coordinators", "admin audit", "gc", "gc status"]
)
async def test_nobody_else_may(ada: Person, command: str) -> None:
    outcome = await ada.codehub(*command.split(), "--json")
    assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.REFUSED, "scope_missing")


async def test_the_life_of_a_template(root: Person, ada: Person) -> None:
    name = f"python-{root.login}"
    made = await root.codehub(
        *("template", "create", name, "--image", "registry.example.org/python:3", "--port", "80", "--json"),
        *("--memory", "1g", "--cpus", "2", "--env", "TZ=UTC", "--standby-after", "1h"),
    )
    assert made.json()["resources"] == {"memory_bytes": 2**30, "cpus": 2.0}
    assert name in (await ada.codehub("ws", "templates")).stdout
    edited = await root.codehub("template", "edit", name, "--cpus", "1", "--env", "LANG=C", "--json")
    assert edited.json()["resources"] == {"memory_bytes": 2**30, "cpus": 1.0}
    assert edited.json()["environment"] == {"TZ": "UTC", "LANG": "C"}
    assert "registry.example.org/python:3" in (await root.codehub("template", "list")).stdout
    assert (await root.codehub("template", "edit", name, "--env", "TZ")).code == ExitCode.USAGE
    assert (await root.codehub("template", "delete", name, "--yes")).stdout == f"{name} is deleted.\n"
    gone = await root.codehub("template", "delete", name, "--yes")
    assert gone.code == ExitCode.NOT_FOUND
    assert "code-server" in gone.stderr.partition("There is: ")[2]
    built_in = await root.codehub("template", "delete", "code-server", "--yes", "--json")
    assert (built_in.code, built_in.error()["problem"]["code"]) == (ExitCode.REFUSED, "built_in")


async def test_the_installation_is_shown(root: Person) -> None:
    limits = (await root.codehub("admin", "limits", "--json")).json()
    assert limits["max_running_per_user"] == 2
    assert f"of {limits['max_running_global']}" in (await root.codehub("admin", "limits")).stdout
    leaders = (await root.codehub("admin", "coordinators", "--json")).json()["items"]
    assert any(each["held"] for each in leaders)
    assert leaders[0]["name"] in (await root.codehub("admin", "coordinators")).stdout


async def test_who_did_what_is_told(root: Person, ada: Person) -> None:
    await root.codehub("user", "disable", ada.login)
    arguments = ("admin", "audit", "--actor", root.login, "--action", "user")
    (entry,) = (await root.codehub(*arguments, "--json")).json()["items"]
    assert (entry["action"], entry["subject"]) == ("user.disable", ada.login)
    assert json.dumps(entry["detail"]) in (await root.codehub(*arguments)).stdout
    await root.codehub("user", "enable", ada.login)
    newest = (await root.codehub(*arguments, "--limit", "1", "--json")).json()
    assert [each["action"] for each in newest["items"]] == ["user.enable"]
    assert newest["next"] is not None
    assert (await root.codehub(*arguments, "--limit", "1")).stdout.endswith("There are older ones: --limit\n")


async def test_the_collector_is_asked_for_a_round_and_tells_what_it_would_do(root: Person) -> None:
    preview = await root.codehub("gc", "--dry-run", "--json")
    assert set(preview.json()) == {"seen", "take", "wait", "kept", "due", "halted"}
    assert "would go now" in (await root.codehub("gc", "--dry-run")).stdout
    made = (await root.codehub("gc", "--json")).json()
    assert made["asked_by"] == root.login
    assert made["ended_at"] is not None
    assert "nothing deleted" in (await root.codehub("gc")).stdout
    assert "last round" in (await root.codehub("gc", "status")).stdout
    assert root.login in (await root.codehub("gc", "rounds")).stdout
    refused = await root.codehub("gc", "confirm")
    assert (refused.code, refused.stderr) == (ExitCode.REFUSED, "codehub: The collector asks about nothing.\n")


async def test_a_halted_round_is_confirmed_after_it_was_looked_at(root: Person) -> None:
    await root.execute(
        "INSERT INTO gc_rounds (began_at, ended_at, due, halted)"
        " VALUES (clock_timestamp(), clock_timestamp(), 4, 'much would be deleted')"
    )
    assert "much would be deleted" in (await root.codehub("gc", "status")).stdout
    assert (await root.codehub("gc", "confirm", given="n\n")).code == ExitCode.FAILED
    assert "nothing deleted" in (await root.codehub("gc", "confirm", given="y\n")).stdout
    assert "much would be deleted" not in (await root.codehub("gc", "status")).stdout
