"""Archives in S3 or a compatible store: objects travel through obstore, listings come from `s3_requests`."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store as Client

from codehub.archives.errors import (
    AlreadyExists,
    ObjectNotFound,
    StoreLied,
    StoreRefused,
    StoreUnreachable,
    UploadBroken,
)
from codehub.archives.keys import check_key, is_legal, split_prefix
from codehub.archives.lend import lend_urls
from codehub.archives.object_store import Loan, ObjectInfo, UnfinishedUpload, Upload, clip_range
from codehub.archives.probe import try_to_write
from codehub.archives.s3_requests import Bucket
from codehub.job.order import S3Place

if TYPE_CHECKING:  # obstore has these names for type checkers only
    from obstore import AsyncWritableFile, GetOptions, ObjectMeta
    from obstore.store import S3Credential

_CHUNK_BYTES = 1024 * 1024
_PART_BYTES = 16 * 1024 * 1024  # S3 allows 10,000 parts: archives of up to 156 GiB
_PARTS_AT_ONCE = 4  # with the part being filled 80 MiB per upload; more did not help on the stores measured
_STALLED = timedelta(seconds=60)  # without a byte for so long, a connection is given up


class S3Store:
    """Objects below a prefix of one bucket; see ObjectStore."""

    def __init__(self, bucket: Bucket, prefix: str) -> None:
        """`prefix` is empty or ends with a slash."""
        self._bucket = bucket
        self._prefix = prefix
        self._client = _client(bucket)

    async def put(self, key: str, data: bytes) -> None:
        async with self.explained(key):
            await self._client.put_async(self._path(key), data, use_multipart=False)

    async def create(self, key: str, data: bytes) -> None:
        async with self.explained(key):
            await self._client.put_async(self._path(key), data, mode="create", use_multipart=False)

    async def head(self, key: str) -> ObjectInfo | None:
        try:
            async with self.explained(key):
                return _info(key, await self._client.head_async(self._path(key)))
        except ObjectNotFound:
            return None

    async def read(self, key: str, start: int = 0, length: int | None = None) -> AsyncGenerator[bytes, None]:
        options: GetOptions = {}
        if start or length is not None:
            info = await self.head(key)
            if info is None:
                raise ObjectNotFound(f"There is no object {key} in the archive store.")
            first, end = clip_range(key, info.size, start, length)
            if first == end:  # S3 knows no empty range
                return
            options = {"range": (first, end), "if_match": info.etag or None}
        async with self.explained(key):
            result = await self._client.get_async(self._path(key), options=options)
            left = result.range[1] - result.range[0]
            async for piece in result.stream(min_chunk_size=_CHUNK_BYTES):
                left -= len(piece)
                yield bytes(piece)
        if left:
            raise StoreLied(f"The archive store did not send as many bytes of {key} as it had announced.")

    async def list(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        split_prefix(prefix)
        async for found in self._bucket.objects(self._prefix + prefix):
            info = replace(found, key=found.key.removeprefix(self._prefix))
            if is_legal(info.key):
                yield info

    async def delete(self, key: str) -> None:
        with suppress(ObjectNotFound):
            async with self.explained(key):
                await self._client.delete_async(self._path(key))

    @asynccontextmanager
    async def upload(self, key: str) -> AsyncIterator[Upload]:
        path = self._path(key)
        writer = obstore.open_writer_async(self._client, path, buffer_size=_PART_BYTES, max_concurrency=_PARTS_AT_ONCE)
        upload = _S3Upload(self, key, writer)
        try:
            yield upload
        finally:
            if not upload.completed:
                # Leaving obstore's writer with an error is its way to abort. What cannot be aborted now stays listed as
                # unfinished; it must hide no other error.
                with suppress(BaseError, OSError):
                    await writer.__aexit__(UploadBroken, None, None)

    async def unfinished(self, prefix: str = "") -> AsyncIterator[UnfinishedUpload]:
        split_prefix(prefix)
        async for found in self._bucket.uploads(self._prefix + prefix):
            upload = replace(found, key=found.key.removeprefix(self._prefix))
            if is_legal(upload.key):
                yield upload

    async def discard(self, upload: UnfinishedUpload) -> None:
        await self._bucket.abort(self._path(upload.key), upload.upload_id)

    @property
    def address(self) -> tuple[str, int]:
        return self._bucket.address

    async def lend(self, key: str, loan: Loan) -> S3Place:
        return await lend_urls(self._bucket, self._path(key), loan)

    async def ping(self) -> None:
        await self._bucket.check()

    async def require_room(self) -> None:
        await try_to_write(self)

    def _path(self, key: str) -> str:
        path = self._prefix + key
        check_key(path)
        return path

    @asynccontextmanager
    async def explained(self, key: str) -> AsyncIterator[None]:
        """Map obstore's errors.

        They rarely say whether the key, the bucket or the connection is at fault (a HEAD of a missing bucket is a plain
        404), so the bucket is asked first: what is wrong with it explains the rest.
        """
        try:
            yield
        except AlreadyExistsError as error:
            raise AlreadyExists(f"There is already an object {key}.") from error
        except FileNotFoundError as error:
            await self._bucket.check()
            raise ObjectNotFound(f"There is no object {key} in the archive store.") from error
        except (PermissionDeniedError, UnauthenticatedError) as error:
            await self._bucket.check()
            raise StoreRefused(f"The archive store refuses {key} ({_first_line(error)}).") from error
        except (BaseError, OSError) as error:  # obstore's writers say OSError where its other calls say BaseError
            await self._bucket.check()
            raise StoreUnreachable(f"The archive store fails at {key or 'its root'} ({_first_line(error)}).") from error


class _S3Upload:
    def __init__(self, store: S3Store, key: str, writer: "AsyncWritableFile") -> None:
        self._store = store
        self._key = key
        self._writer = writer
        self._whole = True
        self._size = 0
        self.completed = False

    async def write(self, data: bytes) -> None:
        whole, self._whole = self._whole, False
        async with self._store.explained(self._key):
            await self._writer.write(data)
        self._size += len(data)
        self._whole = whole

    async def complete(self) -> ObjectInfo:
        if not self._whole:
            raise UploadBroken(f"The upload of {self._key} is over, or one of its writes failed or was cut short.")
        self._whole = False
        try:
            async with self._store.explained(self._key):
                await self._writer.close()
        except ObjectNotFound as error:
            raise UploadBroken(f"The upload of {self._key} was discarded while it was being written.") from error
        self.completed = True
        info = await self._store.head(self._key)
        if info is None or info.size != self._size:
            raise StoreLied(f"The archive store took {self._size} bytes of {self._key} and shows {info and info.size}.")
        return info


def _info(key: str, meta: "ObjectMeta") -> ObjectInfo:
    return ObjectInfo(key, meta["size"], meta["e_tag"] or "", meta["last_modified"])


def _client(bucket: Bucket) -> Client:
    """Every setting that matters is given, since obstore fills each gap from AWS_* variables meant for other tools."""

    def credentials() -> "S3Credential":
        """Given by a function: plain values would be mixed with an AWS_SESSION_TOKEN."""
        by = bucket.credentials
        return {"access_key_id": by.access_key_id, "secret_access_key": by.secret_access_key, "expires_at": None}

    return Client(
        bucket.name,
        endpoint=bucket.endpoint,
        aws_endpoint_url_s3=bucket.endpoint,
        region=bucket.credentials.region,
        credential_provider=credentials,
        virtual_hosted_style_request=False,
        s3_express=False,
        skip_signature=False,
        unsigned_payload=False,
        conditional_put="etag",
        disable_bulk_delete=True,  # the bulk call is missing in some compatible stores, and we delete one by one
        client_options={
            "allow_http": bucket.endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=5),
            "read_timeout": _STALLED,
            "timeout": timedelta(days=1),  # of a whole download, which may be large; stalls are found by read_timeout
        },
        retry_config={"max_retries": 3, "retry_timeout": _STALLED},
    )


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
