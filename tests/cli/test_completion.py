"""The shell completes names of workspaces, templates and contexts, and hears nothing where that fails."""

import pytest

from tests.cli.command import Command, Outcome
from tests.cli.serving import Person

pytestmark = pytest.mark.timeout(120)


async def complete(codehub: Command, words: str, **variables: str) -> Outcome:
    """As bash asks for what follows these words."""
    asked = {"_CODEHUB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    return await codehub(**asked, **variables)


async def test_names_of_workspaces_are_completed(ada: Person) -> None:
    for name in ("garden", "gate", "orchard"):
        await ada.codehub("ws", "create", name, "--no-start")
    outcome = await complete(ada.codehub, "codehub ws start ga")
    assert sorted(outcome.stdout.split()) == ["garden", "gate"]


async def test_numbers_of_archives_and_names_of_what_was_deleted_are_completed(ada: Person) -> None:
    made = (await ada.codehub("ws", "create", "garden", "--no-start", "--json")).json()
    await ada.execute(
        """INSERT INTO archives (id, workspace_id, generation, key, size, checksum, entries, op_id)
           SELECT gen_random_uuid(), $1::uuid, number, $1 || '/' || number, 1, '00', 1, $1::uuid
           FROM unnest(ARRAY[2, 17, 18]) AS number""",
        made["id"],
    )
    assert sorted((await complete(ada.codehub, "codehub ws keep garden 1")).stdout.split()) == ["17", "18"]
    assert (await complete(ada.codehub, "codehub ws restore nothing 1")).stdout.split() == []
    await ada.codehub("ws", "delete", "garden", "--yes")
    assert (await complete(ada.codehub, "codehub ws undelete g")).stdout.split() == ["garden"]


async def test_names_of_templates_are_completed(ada: Person) -> None:
    outcome = await complete(ada.codehub, "codehub ws create garden --template code")
    assert outcome.stdout.split() == ["code-server"]


async def test_names_of_contexts_are_completed(ada: Person) -> None:
    codehub = ada.logged_out
    await codehub("login", ada.server.url, "--token", "--context", "mine", given=f"{ada.token}\n")
    for words in ("codehub ws list --context m", "codehub context use m"):
        assert (await complete(codehub, words)).stdout.split() == ["mine"]


async def test_commands_are_completed(codehub: Command) -> None:
    assert (await complete(codehub, "codehub ws st")).stdout.split() == ["start", "stop", "start-empty", "stats"]


async def test_where_nobody_answers_there_is_silence(codehub: Command, unused_tcp_port: int) -> None:
    variables = {"CODEHUB_SERVER": f"http://127.0.0.1:{unused_tcp_port}", "CODEHUB_TOKEN": "codehub_x"}
    for given in ({}, variables):
        outcome = await complete(codehub, "codehub ws start ga", **given)
        assert (outcome.stdout.strip(), outcome.stderr) == ("", "")
