"""`codehub doctor`: looks at everything that codehub stands on, changes nothing, and says what to do."""

import asyncio
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from codehub.archives.open import open_store
from codehub.errors import CodehubError, DataFolderError
from codehub.settings import Settings
from codehub.stack import binaries
from codehub.stack.account import current_account, find_service_account
from codehub.stack.assemble import archive_access
from codehub.stack.credentials import load_credentials
from codehub.stack.data_folder import DataFolder
from codehub.stack.postgres import database_url
from codehub.stack.public import listen
from codehub.stack.running import Running, find_running
from codehub.telemetry.health import Check, check_archive_store, check_database, check_redis

NEEDED_PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    name: str
    ok: bool
    detail: str
    remedy: str = ""


def examine_all(settings: Settings) -> list[Finding]:
    folder = DataFolder(settings.codehub.data_dir, current_account())
    running = find_running(folder)
    local: dict[str, Callable[[], str]] = {
        "python": _python,
        "setpriv": _setpriv,
        "postgresql": lambda: _program(binaries.postgres),
        "valkey": lambda: _program(binaries.valkey),
        "seaweedfs": lambda: _seaweedfs(needed=folder.of("seaweedfs").exists()),
        "data folder": lambda: _data_folder(folder),
        "disk": lambda: _disk(folder),
        "address": lambda: _address(settings, running),
    }
    findings = [_finding(name, look) for name, look in local.items()]
    return [*findings, *asyncio.run(_services(settings, folder, running))]


def _finding(name: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(name, ok=True, detail=look())
    except CodehubError as error:
        return Finding(name, ok=False, detail=error.what, remedy=error.remedy)


def _python() -> str:
    if sys.version_info < NEEDED_PYTHON:
        raise CodehubError(f"Python {platform.python_version()} is too old.", "Install Python 3.11 or newer.")
    return f"{platform.python_version()} ({sys.executable})"


def _setpriv() -> str:
    if (found := shutil.which("setpriv")) is None:
        raise CodehubError("setpriv, which ties the services to codehub, is missing.", "Install util-linux.")
    return found


def _program(find: Callable[[], binaries.Program]) -> str:
    return find().folder_name


def _seaweedfs(*, needed: bool) -> str:
    try:
        return _program(binaries.seaweedfs)
    except CodehubError:
        if needed:
            raise
        return "not installed; only `codehub up --s3` needs it"


def _data_folder(folder: DataFolder) -> str:
    if not folder.path.exists():
        return f"{folder.path} will be made at the first start"
    folder.require_known()
    expected = 0o710 if current_account().uid == 0 else 0o700
    if (mode := folder.path.stat().st_mode & 0o777) & ~expected:
        raise DataFolderError(
            f"{folder.path} is open to others (mode {mode:o}).", f"Close it with: chmod {expected:o} {folder.path}"
        )
    if (account := find_service_account()) is not None:
        account.require_reach(folder.path)
    return str(folder.path)


def _disk(folder: DataFolder) -> str:
    existing = next(path for path in (folder.path, *folder.path.parents) if path.exists())
    DataFolder(existing, folder.account).require_room()
    return f"{shutil.disk_usage(existing).free // 2**20} MB free"


def _address(settings: Settings, running: Running | None) -> str:
    if running is not None:
        return f"{running.url} is codehub's"
    listen(*settings.codehub.listen_address).close()
    return f"{settings.codehub.listen} is free"


async def _services(settings: Settings, folder: DataFolder, running: Running | None) -> list[Finding]:
    """Those that run here, as the supervisor sees them; external ones by using them."""
    if running is not None:
        parts = [
            Finding(part["name"], part["state"] == "ready", f"{part['state']}; {part['detail']}", _log_of(folder, part))
            for part in running.parts
        ]
        url = settings.database.url or database_url(
            folder.socket_folder / "postgres", load_credentials(folder).postgres
        )
        return [*parts, _as_finding("schema", await check_database(url))]
    checks: list[tuple[str, Awaitable[Check]]] = []
    if settings.database.url:
        checks.append(("database", check_database(settings.database.url, schema=False)))
    if settings.redis.url:
        checks.append(("redis", check_redis(settings.redis.url)))
    if settings.archive.url:
        store = open_store(settings.archive.url, **archive_access(settings))
        checks.append(("archives", check_archive_store(store)))
    external = [_as_finding(name, await check) for name, check in checks]
    return [*external, Finding("codehub", ok=True, detail="is not running; codehub up starts it")]


def _as_finding(name: str, check: Check) -> Finding:
    return Finding(name, check.ok, check.detail, check.remedy)


def _log_of(folder: DataFolder, part: dict[str, object]) -> str:
    return f"Look into {folder.logs / str(part['name'])}.log" if part["pid"] else ""
