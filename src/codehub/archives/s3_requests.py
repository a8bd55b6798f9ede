"""The requests to a bucket that obstore does not make, or not strictly enough.

It cannot list or abort unfinished uploads, nor make a bucket. Its listing of objects ends in silence where a store says
that there is more but not how to get it, and takes a web page for an empty bucket; nobody may act on such an end
(contract 9). And it hides HTTP status codes in text, so the S3 store asks here what a failure means.

These requests are small: the standard library sends them, from a thread, once.
"""

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from codehub import clock
from codehub.archives.errors import StoreLied, StoreRefused, StoreUnreachable
from codehub.archives.object_store import ObjectInfo, UnfinishedUpload
from codehub.archives.s3_answers import error_code, parse_object, parse_page, parse_upload, text
from codehub.archives.sigv4 import Credentials, canonical_path, canonical_query, signed_headers

_TIMEOUT_SECONDS = 10.0
_ANSWER_BYTES = 16 * 1024 * 1024  # a page of 1,000 keys has less than 2 MiB
_TOO_MANY_REQUESTS = 429
_PORTS = {"http": 80, "https": 443}
_OBJECTS = {"list-type": "2"}
_OBJECTS_PAGE = "ListBucketResult"
_UPLOADS_PAGE = "ListMultipartUploadsResult"


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a bucket is and who asks: endpoint and name give its URL in path style, which every store understands."""

    endpoint: str
    name: str
    credentials: Credentials

    @property
    def address(self) -> tuple[str, int]:
        base = urlsplit(self.endpoint)
        return base.hostname or "", base.port or _PORTS[base.scheme]

    async def check(self) -> None:
        """Raise unless the bucket is there, lets us in and answers: the meaning of a failure that had none."""
        await self._page(_OBJECTS | {"max-keys": "1"}, _OBJECTS_PAGE)

    async def make(self) -> None:
        """Make the bucket unless it is there. Others may do so at the same time; what counts is the last check."""
        status, _ = await self._send("GET", "", _OBJECTS | {"max-keys": "1"})
        if status == 404:
            status, answer = await self._send("PUT", "", {})
            if status != 409:
                self._expect(status, answer, 200)
        await self.check()

    async def objects(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Every object whose path begins with the prefix; all pages, or raising."""
        markers = {"continuation-token": "NextContinuationToken"}
        async for page in self._pages(_OBJECTS | {"prefix": prefix}, _OBJECTS_PAGE, markers):
            for element in page.iterfind("{*}Contents"):
                yield parse_object(element)

    async def uploads(self, prefix: str) -> AsyncIterator[UnfinishedUpload]:
        """Every unfinished upload whose path begins with the prefix; all pages, or raising."""
        markers = {"key-marker": "NextKeyMarker", "upload-id-marker": "NextUploadIdMarker"}
        async for page in self._pages({"uploads": "", "prefix": prefix}, _UPLOADS_PAGE, markers):
            for element in page.iterfind("{*}Upload"):
                yield parse_upload(element)

    async def begin(self, path: str) -> str:
        """Begin an upload of parts; its id."""
        status, answer = await self._send("POST", path, {"uploads": ""})
        self._expect(status, answer, 200)
        return text(parse_page(answer, "InitiateMultipartUploadResult"), "UploadId")

    async def abort(self, path: str, upload_id: str) -> None:
        """End an upload and free its parts; one that is over already is success."""
        status, answer = await self._send("DELETE", path, {"uploadId": upload_id})
        if error_code(answer) != "NoSuchUpload":
            self._expect(status, answer, 204)

    async def _pages(self, query: Mapping[str, str], kind: str, markers: Mapping[str, str]) -> AsyncIterator[Element]:
        """Page after page, until one says that it is the last. One that does not say how to go on is a lie."""
        reached: dict[str, str] = {}
        while True:
            page = await self._page({**query, **reached}, kind)
            yield page
            if text(page, "IsTruncated") == "false":
                return
            following = {name: text(page, element) for name, element in markers.items()}
            if following == reached:
                raise StoreLied(f"The archive store {self.endpoint} lists the same page again and again.")
            reached = following

    async def _page(self, query: Mapping[str, str], kind: str) -> Element:
        status, answer = await self._send("GET", "", query)
        self._expect(status, answer, 200)
        return parse_page(answer, kind)

    async def _send(self, method: str, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        return await asyncio.to_thread(self._send_blocking, method, path, query)

    def _send_blocking(self, method: str, path: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        base = urlsplit(self.endpoint)
        path = f"{base.path}/{self.name}" + (f"/{path}" if path else "")
        headers = signed_headers(method, base.netloc, path, query, by=self.credentials, at=clock.now())
        url = f"{base.scheme}://{base.netloc}{canonical_path(path)}?{canonical_query(query)}"
        request = urllib.request.Request(url, method=method, headers=headers)  # noqa: S310  # http(s) only, see `open`
        try:
            try:
                response = _OPENER.open(request, timeout=_TIMEOUT_SECONDS)
            except urllib.error.HTTPError as error:  # an answer like any other
                response = error
            with response:
                return response.status, response.read(_ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise StoreUnreachable(f"The archive store {self.endpoint} does not answer ({reason}).") from error

    def _expect(self, status: int, answer: bytes, wanted: int) -> None:
        if status == wanted:
            return
        said = f"{status} {error_code(answer)}".strip()
        if status >= 500 or status == _TOO_MANY_REQUESTS:
            raise StoreUnreachable(f"The archive store {self.endpoint} fails ({said}).")
        if status == 404:
            raise StoreRefused(f"The bucket {self.name} does not exist at {self.endpoint} ({said}).", "Create it.")
        raise StoreRefused(
            f"The archive store {self.endpoint} refuses the bucket {self.name} ({said}).",
            "Check ARCHIVE_S3_ACCESS_KEY_ID, ARCHIVE_S3_SECRET_ACCESS_KEY and ARCHIVE_S3_REGION.",
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A signature holds for one host and path; following a redirect would show it to another, in vain."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects())
