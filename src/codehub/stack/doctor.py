"""`codehub doctor`: looks at everything that codehub stands on, changes nothing, and says what to do."""

import asyncio
import json
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from codehub import clock
from codehub.archives.object_store import ObjectStore
from codehub.archives.open import open_store
from codehub.archives.probe import probe
from codehub.coordinators.runtime import open_runtimes
from codehub.errors import CodehubError, DataFolderError
from codehub.proxy.tls import present
from codehub.settings import Settings
from codehub.settings.addresses import is_address
from codehub.settings.origins import is_open_without_tls, origins
from codehub.stack import binaries
from codehub.stack.account import current_account, find_service_account
from codehub.stack.assemble import archive_access
from codehub.stack.credentials import load_credentials
from codehub.stack.data_folder import DataFolder
from codehub.stack.postgres import database_url
from codehub.stack.public import listen
from codehub.stack.running import Running, find_running
from codehub.stack.seaweedfs import URL, store_access
from codehub.telemetry.health import Check, Unfit, check_database, check_database_disk, check_redis, examine

NEEDED_PYTHON = (3, 11)
RENEW_DAYS = 14
RUNTIME_REMEDIES = {
    "docker": "Use an engine on a kernel with seccomp, or set RUNTIME=local.",
    "local": "See docs/local-runtime.md for what it needs.",
}


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
        "workspaces": lambda: _workspaces(settings),
        "certificate": lambda: _certificate(settings),
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


def _workspaces(settings: Settings) -> str:
    """Where browsers look for them, and the records by which they find them."""
    where = origins(settings.codehub, settings.proxy)
    if where.shared is not None:
        return f"at {where.shared}/w/{{id}}/; {_records(where.public_host, where.shared_host)}"
    if where.domain != "localhost":
        return f"at {{id}}.{where.domain}; {_records(where.public_host, f'*.{where.domain}')}"
    if not (where.public_host == "localhost" or is_address(where.public_host)):
        raise CodehubError(
            "Workspaces are at names below localhost, which a browser elsewhere looks for on its own machine.",
            "Set PROXY_DOMAIN, and a wildcard record for it.",
        )
    return "at {id}.localhost, for browsers on this machine"


def _records(*names: str | None) -> str:
    needed = [f"{name}. A (this machine)" for name in names if name is not None and not is_address(name)]
    return f"DNS records: {', '.join(needed)}"


def _certificate(settings: Settings) -> str:
    """Shown to a visitor of each name that it has to be good for, as a browser would check it."""
    codehub, proxy, where = settings.codehub, settings.proxy, origins(settings.codehub, settings.proxy)
    if proxy.certificate is None:
        if is_open_without_tls(codehub, proxy):
            return "none, and others reach codehub: whoever is on the way reads along (CODEHUB_INSECURE)"
        return "none; a proxy in front has it" if where.is_secure else "none; only this machine reaches codehub"
    names = (where.public_host, where.shared_host or f"{UUID(int=0).hex}.{where.domain}")
    shown = [present(proxy.certificate, proxy.key, name) for name in names]
    until, days = shown[0].good_until, (shown[0].good_until - clock.now()).days
    soon = "; renew it" if days < RENEW_DAYS else ""
    trusted = "" if shown[0].is_trusted_here else "; its issuer is not trusted here (is the whole chain in the file?)"
    wanted = where.shared_host or f"*.{where.domain}"
    return f"good for {where.public_host} and {wanted} until {until:%Y-%m-%d} ({days} days){soon}{trusted}"


def _address(settings: Settings, running: Running | None) -> str:
    if running is not None:
        return f"{running.url} is codehub's"
    listen(*settings.codehub.listen_address).close()
    return f"{settings.codehub.listen} is free"


async def _services(settings: Settings, folder: DataFolder, running: Running | None) -> list[Finding]:
    """The parts that run here as their supervisor sees them; external services, schema and archives by using them."""
    findings = [_part(folder, part) for part in running.parts] if running else []
    if running is None:
        findings.append(Finding("codehub", ok=True, detail="is not running; codehub up starts it"))
    if (url := _database_url(settings, folder, running)) is not None:
        check = await check_database(url, schema=running is not None)
        findings.append(_as_finding("schema" if running else "database", check))
        findings.append(_as_finding("database disk", await check_database_disk(url)))
    if settings.redis.url:
        findings.append(_as_finding("redis", await check_redis(settings.redis.url)))
    if (store := _archive_store(settings, folder, running)) is not None:
        findings.append(_as_finding("archive store", await examine("archive store", _try_promises(store))))
    return [*findings, await _runtime(settings, folder)]


async def _runtime(settings: Settings, folder: DataFolder) -> Finding:
    """Where workspaces run, and what it leaves open on this machine. That is for the operator to weigh; only a machine
    that can start no workspace at all is at fault."""
    installation = folder.installation.read_text().strip() if folder.installation.exists() else "none"
    runtimes = await open_runtimes(settings, installation)
    chosen = runtimes[0] if settings.runtime.kind == "auto" else None
    chosen = chosen or next((each for each in runtimes if each.name == settings.runtime.kind), None)
    try:
        if chosen is None:
            remedy = "Start a Docker engine, or set RUNTIME=local."
            return Finding(
                "runtime", ok=False, detail=f"No engine answers on {settings.runtime.docker_host}.", remedy=remedy
            )
        obstacles, findings = await chosen.obstacles(), await chosen.findings()
        detail = " ".join([f"{chosen.name}.", *obstacles, *findings])
        return Finding("runtime", not obstacles, detail, RUNTIME_REMEDIES[chosen.name])
    finally:
        for runtime in runtimes:
            await runtime.close()


def _part(folder: DataFolder, part: dict[str, Any]) -> Finding:
    log = f"Look into {folder.logs / part['name']}.log" if part["pid"] else ""
    return Finding(part["name"], part["state"] == "ready", f"{part['state']}; {part['detail']}", log)


def _database_url(settings: Settings, folder: DataFolder, running: Running | None) -> str | None:
    if settings.database.url or running is None:
        return settings.database.url
    return database_url(folder.socket_folder / "postgres", load_credentials(folder).postgres)


def _archive_store(settings: Settings, folder: DataFolder, running: Running | None) -> ObjectStore | None:
    """The store, if it can be there now: the embedded server is only while codehub runs."""
    if not settings.archive.url and folder.of("seaweedfs").exists():
        if running is None:
            return None
        credentials, ports = load_credentials(folder), json.loads(folder.ports.read_text())
        return open_store(URL, **store_access(ports, credentials.s3_access_key, credentials.s3_secret_key))
    if not settings.archive.url and not folder.archives.exists():
        return None
    return open_store(settings.archive_url, **archive_access(settings))


async def _try_promises(store: ObjectStore) -> str:
    """What the store does not promise is told; only one without room, or that returns something else than was written,
    is unfit."""
    await store.require_room()
    seen = await probe(store)
    if not seen.reads_back:
        raise Unfit("does not return what was written", "Use another archive store.")
    return f"works, but not: {'; '.join(seen.missing)}" if seen.missing else "works, and keeps its promises"


def _as_finding(name: str, check: Check) -> Finding:
    return Finding(name, check.ok, check.detail, check.remedy)
