"""URLs that are lent to a job: each opens what it was signed for, on a real store, and nothing else."""

import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from codehub import clock
from codehub.archives.open import ensure_bucket
from codehub.archives.presign import PARTS, Presigner, part_sizes
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials, signed_query
from codehub.stack.seaweedfs import SeaweedFS

BUCKET = "presigned"
MIB = 1024 * 1024
ONLY_IF_ABSENT = {"If-None-Match": "*"}


@pytest.fixture
async def bucket(s3_server: SeaweedFS) -> Bucket:
    await ensure_bucket(f"s3://{BUCKET}", **s3_server.access)
    return Bucket(
        s3_server.endpoint, BUCKET, Credentials(s3_server.access_key, s3_server.secret_key, region="us-east-1")
    )


@pytest.fixture
def path() -> str:
    return f"{uuid.uuid4()}/{uuid.uuid4()}/home.tar.zst"


def test_a_published_request_gets_its_published_signature() -> None:
    """Amazon's example ("Authenticating Requests: Using Query Parameters")."""
    query = signed_query(
        "GET",
        {"host": "examplebucket.s3.amazonaws.com"},
        "/test.txt",
        {},
        by=Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"),
        at=datetime(2013, 5, 24, tzinfo=UTC),
        seconds=86400,
    )
    assert query.endswith("X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")


async def test_an_archive_is_uploaded_in_parts_committed_once_and_read_in_ranges(bucket: Bucket, path: str) -> None:
    upload_id = await bucket.begin(path)
    lent = Presigner(bucket, at=clock.now()).for_archiving(path, upload_id, 100 * MIB)
    assert lent.parts is not None
    assert lent.put_marker is not None
    pieces = [bytes([number]) * lent.parts.part_bytes for number in range(2)] + [b"the last"]
    async with httpx.AsyncClient() as client:
        assert (await client.get(lent.get_marker)).status_code == 404
        answers = [await client.put(url, content=piece) for url, piece in zip(lent.parts.put, pieces, strict=False)]
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{answer.headers['ETag']}</ETag></Part>"
            for number, answer in enumerate(answers, start=1)
        )
        document = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>"
        assert (await client.post(lent.parts.complete, content=document)).status_code == 200
        assert int((await client.head(lent.head)).headers["Content-Length"]) == sum(map(len, pieces))
        ranged = await client.get(lent.get, headers={"Range": f"bytes={2 * lent.parts.part_bytes}-"})
        assert (ranged.status_code, ranged.content) == (206, b"the last")
        marks = [await client.put(lent.put_marker, content=text, headers=ONLY_IF_ABSENT) for text in (b"1", b"2")]
        assert [mark.status_code for mark in marks] == [200, 412]
        assert (await client.get(lent.get_marker)).content == b"1"


async def test_a_lent_url_opens_nothing_else(bucket: Bucket, path: str) -> None:
    presigner = Presigner(bucket, at=clock.now())
    lent = presigner.for_archiving(path, await bucket.begin(path), MIB)
    assert lent.put_marker is not None
    async with httpx.AsyncClient() as client:
        refused = [
            await client.get(lent.get.replace("home.tar.zst", "other.tar.zst")),
            await client.put(lent.get, content=b"overwritten"),
            await client.delete(lent.get),
            await client.put(lent.put_marker, content=b"without its condition"),
        ]
    assert {answer.status_code for answer in refused} == {403}


async def test_a_lent_url_expires(bucket: Bucket, path: str) -> None:
    long_ago = clock.now() - timedelta(hours=1)
    async with httpx.AsyncClient() as client:
        assert (await client.get(Presigner(bucket, at=long_ago, seconds=60).for_reading(path).get)).status_code == 403
        assert (await client.get(Presigner(bucket, at=clock.now()).for_reading(path).get)).status_code == 404


@pytest.mark.parametrize("tar_bytes", [0, 1, 100 * MIB, 10**11, 10**12, 2 * 10**12])
def test_there_are_parts_enough_and_none_too_many(tar_bytes: int) -> None:
    part_bytes, count = part_sizes(tar_bytes)
    assert part_bytes >= 5 * MIB
    assert count <= PARTS
    assert part_bytes * count > tar_bytes * 1.05
