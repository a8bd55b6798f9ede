"""From ARCHIVE_URL to a store."""

import re
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from codehub.archives.directory import DirectoryStore
from codehub.archives.errors import InvalidKey, StoreRefused
from codehub.archives.keys import check_key
from codehub.archives.object_store import ObjectStore
from codehub.archives.s3 import S3Store
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials
from codehub.errors import ConfigurationError

_BUCKET_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_REGION = "us-east-1"  # what compatible stores expect where nobody has named one


def open_store(
    url: str,
    *,
    s3_endpoint: str | None = None,
    s3_region: str | None = None,
    s3_access_key_id: str | None = None,
    s3_secret_access_key: str | None = None,
) -> ObjectStore:
    """The store that ARCHIVE_URL names. Connects to nothing: a store that is down is found by its first use.

    Raises ConfigurationError for a URL or setting that can never work.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return DirectoryStore(_folder(parts))
    return S3Store(_bucket(parts, s3_endpoint, s3_region, s3_access_key_id, s3_secret_access_key), _prefix(parts))


async def ensure_bucket(
    url: str,
    *,
    s3_endpoint: str | None = None,
    s3_region: str | None = None,
    s3_access_key_id: str | None = None,
    s3_secret_access_key: str | None = None,
) -> None:
    """Make the bucket or folder unless it is there. For the embedded store only.

    A store that an operator names must exist already: made in its place, an empty one would hide that the disk is not
    mounted or the name misspelt, and every home would seem lost.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        folder = _folder(parts)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreRefused(f"The archive folder {folder} cannot be made ({error.strerror}).") from error
    else:
        await _bucket(parts, s3_endpoint, s3_region, s3_access_key_id, s3_secret_access_key).make()


def _folder(parts: SplitResult) -> Path:
    folder = Path(unquote(parts.path))
    if parts.netloc or parts.query or parts.fragment or not folder.is_absolute() or folder == Path("/"):
        raise ConfigurationError(
            f"ARCHIVE_URL={parts.geturl()} names no folder.", "A directory store is written file:///absolute/path."
        )
    return folder


def _bucket(
    parts: SplitResult, endpoint: str | None, region: str | None, key_id: str | None, secret: str | None
) -> Bucket:
    if parts.scheme != "s3" or parts.query or parts.fragment or not _BUCKET_NAME.fullmatch(parts.netloc):
        raise ConfigurationError(
            f"ARCHIVE_URL={_without_password(parts)} names no archive store.",
            "Allowed are file:///absolute/path and s3://bucket/prefix, with a bucket name of 3 to 63 small letters, "
            "digits, dots and dashes.",
        )
    if not key_id or not secret:
        raise ConfigurationError(
            f"ARCHIVE_URL={parts.geturl()} needs credentials.",
            "Set ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY.",
        )
    region = region or _REGION
    return Bucket(_endpoint(endpoint, region), parts.netloc, Credentials(key_id, secret, region))


def _endpoint(endpoint: str | None, region: str) -> str:
    if not endpoint:
        return f"https://s3.{region}.amazonaws.com"
    parts = urlsplit(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ConfigurationError(
            f"ARCHIVE_S3_ENDPOINT={_without_password(parts)} is no address of a store.",
            "Allowed is http://host:port or https://host:port, without credentials.",
        )
    return endpoint.rstrip("/")


def _prefix(parts: SplitResult) -> str:
    prefix = unquote(parts.path).strip("/")
    try:
        return "/".join(check_key(prefix)) + "/" if prefix else ""
    except InvalidKey as error:
        raise ConfigurationError(f"The prefix in ARCHIVE_URL={parts.geturl()} cannot be used.", str(error)) from error


def _without_password(parts: SplitResult) -> str:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
