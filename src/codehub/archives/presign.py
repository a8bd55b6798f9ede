"""Lend one archive to a job: URLs that are signed for it alone, so that no job ever sees the store's keys."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlsplit

from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import canonical_path, signed_query
from codehub.job.marker import MARKER_SUFFIX
from codehub.job.order import Parts, S3Place

PARTS = 10_000  # the most that S3 allows in one upload
LONGEST_SECONDS = 7 * 24 * 3600  # the most that a signed URL may last
_SMALLEST_PART = 8 * 1024 * 1024  # S3 refuses parts of less than 5 MiB; four of these are on their way at once
_SPARE_PARTS = 4  # what does not compress grows by its headers
_NOTHING: Mapping[str, str] = {}


class Presigner:
    """Signs for one bucket, from one moment on."""

    def __init__(self, bucket: Bucket, *, at: datetime, seconds: int = LONGEST_SECONDS) -> None:
        self._bucket = bucket
        self._at = at
        self._seconds = seconds

    def url(
        self, method: str, path: str, query: Mapping[str, str] = _NOTHING, headers: Mapping[str, str] = _NOTHING
    ) -> str:
        """An URL for this one request; its headers have to be sent with it."""
        base = urlsplit(self._bucket.endpoint)
        whole = f"{base.path}/{self._bucket.name}/{path}"
        signed = {"host": base.netloc, **headers}
        asked = signed_query(
            method, signed, whole, query, by=self._bucket.credentials, at=self._at, seconds=self._seconds
        )
        return f"{base.scheme}://{base.netloc}{canonical_path(whole)}?{asked}"

    def for_reading(self, path: str, *, socket: str | None = None) -> S3Place:
        """What a restore or a verification needs; nothing can be written with it."""
        marker = path + MARKER_SUFFIX
        return S3Place(
            head=self.url("HEAD", path),
            get=self.url("GET", path),
            get_marker=self.url("GET", marker),
            put_marker=None,
            parts=None,
            socket=socket,
        )

    def for_archiving(self, path: str, upload_id: str, tar_bytes: int, *, socket: str | None = None) -> S3Place:
        """The same, and the parts of an upload that was begun, enough for a tar of so many bytes.

        The marker can only be created, never replaced: the condition is signed with its URL.
        """
        marker = path + MARKER_SUFFIX
        upload = {"uploadId": upload_id}
        part_bytes, count = part_sizes(tar_bytes)
        return S3Place(
            head=self.url("HEAD", path),
            get=self.url("GET", path),
            get_marker=self.url("GET", marker),
            put_marker=self.url("PUT", marker, headers={"if-none-match": "*"}),
            parts=Parts(
                part_bytes=part_bytes,
                put=tuple(
                    self.url("PUT", path, {**upload, "partNumber": str(number)}) for number in range(1, count + 1)
                ),
                complete=self.url("POST", path, upload),
            ),
            socket=socket,
        )


def part_sizes(tar_bytes: int) -> tuple[int, int]:
    """How large parts are, and how many there may be, for a tar that may not compress at all."""
    part_bytes = _SMALLEST_PART
    while tar_bytes // part_bytes + _SPARE_PARTS > PARTS // 2:
        part_bytes *= 2
    return part_bytes, min(PARTS, tar_bytes // part_bytes * 11 // 10 + _SPARE_PARTS)
