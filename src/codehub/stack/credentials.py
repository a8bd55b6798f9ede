"""The passwords of the embedded services: generated once, kept in one private file, never shown."""

import json
import secrets
from dataclasses import asdict, dataclass, field

from codehub.errors import DataFolderError
from codehub.stack.account import current_account
from codehub.stack.data_folder import DataFolder


@dataclass(frozen=True)
class Credentials:
    postgres: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    valkey: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    s3_access_key: str = field(default_factory=lambda: secrets.token_hex(10).upper())
    s3_secret_key: str = field(default_factory=lambda: secrets.token_urlsafe(30), repr=False)


def load_credentials(folder: DataFolder) -> Credentials:
    """Those of this data folder, made at the first start.

    Where the database is there but they are gone, new ones would open nothing: better said now than as a refused login.
    """
    try:
        return Credentials(**json.loads(folder.credentials.read_text()))
    except FileNotFoundError:
        if folder.of("postgres").exists():
            raise DataFolderError(
                f"The file {folder.credentials} is missing, and without it the database cannot be opened.",
                "Restore it from a backup of the data folder.",
            ) from None
    except (TypeError, ValueError):
        raise DataFolderError(f"The file {folder.credentials} is damaged.", "Restore it from a backup.") from None
    made = Credentials()
    current_account().write_private(folder.credentials, json.dumps(asdict(made)))
    return made
