"""URLs that are lent to a job, one by one: what each is signed for, for how long, and what ends before."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from codehub.archives import lend
from codehub.archives.object_store import Loan
from codehub.archives.presign import Presigner, part_sizes
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials, signed_query
from codehub.job.order import Kind, Parts, S3Place
from tests.archives.scripted_s3 import Answer, Request, scripted

MIB = 1024 * 1024
SECONDS = 600


EVENING = datetime(2026, 11, 15, 18, tzinfo=UTC)
SOMEONE = Credentials("someone", "secret", region="us-east-1")
FAR = Bucket("https://store.example:8443/base", "homes", SOMEONE)


def signed(method: str, name: str, query: Mapping[str, str], headers: Mapping[str, str], seconds: int) -> str:
    path = f"/base/homes/w/a/{name}"
    told = {"host": "store.example:8443", **headers}
    asked = signed_query(method, told, path, query, by=SOMEONE, at=EVENING, seconds=seconds)
    return f"https://store.example:8443{path}?{asked}"


def test_each_url_is_signed_for_its_one_request() -> None:
    lent = Presigner(FAR, at=EVENING, seconds=60)

    def url(method: str, name: str, query: Mapping[str, str] = {}, headers: Mapping[str, str] = {}) -> str:
        return signed(method, name, query, headers, 60)

    reading = S3Place(
        head=url("HEAD", "home.tar.zst"),
        get=url("GET", "home.tar.zst"),
        get_marker=url("GET", "home.tar.zst.meta"),
        put_marker=None,
        parts=None,
        socket="/way",
    )
    numbers = [{"uploadId": "one", "partNumber": str(number)} for number in range(1, 5)]
    parts = Parts(
        part_bytes=8 * MIB,
        put=tuple(url("PUT", "home.tar.zst", query) for query in numbers),
        complete=url("POST", "home.tar.zst", {"uploadId": "one"}),
    )
    put_marker = url("PUT", "home.tar.zst.meta", headers={"if-none-match": "*"})
    path = "w/a/home.tar.zst"
    assert lent.for_reading(path, socket="/way") == reading
    assert lent.for_archiving(path, "one", MIB, socket="/way") == replace(reading, put_marker=put_marker, parts=parts)
    assert (lent.for_reading(path).socket, lent.for_archiving(path, "one", MIB).socket) == (None, None)


def test_an_url_lasts_a_week_unless_it_is_said_otherwise() -> None:
    week = Presigner(FAR, at=EVENING).for_reading("w/a/home.tar.zst").get
    assert week == signed("GET", "home.tar.zst", {}, {}, 7 * 24 * 3600)


@pytest.mark.parametrize(
    ("tar_bytes", "parts"),
    [
        (0, (8 * MIB, 4)),
        (80 * MIB, (8 * MIB, 15)),
        (4997 * 8 * MIB - 1, (8 * MIB, 5499)),
        (4997 * 8 * MIB, (16 * MIB, 2751)),
        (4996 * 64 * MIB, (64 * MIB, 5499)),
    ],
)
def test_parts_grow_where_there_would_be_too_many(tar_bytes: int, parts: tuple[int, int]) -> None:
    assert part_sizes(tar_bytes) == parts


class UploadsBegun:
    """A store with uploads under this key and another, which can be ended, and with one more that can be begun."""

    path = "prefix/workspace/archive/home.tar.zst"

    def __init__(self) -> None:
        self.open = {"old": self.path, "older": self.path, "other": f"{self.path}.part"}

    def answer(self, request: Request) -> Answer:
        if request.method == "DELETE":
            assert request.path == f"/lent/{self.open.pop(request.query['uploadId'])}"
            return Answer(204)
        if request.method == "POST":
            self.open["new"] = request.path.removeprefix("/lent/")
            return Answer(
                200, b"<InitiateMultipartUploadResult><UploadId>new</UploadId></InitiateMultipartUploadResult>"
            )
        assert request.query["prefix"] == self.path
        uploads = "".join(_UPLOAD.format(key=key, id=upload_id) for upload_id, key in self.open.items())
        page = f"<ListMultipartUploadsResult>{uploads}<IsTruncated>false</IsTruncated></ListMultipartUploadsResult>"
        return Answer(200, page.encode())


_BEGUN = b"<InitiateMultipartUploadResult><UploadId>new</UploadId></InitiateMultipartUploadResult>"
_UPLOAD = "<Upload><Key>{key}</Key><UploadId>{id}</UploadId><Initiated>2026-11-15T08:00:00.000Z</Initiated></Upload>"


@pytest.mark.parametrize(
    ("kind", "still_open"),
    [
        (Kind.ARCHIVE, {"other", "new"}),
        (Kind.VERIFY, {"other"}),
        (Kind.RESTORE, {"old", "older", "other"}),
    ],
)
async def test_uploads_end_where_they_could_replace_what_is_made_or_proven(kind: Kind, still_open: set[str]) -> None:
    begun = UploadsBegun()
    async with scripted(begun.answer) as (endpoint, _):
        bucket = Bucket(endpoint, "lent", Credentials("someone", "secret", "us-east-1"))
        lent = await lend.lend_urls(bucket, begun.path, Loan(kind, SECONDS, 10**9, "/way"))
    assert set(begun.open) == still_open
    assert lent.socket == "/way"
    assert f"X-Amz-Expires={SECONDS}" in lent.get
    assert f"/lent/{begun.path}?" in lent.get
    if kind is not Kind.ARCHIVE:
        assert (lent.parts, lent.put_marker) == (None, None)
        return
    assert begun.open["new"] == begun.path
    assert lent.parts is not None
    assert "uploadId=new" in lent.parts.complete
    assert (lent.parts.part_bytes, len(lent.parts.put)) == part_sizes(lend.tar_bytes(10**9))


async def test_no_url_is_lent_for_longer_than_stores_allow() -> None:
    bucket = Bucket("http://127.0.0.1:1", "lent", Credentials("someone", "secret", "us-east-1"))
    lent = await lend.lend_urls(bucket, "path", Loan(Kind.RESTORE, 10**9))
    assert f"X-Amz-Expires={7 * 24 * 3600}" in lent.get
