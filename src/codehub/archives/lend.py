"""Lend one archive to a job: its own folder, or URLs that open nothing else. No job ever sees the store's keys."""

import os
from pathlib import Path

from codehub import clock
from codehub.archives.errors import StoreFull
from codehub.archives.folders import opened
from codehub.archives.object_store import Loan
from codehub.archives.presign import LONGEST_SECONDS, Presigner
from codehub.archives.s3_requests import Bucket
from codehub.job.order import DirectoryPlace, Kind, S3Place

BEST_COMPRESSION = 10
"""A home hardly ever becomes smaller than by this; where not even so much has room, there is no use in beginning."""
RESERVE_BYTES = 64 * 1024 * 1024
"""Room that is left to others: the embedded store shares its disk with the database."""


def lend_folder(root: Path, folders: tuple[str, ...], loan: Loan) -> DirectoryPlace:
    """The archive's own folder, made if it is to be filled. Raises StoreFull where the home could never fit, and
    FileNotFoundError where there is nothing to read."""
    with opened(root, folders, make=loan.kind is Kind.ARCHIVE):
        if loan.kind is Kind.ARCHIVE:
            require_room(root, loan.home_bytes)
    return DirectoryPlace(root.joinpath(*folders))


def require_room(root: Path, home_bytes: int = 0) -> None:
    """Raises StoreFull where a home of this size could never fit."""
    room = os.statvfs(root)
    _require_room(room.f_bavail * room.f_frsize, home_bytes)


def _require_room(free: int, home_bytes: int) -> None:
    needed = home_bytes // BEST_COMPRESSION + RESERVE_BYTES
    if free < needed:
        raise StoreFull(
            f"The archive store has room for {free} bytes; a home of {home_bytes} bytes needs at least {needed}.",
            "Free some space, or let ARCHIVE_URL name a larger store.",
        )


async def lend_urls(bucket: Bucket, path: str, loan: Loan) -> S3Place:
    """URLs for this archive alone: to read it, or to write it in one upload that is begun here.

    What earlier jobs have begun and not completed is aborted, so that no late one can replace the archive: neither
    while the next is being made, nor once it is being proven.
    """
    signer = Presigner(bucket, at=clock.now(), seconds=min(loan.seconds, LONGEST_SECONDS))
    if loan.kind is not Kind.RESTORE:
        async for upload in bucket.uploads(path):
            if upload.key == path:
                await bucket.abort(path, upload.upload_id)
    if loan.kind is not Kind.ARCHIVE:
        return signer.for_reading(path, socket=loan.socket)
    return signer.for_archiving(path, await bucket.begin(path), tar_bytes(loan.home_bytes), socket=loan.socket)


def tar_bytes(home_bytes: int) -> int:
    """How large the tar of a home can become at most, about: headers make small files larger, and files that take
    nothing of the disk take something of it."""
    return home_bytes * 3 // 2 + RESERVE_BYTES
