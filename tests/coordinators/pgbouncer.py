"""A real pooler before a real PostgreSQL."""

import asyncio
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import make_url

from codehub.stack.account import Account

START_SECONDS = 20.0
PROGRAM = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin")


@asynccontextmanager
async def pgbouncer(folder: Path, account: Account, database_url: str, **settings: str) -> AsyncIterator[str]:
    """The URL of the same database behind a pooler with these settings."""
    if PROGRAM is None:
        pytest.skip("pgbouncer is not installed; scripts/test installs it")
    server = make_url(database_url)
    port = _free_port()
    home = folder / f"pgbouncer-{uuid4().hex[:8]}"
    account.make_folder(home)
    sockets = server.query["host"]
    lines = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        "logfile": str(home / "log"),
        **settings,
    }
    account.write_private(
        home / "pgbouncer.ini",
        f"[databases]\n{server.database} = host={sockets} user={server.username} password={server.password}\n"
        "[pgbouncer]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items()),
    )
    process = _launch(home, account)
    try:
        await _until_it_listens(process, port, home / "log")
        yield server.set(host="127.0.0.1", port=port, query={}).render_as_string(hide_password=False)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait)


def _launch(home: Path, account: Account) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(PROGRAM), "--quiet", str(home / "pgbouncer.ini")],
        user=account.uid if account.is_other else None,
        group=account.gid if account.is_other else None,
        extra_groups=[] if account.is_other else None,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _until_it_listens(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            assert process.poll() is None, f"it ended at once, see {log}"
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
            else:
                writer.close()
                return
