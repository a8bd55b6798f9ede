"""From the settings to the stack: which parts codehub runs itself, which are elsewhere, how serve reaches them."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from codehub.errors import ConfigurationError
from codehub.settings import Settings
from codehub.stack import binaries
from codehub.stack.account import current_account
from codehub.stack.answering import Answerers, answerers
from codehub.stack.credentials import Credentials, load_credentials
from codehub.stack.data_folder import DataFolder
from codehub.stack.postgres import Postgres
from codehub.stack.seaweedfs import URL as SEAWEEDFS_URL
from codehub.stack.seaweedfs import SeaweedFS, remembered_ports
from codehub.stack.valkey import Valkey


@dataclass(frozen=True)
class Stack:
    """None stands for a part that is external, or for the archive directory."""

    folder: DataFolder
    postgres: Postgres | None
    valkey: Valkey | None
    seaweedfs: SeaweedFS | None
    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    archive_url: str
    makes_archive_folder: bool  # an archive store that an operator names must be there already
    archive_access: Mapping[str, str | None] = field(repr=False)
    answerers: Answerers


def assemble(settings: Settings, folder: DataFolder, listener: socket.socket, sockets: Path, *, s3: bool) -> Stack:
    """Nothing is started here; what can be refused before a start is refused."""
    credentials = load_credentials(folder)
    postgres = None if settings.database.url else _postgres(folder, sockets, credentials)
    valkey = None if settings.redis.url else _valkey(folder, sockets, credentials)
    seaweedfs = _seaweedfs(folder, sockets, credentials) if _wants_seaweedfs(settings, folder, s3=s3) else None
    database_url = settings.database.url or (postgres.url() if postgres else "")
    redis_url = settings.redis.url or (valkey.url if valkey else "")
    archive_url = SEAWEEDFS_URL if seaweedfs else settings.archive_url
    access = seaweedfs.access if seaweedfs else archive_access(settings)
    spelled_out = settings.environment() | {
        "CODEHUB_DATA_DIR": str(folder.path),
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "ARCHIVE_URL": archive_url,
        **{f"ARCHIVE_{name.upper()}": value for name, value in access.items() if value is not None},
    }
    return Stack(
        folder=folder,
        postgres=postgres,
        valkey=valkey,
        seaweedfs=seaweedfs,
        database_url=database_url,
        redis_url=redis_url,
        archive_url=archive_url,
        makes_archive_folder=settings.archive.url is None and seaweedfs is None,
        archive_access=access,
        answerers=answerers(settings, folder, current_account(), listener, sockets, spelled_out),
    )


def _postgres(folder: DataFolder, sockets: Path, credentials: Credentials) -> Postgres:
    return Postgres(
        folder=folder.of("postgres"),
        sockets=sockets / "postgres",
        programs=binaries.reachable(binaries.postgres(), folder.account, folder.programs),
        account=folder.account,
        password=credentials.postgres,
        log=folder.logs / "postgres.log",
    )


def _valkey(folder: DataFolder, sockets: Path, credentials: Credentials) -> Valkey:
    return Valkey(
        folder=folder.of("valkey"),
        sockets=sockets / "valkey",
        programs=binaries.reachable(binaries.valkey(), folder.account, folder.programs),
        account=folder.account,
        password=credentials.valkey,
        log=folder.logs / "valkey.log",
    )


def _seaweedfs(folder: DataFolder, sockets: Path, credentials: Credentials) -> SeaweedFS:
    return SeaweedFS(
        folder=folder.of("seaweedfs"),
        sockets=sockets / "seaweedfs",
        programs=binaries.reachable(binaries.seaweedfs(), folder.account, folder.programs),
        account=folder.account,
        access_key=credentials.s3_access_key,
        secret_key=credentials.s3_secret_key,
        ports=remembered_ports(folder.ports),
        log=folder.logs / "seaweedfs.log",
    )


def _wants_seaweedfs(settings: Settings, folder: DataFolder, *, s3: bool) -> bool:
    """Asked for now, or once before: homes that were archived there must be found again at the next start."""
    if settings.archive.url:
        if s3:
            raise ConfigurationError("ARCHIVE_URL is set, and so is --s3.", "Use one of them.")
        return False
    if folder.of("seaweedfs").exists():
        return True
    if s3 and folder.archives.exists() and any(path.is_file() for path in folder.archives.rglob("*")):
        raise ConfigurationError(
            f"There are archives in {folder.archives}, which codehub would not find any more with --s3.",
            "Start without it, or move them away first.",
        )
    return s3


def archive_access(settings: Settings) -> dict[str, str | None]:
    """How the archive store that the settings name is opened."""
    archive = settings.archive
    secret = archive.s3_secret_access_key
    return {
        "s3_endpoint": archive.s3_endpoint,
        "s3_region": archive.s3_region,
        "s3_access_key_id": archive.s3_access_key_id,
        "s3_secret_access_key": secret.get_secret_value() if secret else None,
    }
