"""`codehub restart`: every replica is replaced while people use them, and none of them notices."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import httpx
import pytest
from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from codehub.store.callers import hashed
from codehub.web.callers import TOKEN_PREFIX
from tests.stack.installation import Installation, until

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[2]
SCRAPER = "a-token-for-the-scraper"
COORDINATORS = ("observer", "wc", "events", "ttl", "gc", "templates")
MOST_MEMORY = 400 * 2**20  # one of them uses a third of it after its start


def replicas(codehub: Installation) -> dict[str, int]:
    answering = ("serve", "proxy")
    return {part["name"]: part["pid"] for part in codehub.state()["parts"] if part["name"].startswith(answering)}


def memory(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def made(codehub: Installation) -> tuple[str, UUID]:
    """A token of the administrator, and a workspace of theirs."""

    async def make() -> tuple[str, UUID]:
        token, workspace_id = TOKEN_PREFIX + secrets.token_urlsafe(32), uuid4()
        connection = await asyncpg.connect(codehub.database_url)
        try:
            owner = await connection.fetchval("SELECT id FROM users")
            await connection.execute(
                """INSERT INTO api_tokens (id, user_id, name, secret_hash, hint, scopes)
                   VALUES (gen_random_uuid(), $1, 'test', $2, '', '{read,workspaces,admin}')""",
                owner,
                hashed(token),
            )
            await connection.execute(
                "INSERT INTO workspaces (id, owner_user_id, name, desired_state) VALUES ($1, $2, 'garden', 'STANDBY')",
                workspace_id,
                owner,
            )
        finally:
            await connection.close()
        return token, workspace_id

    return asyncio.run(make())


@contextmanager
def people_at_work(url: str, token: str, workspace_id: UUID) -> Iterator[dict[str, Any]]:
    """Requests and streams in a process of their own; what came of them is there after the block."""
    report: dict[str, Any] = {}
    command = [sys.executable, "-m", "tests.stack.load", url, token, str(workspace_id)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield report
            out, _ = process.communicate(timeout=60)
            report |= json.loads(out)
        finally:
            process.kill()


@pytest.mark.parametrize("count", [1, 2])
def test_every_replica_is_replaced_under_load_and_no_request_or_event_is_lost(
    codehub: Installation, count: int
) -> None:
    codehub.up(CODEHUB_REPLICAS=str(count), PROXY_PROCESSES=str(count))
    before = replicas(codehub)
    assert len(before) == 2 * count
    token, workspace_id = made(codehub)
    with people_at_work(codehub.url, token, workspace_id) as report:
        for _ in range(2):
            restarted = codehub.run("restart")
            assert restarted.returncode == 0, restarted.stderr
        after = replicas(codehub)
        used = {name: memory(pid) for name, pid in after.items()}
    assert before.keys() == after.keys()
    assert not set(before.values()) & set(after.values())
    assert report["failures"] == []
    assert {"GET 200", "POST 200", "PATCH 200"} <= report["answers"].keys()
    for reader in report["readers"]:
        assert reader["connections"] >= 1 + (2 if count == 1 else 0)
        assert reader["begun_without_snapshot"] == 0
        assert reader["description"] == f"version {report['written']}"
    assert max(used.values()) < MOST_MEMORY


def test_a_replica_that_is_killed_comes_back_while_the_others_answer(codehub: Installation) -> None:
    codehub.up(CODEHUB_REPLICAS="2")
    codehub.kill("serve-1")
    ready = httpx.get(f"{codehub.url}/readyz").json()
    assert ready["replicas"] == {"serve-1": True, "serve-2": True, "proxy": True}
    assert codehub.part("serve-1")["restarts"] == 1
    shown = codehub.run("status").stdout
    assert "serve-1" in shown
    assert "serve-2" in shown
    names = {finding["name"] for finding in json.loads(codehub.run("doctor", "--json").stdout)}
    assert {"serve-1", "serve-2"} <= names


def test_whichever_replica_is_asked_tells_the_figures_of_all(codehub: Installation) -> None:
    codehub.up(CODEHUB_REPLICAS="2", METRICS_TOKEN=SCRAPER)
    seen: dict[str, Metric] = {}

    def everything_is_led() -> bool:
        answer = httpx.get(f"{codehub.url}/metrics", headers={"Authorization": f"Bearer {SCRAPER}"})
        seen.update({family.name: family for family in text_string_to_metric_families(answer.text)})
        return sum(sample.value for sample in seen["codehub_coordinator_leads"].samples) == len(COORDINATORS)

    until(everything_is_led, seconds=60)
    leads = seen["codehub_coordinator_leads"].samples
    assert {(sample.labels["coordinator"], sample.labels["replica"]) for sample in leads} == {
        (coordinator, replica) for coordinator in COORDINATORS for replica in ("serve-1", "serve-2")
    }
    for name in COORDINATORS:
        assert sum(sample.value for sample in leads if sample.labels["coordinator"] == name) == 1
    answering = {sample.labels["replica"]: sample.value for sample in seen["codehub_replica_answers"].samples}
    assert answering == {"serve-1": 1, "serve-2": 1, "proxy": 1}
    memories = {sample.labels["replica"]: sample.value for sample in seen["process_resident_memory_bytes"].samples}
    assert memories.keys() == {"serve-1", "serve-2", "proxy"}


def test_a_successor_that_cannot_start_leaves_the_one_before_in_its_place(codehub: Installation) -> None:
    codehub.up()
    before = replicas(codehub)

    async def spoil(version: str) -> str:
        connection = await asyncpg.connect(codehub.database_url)
        try:
            found: str = await connection.fetchval("SELECT version_num FROM alembic_version")
            await connection.execute("UPDATE alembic_version SET version_num = $1", version)
            return found
        finally:
            await connection.close()

    version = asyncio.run(spoil("from_the_future"))
    refused = codehub.run("restart")
    assert refused.returncode == 1
    assert "what ran before goes on" in refused.stderr
    assert "Upgrade this codehub" in refused.stderr
    assert replicas(codehub) == before
    asyncio.run(spoil(version))
    assert codehub.run("restart").returncode == 0
    assert replicas(codehub) != before


def test_without_a_running_codehub_there_is_nothing_to_restart(codehub: Installation) -> None:
    refused = codehub.run("restart")
    assert refused.returncode == 8
    assert "codehub up" in refused.stderr


def test_a_stop_in_the_middle_of_a_restart_ends_all_of_it(codehub: Installation) -> None:
    codehub.up(CODEHUB_REPLICAS="2")
    os.kill(codehub.pid, signal.SIGUSR1)
    until(lambda: len(codehub.state()["parts"]) > 6, seconds=30)
    pids = [part["pid"] for part in codehub.state()["parts"] if part["pid"]]
    codehub.down()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
