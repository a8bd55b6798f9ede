"""How long it takes until an archived workspace is open again, roughly: somebody decides by it whether to wait."""

from codehub.model.shown import ShownArchive

START_SECONDS = 5.0
ENTRIES_PER_SECOND = 5_000
BYTES_PER_SECOND = 50_000_000
"""As measured on machines of two cores with the store beside them: files are what takes long, bytes only where there
are many in each."""


def opens_in(archive: ShownArchive) -> float:
    """Seconds from the wish to the IDE that answers, with nobody before it in the queue."""
    return START_SECONDS + archive.entries / ENTRIES_PER_SECOND + archive.size / BYTES_PER_SECOND
