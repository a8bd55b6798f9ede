"""The requests to a bucket that obstore does not make: is it there, make it, which uploads are unfinished, abort one.

They are rare and small, so the standard library sends them, from a thread. Here HTTP status codes are at hand, which
obstore hides in text; the S3 store therefore also asks here what a failure means.
"""

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from xml.etree import ElementTree

from codehub import clock
from codehub.archives.errors import StoreLied, StoreRefused, StoreUnreachable
from codehub.archives.sigv4 import Credentials, canonical_path, canonical_query, signed_headers

_TIMEOUT_SECONDS = 10.0
_ANSWER_BYTES = 16 * 1024 * 1024  # a page of 1,000 uploads has less than 2 MiB
_TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where a bucket is and who asks: endpoint and name give its URL in path style, which every store understands."""

    endpoint: str
    name: str
    credentials: Credentials

    async def check(self) -> None:
        """Raise unless the bucket is there, lets us in and answers: the meaning of a failure that had none."""
        status, answer = await self._send("GET", "", {"list-type": "2", "max-keys": "1"})
        self._expect(status, answer, 200)

    async def make(self) -> None:
        """Make the bucket unless it is there.

        Somebody else may do so at the same time; what counts is the last check.
        """
        status, answer = await self._send("GET", "", {"list-type": "2", "max-keys": "1"})
        if status == 404:
            status, answer = await self._send("PUT", "", {})
            if status != 409:
                self._expect(status, answer, 200)
        await self.check()

    async def uploads(self, prefix: str) -> list[tuple[str, str, datetime]]:
        """Key, upload id and beginning of every unfinished upload; all pages, or raising."""
        query = {"uploads": "", "prefix": prefix}
        found: list[tuple[str, str, datetime]] = []
        while True:
            status, answer = await self._send("GET", "", query)
            self._expect(status, answer, 200)
            page = _parse(answer)
            found += [_upload(element) for element in page.iterfind("{*}Upload")]
            if _text(page, "IsTruncated") != "true":
                return found
            query |= {"key-marker": _text(page, "NextKeyMarker"), "upload-id-marker": _text(page, "NextUploadIdMarker")}

    async def abort(self, key: str, upload_id: str) -> None:
        """End an upload and free its parts; one that is over already is success."""
        status, answer = await self._send("DELETE", key, {"uploadId": upload_id})
        if _code(answer) != "NoSuchUpload":
            self._expect(status, answer, 204)

    async def _send(self, method: str, key: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        return await asyncio.to_thread(self._send_blocking, method, key, query)

    def _send_blocking(self, method: str, key: str, query: Mapping[str, str]) -> tuple[int, bytes]:
        base = urlsplit(self.endpoint)
        path = f"{base.path.rstrip('/')}/{self.name}" + (f"/{key}" if key else "")
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
        said = f"{status} {_code(answer)}".strip()
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


def _parse(answer: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(answer)  # noqa: S314  # from the operator's own store, of bounded size
    except ElementTree.ParseError as error:
        raise StoreLied(f"The archive store answers in something that is not XML ({error}).") from error


def _upload(element: ElementTree.Element) -> tuple[str, str, datetime]:
    begun = _text(element, "Initiated")
    try:
        return _text(element, "Key"), _text(element, "UploadId"), datetime.fromisoformat(begun)
    except ValueError as error:
        raise StoreLied(f"The archive store says that an upload began at {begun!r}, which is no time.") from error


def _text(element: ElementTree.Element, name: str) -> str:
    text = element.findtext(f"{{*}}{name}")
    if text is None:
        raise StoreLied(f"The archive store's list of unfinished uploads lacks {name}.")
    return text


def _code(answer: bytes) -> str:
    """The error code of an answer, such as NoSuchBucket; empty if it has none."""
    try:
        return _parse(answer).findtext("{*}Code", default="")
    except StoreLied:
        return ""
