"""`codehub ws`: what people make, look at and change, and how they say which one they mean."""

import pytest

from codehub.errors import ExitCode
from tests.cli.command import Outcome
from tests.cli.serving import Person

pytestmark = pytest.mark.timeout(120)


async def make(somebody: Person, name: str, *options: str) -> dict[str, str]:
    """A workspace that takes nobody's place among the running ones."""
    made: dict[str, str] = (await somebody.codehub("ws", "create", name, "--no-start", "--json", *options)).json()
    return made


async def names(somebody: Person, *options: str) -> list[str]:
    return [each["name"] for each in (await somebody.codehub("ws", "list", "--json", *options)).json()["items"]]


async def test_a_workspace_is_made_as_it_is_described(ada: Person) -> None:
    made = (
        await ada.codehub(
            *("ws", "create", "garden", "--description", "The shop", "--memo", "-", "--no-start", "--json"),
            *("--git", "https://git.example.org/shop/garden.git", "--memory", "1g", "--cpus", "0.5", "--pids", "100"),
            *("--disk", "1.5g", "--standby-after", "2h", "--archive-after", "3d"),
            given="first\nsecond\n",
        )
    ).json()
    assert (made["name"], made["description"], made["memo"]) == ("garden", "The shop", "first\nsecond\n")
    assert made["git_url"] == "https://git.example.org/shop/garden.git"
    assert made["resources"] == {"memory_bytes": 2**30, "cpus": 0.5, "pids": 100, "disk_bytes": 3 * 2**29}
    assert (made["standby_after_seconds"], made["archive_after_seconds"]) == (7200, 259200)
    assert made["desired_state"] == "STANDBY"


async def test_the_first_command_of_a_new_user_says_how_to_go_on(ada: Person) -> None:
    outcome = await ada.codehub("ws", "list")
    assert outcome.stdout == "There are no workspaces yet. Make one with: codehub ws create NAME\n"
    nothing = await ada.codehub("ws", "show", "garden")
    assert nothing.code == ExitCode.NOT_FOUND
    assert "There is none yet; make one with: codehub ws create NAME" in nothing.stderr


async def test_a_list_tells_all_and_is_narrowed_by_phase_and_search(ada: Person) -> None:
    for name in ("garden", "orchard"):
        await make(ada, name)
    assert await names(ada) == ["orchard", "garden"]
    assert await names(ada, "--search", "gard") == ["garden"]
    assert await names(ada, "--phase", "running", "--phase", "error") == []
    told = (await ada.codehub("ws", "list")).stdout
    assert "NAME" in told.splitlines()[0]
    assert "garden" in told
    assert (await ada.codehub("ws", "list", "--search", "desert")).stdout == "There is none like that.\n"


async def test_one_is_meant_by_name_by_id_and_by_the_beginning_of_its_id(ada: Person) -> None:
    made = await make(ada, "garden")
    for which in ("garden", made["id"], made["id"].replace("-", ""), made["id"][:6], made["id"][:13].upper()):
        assert (await ada.codehub("ws", "show", which, "--json")).json()["id"] == made["id"]


async def test_a_name_that_is_not_there_is_answered_with_those_that_are_near(ada: Person) -> None:
    for name in ("garden", "api-one", "api-two"):
        await make(ada, name)
    for which, sentence in {
        "gardne": "There is no workspace 'gardne'. Did you mean garden?",
        "api": "There is no workspace 'api'. Did you mean api-two or api-one?",
        "desert": "There is no workspace 'desert'. See: codehub ws list",
    }.items():
        outcome = await ada.codehub("ws", "stop", which)
        assert (outcome.code, outcome.stderr) == (ExitCode.NOT_FOUND, f"codehub: {sentence}\n")


async def test_an_administrator_who_means_several_is_told_all_of_them(ada: Person, root: Person, eve: Person) -> None:
    name = f"api-{ada.login}"
    theirs = [await make(each, name) for each in (ada, eve)]
    outcome = await root.codehub("ws", "show", name)
    assert outcome.code == ExitCode.REFUSED
    assert f"2 workspaces match '{name}': " in outcome.stderr
    for login, each in zip((ada.login, eve.login), theirs, strict=True):
        assert f"{login}/{name} ({each['id'][:8]})" in outcome.stderr
    found = await root.codehub("ws", "show", f"{ada.login}/{name}", "--json")
    assert found.json()["id"] == theirs[0]["id"]
    assert name in await names(root, "--all", "--search", name)


async def test_what_belongs_to_others_is_not_there(ada: Person, eve: Person) -> None:
    made = await make(ada, "garden")
    outcome = await eve.codehub("ws", "delete", made["id"], "--yes", "--json")
    assert outcome.code == ExitCode.NOT_FOUND
    assert outcome.error()["problem"]["code"] == "not_found"
    assert await names(ada) == ["garden"]


async def test_words_and_idle_times_are_changed(ada: Person) -> None:
    await make(ada, "garden")
    changed = await ada.codehub(
        *("ws", "edit", "garden", "--name", "orchard", "--description", "Apples", "--standby-after", "never", "--json")
    )
    assert (changed.json()["name"], changed.json()["description"]) == ("orchard", "Apples")
    assert changed.json()["standby_after_seconds"] == 0
    back = await ada.codehub("ws", "edit", "orchard", "--standby-after", "default", "--json")
    assert back.json()["standby_after_seconds"] is None
    assert (await ada.codehub("ws", "edit", "orchard")).code == ExitCode.USAGE


async def test_it_is_shown_with_its_explanation_and_its_history(ada: Person) -> None:
    made = await make(ada, "garden", "--description", "The shop")
    told = (await ada.codehub("ws", "show", "garden")).stdout
    shown = (await ada.codehub("ws", "show", "garden", "--json")).json()
    assert told.startswith("garden: ")
    assert "description  The shop" in told
    assert "created    STANDBY  (owner, " in told
    assert (shown["id"], shown["owner"]["login"]) == (made["id"], ada.login)
    assert shown["explanation"]["summary"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("create", "a/b"), ExitCode.REFUSED, "name: String should match pattern"),
        (
            ("create", "x", "--template", "emacs"),
            ExitCode.REFUSED,
            "There is no template 'emacs'. There is: ",
        ),
        (("create", "x", "--memory", "3g"), ExitCode.REFUSED, "memory_bytes is at most"),
        (("create", "x", "--memory", "much"), ExitCode.USAGE, "'much' is no size"),
        (("create", "x", "--standby-after", "soon"), ExitCode.USAGE, "'soon' is no time"),
        (("list", "--phase", "tired"), ExitCode.REFUSED, "phase.0: Input should be"),
        (("list", "--all"), ExitCode.REFUSED, "Only an administrator may do this. If you administer this codehub"),
    ],
)
async def test_what_cannot_be_done_is_told(
    ada: Person, arguments: tuple[str, ...], code: ExitCode, sentence: str
) -> None:
    outcome = await ada.codehub("ws", *arguments)
    assert outcome.code == code
    assert sentence in plain(outcome)


async def test_a_name_is_given_once(ada: Person) -> None:
    await make(ada, "garden")
    again = await ada.codehub("ws", "create", "garden", "--json")
    assert again.code == ExitCode.REFUSED
    assert again.stdout == ""
    assert again.error()["problem"]["code"] == "name_taken"


async def test_a_workspace_says_where_it_is_opened(ada: Person) -> None:
    await make(ada, "garden")
    garden = (await ada.codehub("ws", "show", "garden", "--json")).json()
    opened = await ada.codehub("ws", "open", "garden", "--print")
    assert opened.stdout.strip() == garden["url"]
    assert garden["url"].startswith(f"http://{garden['id'].replace('-', '')}.localhost:")


async def test_what_workspaces_can_be_made_from_is_listed(ada: Person) -> None:
    listed = (await ada.codehub("ws", "templates", "--json")).json()["items"]
    assert {each["name"]: each["status"] for each in listed}["code-server"] == "ready"
    assert "VS Code in the browser" in (await ada.codehub("ws", "templates")).stdout


async def test_a_deletion_is_asked_for_twice(ada: Person) -> None:
    await make(ada, "garden")
    refused = await ada.codehub("ws", "delete", "garden", given="n\n")
    assert (refused.code, await names(ada)) == (ExitCode.FAILED, ["garden"])
    assert "This cannot be undone. [y/N]" in refused.stderr
    deleted = await ada.codehub("ws", "delete", "garden", "--json", given="y\n")
    assert deleted.json()["undo_until"] is None
    assert await names(ada) == []


async def test_what_happened_is_told_from_the_beginning(ada: Person) -> None:
    await make(ada, "garden")
    await ada.codehub("ws", "start", "garden")
    told = (await ada.codehub("ws", "events", "garden")).stdout.splitlines()
    assert "created" in told[0]
    assert any("wish       STANDBY -> RUNNING" in line for line in told)
    page = (await ada.codehub("ws", "events", "garden", "--json")).json()
    assert page["items"][-1]["kind"] == "created"
    assert page["next"] is None


async def test_without_a_container_there_is_nothing_to_tell_of_one(ada: Person) -> None:
    await make(ada, "garden")
    for command in ("logs", "stats"):
        outcome = await ada.codehub("ws", command, "garden", "--json")
        assert (outcome.code, outcome.error()["problem"]["code"]) == (ExitCode.REFUSED, "not_running")


def plain(outcome: Outcome) -> str:
    """Without the frame that is drawn around mistakes in the command itself."""
    return " ".join(outcome.stderr.replace("│", " ").split())
