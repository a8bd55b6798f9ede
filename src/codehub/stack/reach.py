"""How commands on this machine reach the database of the installation they are run for."""

from codehub.errors import NotRunning
from codehub.settings import Settings
from codehub.stack.account import current_account
from codehub.stack.credentials import load_credentials
from codehub.stack.data_folder import DataFolder
from codehub.stack.postgres import database_url
from codehub.stack.running import find_running


def database_of(settings: Settings) -> str:
    """The external one, or the embedded one of the codehub that runs here."""
    if settings.database.url is not None:
        return settings.database.url
    folder = DataFolder(settings.codehub.data_dir, current_account())
    if find_running(folder) is None:
        raise NotRunning(f"codehub is not running on {folder.path}.", "Start it with: codehub up")
    return database_url(folder.socket_folder / "postgres", load_credentials(folder).postgres)
