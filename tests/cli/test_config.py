"""`codehub config` tells what is in effect and where it comes from, but no secrets."""

import json

from codehub.settings.load import variables
from tests.cli.command import Command

SECRETS = {
    "DATABASE_URL": "postgresql://user:hunter2@host/name",
    "REDIS_URL": "redis://:hunter2@host/0",
    "ARCHIVE_S3_SECRET_ACCESS_KEY": "hunter2",
}


async def test_every_setting_is_shown_in_eighty_columns(codehub: Command) -> None:
    outcome = await codehub("config", ARCHIVE_URL=f"s3://bucket/{'long/' * 30}")
    assert outcome.code == 0
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert all(variable.name in outcome.stdout for variable in variables())


async def test_each_value_stands_beside_its_source(codehub: Command) -> None:
    (codehub.folder / ".env").write_text("TTL_ARCHIVE_SECONDS=86400\n")
    values = json.loads((await codehub("config", "--json", TTL_STANDBY_SECONDS="10800")).stdout)
    assert values["TTL_STANDBY_SECONDS"] == {"value": 10800, "source": "environment"}
    assert values["TTL_ARCHIVE_SECONDS"] == {"value": 86400, "source": str(codehub.folder / ".env")}
    assert values["LIMITS_MAX_RUNNING_PER_USER"] == {"value": 2, "source": "default"}
    assert values["DATABASE_URL"] == {"value": None, "source": "default"}
    assert set(values) == {variable.name for variable in variables()}


async def test_secrets_are_hidden(codehub: Command) -> None:
    for options in ((), ("--json",)):
        outcome = await codehub("config", *options, COLUMNS="200", **SECRETS)
        assert outcome.code == 0
        assert "hunter2" not in outcome.stdout + outcome.stderr
        assert "user:********@host/name" in outcome.stdout
