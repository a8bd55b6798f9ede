"""Each bad situation: one sentence that says what to do, an exit code of its own, and nothing damaged."""

import json
import os
import shutil
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import make_url

from codehub.errors import ExitCode
from tests.databases import create_database, drop_database, execute
from tests.old_redis import PASSWORD
from tests.stack.installation import Installation

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def refused(codehub: Installation, code: ExitCode, *words: str, **environment: str) -> None:
    """`codehub up` says one line with these words and exits with the code, in the foreground and in the background."""
    for arguments in (["up"], ["up", "--detach"]):
        answer = codehub.run(*arguments, **environment)
        assert answer.returncode == code, answer
        assert answer.stderr.startswith("codehub: ")
        assert answer.stderr.count("\n") == 1, answer.stderr
        for word in words:
            assert word in answer.stderr
    assert codehub.run("status", **environment).returncode == ExitCode.NOT_RUNNING


def contents(folder: Path) -> dict[Path, tuple[float, int]]:
    """What would tell a change of any file below the folder; logs grow whatever happens."""
    files = (path for path in folder.rglob("*") if path.is_file() and "logs" not in path.parts)
    return {path: (path.stat().st_mtime, path.stat().st_size) for path in files}


def test_a_taken_port(codehub: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        refused(codehub, ExitCode.PORT_TAKEN, address, "--listen", CODEHUB_LISTEN=address)
    assert not (codehub.data / "postgres").exists()


def test_a_data_folder_of_a_newer_version(codehub: Installation) -> None:
    codehub.data.mkdir()
    (codehub.data / "version").write_text("2\n")
    before = contents(codehub.data)
    refused(codehub, ExitCode.DATA_FOLDER, "newer codehub", str(codehub.data))
    assert contents(codehub.data) == before


def test_a_folder_that_is_not_ours(codehub: Installation) -> None:
    codehub.data.mkdir(mode=0o755)
    (codehub.data / "thesis.txt").write_text("mine")
    refused(codehub, ExitCode.DATA_FOLDER, "holds no data of codehub", "CODEHUB_DATA_DIR")
    assert [path.name for path in codehub.data.iterdir()] == ["thesis.txt"]
    assert codehub.data.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_cannot_be_written(ordinary_codehub: Installation) -> None:
    closed = ordinary_codehub.folder / "closed"
    closed.mkdir(mode=0o555)
    refused(ordinary_codehub, ExitCode.DATA_FOLDER, "cannot be written", CODEHUB_DATA_DIR=str(closed / "data"))


@root_only
def test_a_private_folder_that_the_services_cannot_enter(codehub: Installation) -> None:
    private = codehub.folder / "private"
    private.mkdir(mode=0o700)
    refused(codehub, ExitCode.DATA_FOLDER, f"cannot enter {private}", CODEHUB_DATA_DIR=str(private / "data"))
    assert private.stat().st_mode & 0o777 == 0o700


@root_only
def test_a_folder_of_another_user(used_codehub: Installation) -> None:
    os.chown(used_codehub.data, 12345, -1)
    refused(used_codehub, ExitCode.DATA_FOLDER, "belongs to another user (uid 12345)")


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m,mode=711", "none", str(place)], check=False)
    if mounted.returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@root_only
def test_a_disk_that_is_nearly_full(codehub: Installation) -> None:
    disk = codehub.folder / "disk"
    with small_disk(disk):
        refused(codehub, ExitCode.DISK_FULL, "MB free", "200 MB", CODEHUB_DATA_DIR=str(disk / "data"))
        assert not (disk / "data/postgres").exists()


def test_a_database_folder_that_lost_its_version(used_codehub: Installation) -> None:
    data = used_codehub.data / "postgres/data"
    (data / "PG_VERSION").unlink()
    before = contents(data)
    refused(used_codehub, ExitCode.DATA_FOLDER, "damaged", "PG_VERSION", "backup")
    assert contents(data) == before


def test_a_database_folder_of_another_postgresql(used_codehub: Installation) -> None:
    (used_codehub.data / "postgres/data/PG_VERSION").write_text("17\n")
    refused(used_codehub, ExitCode.DATA_FOLDER, "PostgreSQL 17", "brings 18")


def test_a_database_that_ends_at_once(used_codehub: Installation) -> None:
    """Its own last words are passed on, and where to read more."""
    (used_codehub.data / "postgres/data/global/pg_control").write_bytes(bytes(8192))
    refused(used_codehub, ExitCode.SERVICE, "incompatible with server", str(used_codehub.data / "logs/postgres.log"))


def test_lost_credentials(used_codehub: Installation) -> None:
    (used_codehub.data / "credentials.json").unlink()
    refused(used_codehub, ExitCode.DATA_FOLDER, "credentials.json is missing", "backup")


def test_credentials_of_another_installation(used_codehub: Installation) -> None:
    file = used_codehub.data / "credentials.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"postgres": "another"}))
    refused(used_codehub, ExitCode.SERVICE, "postgres refused the login", "logs/postgres.log")


@pytest.mark.parametrize(
    ("variable", "url"),
    [("DATABASE_URL", "postgresql://u:hidden@127.0.0.1:1/codehub"), ("REDIS_URL", "redis://:hidden@127.0.0.1:1/0")],
)
def test_a_wrong_external_url(codehub: Installation, variable: str, url: str) -> None:
    refused(codehub, ExitCode.SERVICE, "does not answer", "127.0.0.1:1", variable, **{variable: url})
    refused_words = codehub.run("up", **{variable: url}).stderr
    assert "hidden" not in refused_words


def test_an_old_redis(codehub: Installation, old_redis_url: str) -> None:
    refused(codehub, ExitCode.SERVICE, "is Redis 5.0.12, but codehub needs 6.2 or newer", REDIS_URL=old_redis_url)
    assert PASSWORD not in codehub.run("up", REDIS_URL=old_redis_url).stderr


async def test_an_external_database_that_lets_us_make_no_tables(codehub: Installation, postgres_url: str) -> None:
    database = await create_database(postgres_url)
    role = f"guest_{uuid.uuid4().hex}"
    await execute(postgres_url, f"CREATE ROLE {role} LOGIN PASSWORD 'guest'")
    try:
        guest = make_url(database).set(username=role, password="guest").render_as_string(hide_password=False)
        refused(codehub, ExitCode.SERVICE, "schema", "permission denied", DATABASE_URL=guest)
    finally:
        await drop_database(postgres_url, database)
        await execute(postgres_url, f"DROP ROLE {role}")


def test_two_archive_stores_at_once(codehub: Installation) -> None:
    answer = codehub.run("up", "--s3", ARCHIVE_URL="file:///nowhere")
    assert (answer.returncode, "--s3" in answer.stderr) == (ExitCode.CONFIGURATION, True)


def test_an_archive_store_that_does_not_answer_stops_nobody(codehub: Installation) -> None:
    codehub.up(
        ARCHIVE_URL="s3://homes",
        ARCHIVE_S3_ENDPOINT="http://127.0.0.1:1",
        ARCHIVE_S3_ACCESS_KEY_ID="key",
        ARCHIVE_S3_SECRET_ACCESS_KEY="secret",
    )
    assert codehub.part("archives")["state"] == "not answering"
    assert codehub.part("serve")["state"] == "ready"


async def test_external_services_are_used_and_not_started(
    codehub: Installation, postgres_url: str, redis_url: str
) -> None:
    database = await create_database(postgres_url)
    archives = codehub.folder / "archives"
    archives.mkdir()
    try:
        codehub.up(DATABASE_URL=database, REDIS_URL=redis_url, ARCHIVE_URL=archives.as_uri())
        pids = {part["name"]: part["pid"] for part in codehub.state()["parts"]}
        assert [name for name, pid in pids.items() if pid is not None] == ["serve", "proxy"]
        assert {part["state"] for part in codehub.state()["parts"]} == {"ready"}
        assert not (codehub.data / "postgres").exists()
        codehub.down()
    finally:
        await drop_database(postgres_url, database)
    shutil.rmtree(archives)
