"""What can carry leadership, and what is refused with a sentence that says why."""

from pathlib import Path

import pytest
from sqlalchemy import make_url

from codehub.errors import ServiceError
from codehub.stack.account import Account
from codehub.store.identity import installation_id
from codehub.store.self_test import LEASE, require_direct_connection
from tests.coordinators.own_service import own_postgres, own_standby
from tests.coordinators.pgbouncer import pgbouncer
from tests.databases import execute


async def test_postgresql_itself_is_accepted(database_url: str) -> None:
    await require_direct_connection(database_url)


async def test_a_standby_is_refused(services_folder: Path, account: Account) -> None:
    async with (
        own_postgres(services_folder, account) as (_, primary_url),
        own_standby(services_folder, account, primary_url) as standby_url,
    ):
        await require_direct_connection(primary_url)
        with pytest.raises(ServiceError, match="standby"):
            await require_direct_connection(standby_url)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ignore_startup_parameters": "idle_session_timeout"},
        {"ignore_startup_parameters": "idle_session_timeout", "server_reset_query_always": "1"},
    ],
    ids=["refuses our settings", "swallows our settings", "swallows our settings and tidies up"],
)
async def test_a_pooler_that_shares_sessions_is_refused(
    database_url: str, services_folder: Path, account: Account, settings: dict[str, str]
) -> None:
    async with pgbouncer(services_folder, account, database_url, pool_mode="transaction", **settings) as url:
        with pytest.raises(ServiceError, match="pooler"):
            await require_direct_connection(url)


async def test_a_pooler_is_known_by_its_sessions_even_if_it_passes_our_settings_on(
    database_url: str, services_folder: Path, account: Account
) -> None:
    name = make_url(database_url).database
    await execute(database_url, f"ALTER DATABASE {name} SET idle_session_timeout = '{LEASE}'")
    settings = {"pool_mode": "transaction", "ignore_startup_parameters": "idle_session_timeout"}
    async with pgbouncer(services_folder, account, database_url, **settings) as url:
        with pytest.raises(ServiceError, match="pooler"):
            await require_direct_connection(url)


async def test_all_replicas_of_an_installation_find_the_same_identity(database_url: str) -> None:
    assert await installation_id(database_url) == await installation_id(database_url)
