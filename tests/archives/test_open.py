"""From ARCHIVE_URL to a store, or to a sentence that says what is allowed."""

import asyncio
import hashlib
import uuid
from pathlib import Path

import pytest

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import StoreRefused
from codehub.archives.open import ensure_bucket, open_store
from codehub.archives.s3 import S3Store
from codehub.errors import ConfigurationError, ExitCode
from codehub.stack.seaweedfs import SeaweedFS
from tests.archives.scripted_s3 import Answer, scripted
from tests.contracts.object_store_reads import keys_of

KEYS = {"s3_access_key_id": "someone", "s3_secret_access_key": "secret"}


def test_the_url_chooses_the_store() -> None:
    assert isinstance(open_store("file:///var/lib/archives"), DirectoryStore)
    assert isinstance(open_store("s3://bucket", **KEYS), S3Store)
    assert isinstance(open_store("s3://bucket/a/prefix/", s3_endpoint="http://localhost:9000/", **KEYS), S3Store)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/var/lib/archives",
        "file://host/path",
        "file://relative",
        "file:///",
        "http://bucket",
        "gs://bucket",
        "s3:///prefix",
        "s3://ab",
        "s3://UPPER",
        "s3://bucket?x=y",
        "s3://bucket/a/../b",
        "s3://bucket/a//b",
    ],
)
def test_any_other_url_is_a_sentence(url: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        open_store(url, **KEYS)
    assert "ARCHIVE_URL" in refusal.value.what
    assert refusal.value.remedy
    assert refusal.value.exit_code == ExitCode.CONFIGURATION


@pytest.mark.parametrize("missing", KEYS)
def test_s3_needs_credentials(missing: str) -> None:
    with pytest.raises(ConfigurationError, match="ARCHIVE_S3_SECRET_ACCESS_KEY"):
        open_store("s3://bucket", **(KEYS | {missing: ""}))


@pytest.mark.parametrize("endpoint", ["localhost:9000", "ftp://host", "https://", "http://user:password@host"])
def test_an_endpoint_is_an_http_address_without_credentials(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match="ARCHIVE_S3_ENDPOINT") as refusal:
        open_store("s3://bucket", s3_endpoint=endpoint, **KEYS)
    assert "password" not in str(refusal.value)


def test_a_password_in_the_url_is_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        open_store("s3://someone:password@bucket", **KEYS)
    assert "password" not in str(refusal.value)


async def test_a_missing_folder_is_made_private(tmp_path: Path) -> None:
    folder = tmp_path / "with space" / "archives"
    await ensure_bucket(folder.as_uri())
    await ensure_bucket(folder.as_uri())
    assert folder.stat().st_mode & 0o777 == 0o700
    store = open_store(folder.as_uri())
    await store.put("key", b"data")
    assert (folder / "key").read_bytes() == b"data"
    assert await keys_of(store) == ["key"]


async def test_the_environment_of_other_tools_neither_redirects_nor_weakens(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:2",
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:2",
        "AWS_BUCKET": "another",
        "AWS_REGION": "another",
        "AWS_ACCESS_KEY_ID": "another",
        "AWS_SESSION_TOKEN": "another",
        "AWS_SKIP_SIGNATURE": "true",
        "AWS_UNSIGNED_PAYLOAD": "true",
        "AWS_S3_EXPRESS": "true",
        "AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true",
        "AWS_CONDITIONAL_PUT": "disabled",
    }.items():
        monkeypatch.setenv(variable, value)
    async with scripted(lambda _: Answer(200)) as (endpoint, requests):
        await open_store("s3://bucket", s3_endpoint=endpoint, **KEYS).create("key", b"data")
    (request,) = requests
    assert request.path == "/bucket/key"
    assert "Credential=someone/" in request.headers["authorization"]
    assert "/us-east-1/s3/" in request.headers["authorization"]
    assert "x-amz-security-token" not in request.headers
    assert request.headers["x-amz-content-sha256"] == hashlib.sha256(b"data").hexdigest()
    assert request.headers["if-none-match"] == "*"


async def test_a_missing_bucket_is_made_once_whoever_comes_first(s3_server: SeaweedFS) -> None:
    options = {
        "s3_endpoint": s3_server.endpoint,
        "s3_access_key_id": s3_server.access_key,
        "s3_secret_access_key": s3_server.secret_key,
    }
    url = f"s3://made-{uuid.uuid4().hex}"
    with pytest.raises(StoreRefused):
        await open_store(url, **options).ping()
    await asyncio.gather(*(ensure_bucket(url, **options) for _ in range(4)))
    await open_store(url, **options).ping()
