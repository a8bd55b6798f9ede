"""Stores that lie are found out: by the probe, by counting, never by believing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import ObjectNotFound, StoreError, StoreLied, StoreRefused, StoreUnreachable
from codehub.archives.object_store import ObjectInfo, ObjectStore
from codehub.archives.open import open_store
from codehub.archives.probe import Capabilities, probe
from tests.archives.scripted_s3 import Answer, Request, Script, scripted
from tests.contracts.object_store_reads import content_of, keys_of, uploads_of

EMPTY_BUCKET = Answer(200, b"<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>")


def store_at(endpoint: str) -> ObjectStore:
    return open_store("s3://bucket", s3_endpoint=endpoint, s3_access_key_id="someone", s3_secret_access_key="secret")


# The probe


async def test_an_honest_store_keeps_every_promise_and_nothing_stays_of_the_probe(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path)
    capabilities = await probe(store)
    assert capabilities == Capabilities(reads_back=True, creates_once=True, serves_ranges=True, lists_at_once=True)
    assert capabilities.missing == ()
    assert await keys_of(store) == []


class IgnoresConditions(DirectoryStore):
    async def create(self, key: str, data: bytes) -> None:
        await self.put(key, data)


class ClaimsConditions(DirectoryStore):
    """Says that the object is there, and overwrites it all the same."""

    async def create(self, key: str, data: bytes) -> None:
        await self.put(key, data)
        await super().create(key, data)


class KnowsNoConditions(DirectoryStore):
    async def create(self, key: str, data: bytes) -> None:
        raise StoreUnreachable(f"501 Not Implemented, for {key} of {len(data)} bytes")


class ListsLater(DirectoryStore):
    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        async for info in super().list(prefix):
            if not info.key.startswith("probe"):
                yield info


class LosesBytes(DirectoryStore):
    async def put(self, key: str, data: bytes) -> None:
        await super().put(key, data[:-1])


@pytest.mark.parametrize(
    ("liar", "missing"),
    [
        (IgnoresConditions, "create-only"),
        (ClaimsConditions, "create-only"),
        (KnowsNoConditions, "create-only"),
        (ListsLater, "listed at once"),
        (LosesBytes, "reads back"),
    ],
)
async def test_the_probe_names_the_promise_that_is_not_kept(
    tmp_path: Path, liar: type[DirectoryStore], missing: str
) -> None:
    assert missing in "; ".join((await probe(liar(tmp_path))).missing)
    assert await keys_of(DirectoryStore(tmp_path)) == []


async def test_a_store_that_is_down_is_not_called_a_liar(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable):
        await probe(DirectoryStore(tmp_path / "gone"))


async def test_the_probe_finds_an_s3_server_that_ignores_conditions_and_ranges() -> None:
    objects: dict[str, bytes] = {}

    def careless(request: Request) -> Answer:
        if request.path == "/bucket":
            found = "".join(
                f"<Contents><Key>{path.removeprefix('/bucket/')}</Key><Size>{len(data)}</Size><ETag>e</ETag>"
                "<LastModified>2026-11-15T08:00:00Z</LastModified></Contents>"
                for path, data in objects.items()
            )
            return Answer(200, f"<ListBucketResult>{found}<IsTruncated>false</IsTruncated></ListBucketResult>".encode())
        if request.method == "PUT":
            objects[request.path] = request.body
        elif request.method == "DELETE":
            del objects[request.path]
            return Answer(204)
        return Answer(200, objects[request.path] if request.method in {"GET", "HEAD"} else b"")

    async with scripted(careless) as (endpoint, _):
        capabilities = await probe(store_at(endpoint))
    assert capabilities == Capabilities(reads_back=True, creates_once=False, serves_ranges=False, lists_at_once=True)
    assert objects == {}


# Answers that cannot be true


def answering(objects: Script) -> Script:
    return lambda request: EMPTY_BUCKET if request.path == "/bucket" else objects(request)


async def test_a_body_that_ends_early_is_not_the_object() -> None:
    """The client asks for the rest; a store that never sends it must not pass off the beginning as the whole."""
    async with scripted(answering(lambda _: Answer(200, b"0123456789", cut_after=5))) as (endpoint, _):
        with pytest.raises(StoreError):
            await content_of(store_at(endpoint), "key")


async def test_the_rest_of_a_broken_read_is_never_taken_from_another_version() -> None:
    def replaced_meanwhile(request: Request) -> Answer:
        if "range" in request.headers:
            return Answer(206, b"NEWER", {"Content-Range": "bytes 5-9/10", "ETag": '"newer"'})
        return Answer(200, b"older67890", {"ETag": '"older"'}, cut_after=5)

    async with scripted(answering(replaced_meanwhile)) as (endpoint, _):
        with pytest.raises(StoreError):
            await content_of(store_at(endpoint), "key")


async def test_an_upload_of_which_another_size_is_shown_is_a_lie() -> None:
    def forgetful(request: Request) -> Answer:
        return Answer(200, b"half" if request.method == "HEAD" else b"")

    async with scripted(answering(forgetful)) as (endpoint, _), store_at(endpoint).upload("key") as upload:
        await upload.write(b"the whole")
        with pytest.raises(StoreLied, match="took 9 bytes of key and shows 4"):
            await upload.complete()


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_server_in_trouble_is_a_passing_fault(status: int) -> None:
    async with scripted(lambda _: Answer(status)) as (endpoint, _):
        with pytest.raises(StoreUnreachable):
            await store_at(endpoint).ping()


@pytest.mark.parametrize("status", [301, 307, 400, 401, 403, 404])
async def test_a_refusal_or_redirect_is_a_lasting_fault(status: int) -> None:
    async with scripted(lambda _: Answer(status, headers={"Location": "http://127.0.0.1:1/"})) as (endpoint, requests):
        with pytest.raises(StoreRefused):
            await store_at(endpoint).ping()
    assert len(requests) == 1


async def test_a_404_of_a_bucket_that_answers_is_a_missing_object() -> None:
    async with scripted(answering(lambda _: Answer(404))) as (endpoint, _):
        assert await store_at(endpoint).head("key") is None
        with pytest.raises(ObjectNotFound):
            await content_of(store_at(endpoint), "key")


# Listings, page by page


def objects_page(*keys: str, more: str) -> Answer:
    objects = "".join(
        f"<Contents><Key>{key}</Key><Size>1</Size><LastModified>2026-11-15T08:00:00.000Z</LastModified></Contents>"
        for key in keys
    )
    return Answer(200, f"<ListBucketResult>{objects}{more}</ListBucketResult>".encode())


def uploads_page(*keys: str, more: str) -> Answer:
    uploads = "".join(
        f"<Upload><Key>{key}</Key><UploadId>id-{key}</UploadId><Initiated>2026-11-15T08:00:00.000Z</Initiated></Upload>"
        for key in keys
    )
    page = f'<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{uploads}{more}'
    return Answer(200, f"{page}</ListMultipartUploadsResult>".encode())


async def test_all_pages_of_unfinished_uploads_are_read() -> None:
    def paged(request: Request) -> Answer:
        if request.query.get("key-marker") == "b" and request.query.get("upload-id-marker") == "id-b":
            return uploads_page("c", more="<IsTruncated>false</IsTruncated>")
        markers = "<NextKeyMarker>b</NextKeyMarker><NextUploadIdMarker>id-b</NextUploadIdMarker>"
        return uploads_page("a", "b", more=f"<IsTruncated>true</IsTruncated>{markers}")

    async with scripted(paged) as (endpoint, _):
        found = await uploads_of(store_at(endpoint))
    assert [(upload.key, upload.upload_id) for upload in found] == [("a", "id-a"), ("b", "id-b"), ("c", "id-c")]


async def test_all_pages_of_objects_are_read() -> None:
    def paged(request: Request) -> Answer:
        if request.query.get("continuation-token") == "the/rest+":
            return objects_page("b", more="<IsTruncated>false</IsTruncated>")
        return objects_page(
            "a", more="<IsTruncated>true</IsTruncated><NextContinuationToken>the/rest+</NextContinuationToken>"
        )

    async with scripted(paged) as (endpoint, _):
        assert await keys_of(store_at(endpoint)) == ["a", "b"]


MARKERS = ("NextContinuationToken", "NextKeyMarker", "NextUploadIdMarker")
NO_END = {
    "nothing said": "",
    "more, but not where": "<IsTruncated>true</IsTruncated>",
    "the same page for ever": "<IsTruncated>true</IsTruncated>" + "".join(f"<{name}>x</{name}>" for name in MARKERS),
}


@pytest.mark.parametrize("more", NO_END.values(), ids=NO_END)
async def test_a_listing_without_an_end_is_not_complete(more: str) -> None:
    def endless(request: Request) -> Answer:
        return (uploads_page if "uploads" in request.query else objects_page)("a", more=more)

    async with scripted(endless) as (endpoint, _):
        for listing in (keys_of, uploads_of):
            with pytest.raises(StoreLied):
                await listing(store_at(endpoint))


@pytest.mark.parametrize("page", [b"", b"<html>Welcome to the hotel's network", b"<html></html>", b"\xff"])
async def test_a_web_page_is_not_an_empty_bucket(page: bytes) -> None:
    async with scripted(lambda _: Answer(200, page)) as (endpoint, _):
        store = store_at(endpoint)
        for question in (keys_of(store), uploads_of(store), store.ping()):
            with pytest.raises(StoreLied, match="does not answer as S3 does"):
                await question


@pytest.mark.parametrize(
    "entry",
    [
        "<Size>1</Size><LastModified>2026-11-15T08:00:00Z</LastModified>",
        "<Key>a</Key><Size>many</Size><LastModified>2026-11-15T08:00:00Z</LastModified>",
        "<Key>a</Key><Size>1</Size><LastModified>yesterday</LastModified>",
    ],
)
async def test_an_entry_that_makes_no_sense_fails_the_listing(entry: str) -> None:
    more = f"<Contents>{entry}</Contents><IsTruncated>false</IsTruncated>"
    async with scripted(lambda _: objects_page("honest", more=more)) as (endpoint, _):
        with pytest.raises(StoreLied):
            await keys_of(store_at(endpoint))
