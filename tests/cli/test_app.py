"""What every command has in common: quick help, one sentence for a failure, exit codes that the documents list."""

import re
import subprocess
import sys
from pathlib import Path

from codehub.cli.app import PANELS, app
from codehub.errors import ExitCode
from tests.cli.command import Command

DOCUMENT = Path(__file__).parents[2] / "docs" / "commands.md"


async def test_help_lists_the_commands(codehub: Command) -> None:
    outcome = await codehub("--help")
    assert outcome.code == 0
    for names in PANELS.values():
        for name in names:
            assert re.search(rf"^│ {name} ", outcome.stdout, re.MULTILINE)


def test_help_groups_every_command() -> None:
    registered = {each.name for each in app.registered_commands}
    registered |= {each.typer_instance.info.name for each in app.registered_groups if each.typer_instance}
    assert {name for names in PANELS.values() for name in names} == registered


async def test_the_version_is_told(codehub: Command) -> None:
    outcome = await codehub("--version")
    assert re.fullmatch(r"codehub \d+\.\d+\.\d+\n", outcome.stdout)


def test_help_loads_nothing_that_only_commands_need() -> None:
    heavy = {"alembic", "asyncpg", "fastapi", "httpx", "pydantic", "redis", "sqlalchemy", "structlog", "uvicorn"}
    script = f"import sys, codehub.cli.app; print(*({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


async def test_a_failure_is_one_sentence_and_a_code(codehub: Command) -> None:
    outcome = await codehub("config", TTL_STANDBY_SECONDS="soon")
    assert outcome.code == ExitCode.CONFIGURATION
    assert outcome.stdout == ""
    assert outcome.stderr == (
        'codehub: TTL_STANDBY_SECONDS is "soon" (from environment), which cannot be used. '
        "Allowed is a whole number of seconds, at least 1.\n"
    )


async def test_a_program_that_asked_for_json_gets_its_failures_in_that(codehub: Command) -> None:
    outcome = await codehub("config", "--json", TTL_STANDBY_SECONDS="soon")
    assert outcome.stdout == ""
    assert outcome.error() == {
        "error": 'TTL_STANDBY_SECONDS is "soon" (from environment), which cannot be used.',
        "remedy": "Allowed is a whole number of seconds, at least 1.",
        "exit_code": ExitCode.CONFIGURATION,
        "problem": None,
    }


async def test_a_developer_gets_the_traceback_too(codehub: Command) -> None:
    outcome = await codehub("config", TTL_STANDBY_SECONDS="soon", CODEHUB_LOG_LEVEL="debug")
    assert outcome.code == ExitCode.CONFIGURATION
    assert outcome.stderr.startswith("Traceback")


async def test_an_unknown_command_is_a_usage_error(codehub: Command) -> None:
    assert (await codehub("dance")).code == ExitCode.USAGE


def test_the_document_lists_every_exit_code() -> None:
    listed = re.findall(r"^\| (\d+) \|", DOCUMENT.read_text(), re.MULTILINE)
    assert listed == [*(str(int(code)) for code in ExitCode), "130"]
