"""The archive in S3, by presigned URLs: whoever holds them can touch this one archive and nothing else."""

import http.client
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from codehub.job.faults import JobFault, Missing, TryAgain
from codehub.job.marker import MARKER_BYTES
from codehub.job.order import Parts, S3Place
from codehub.job.store_client import Answer, StoreClient, no_answer

_CHUNK_BYTES = 1024 * 1024
_IN_FLIGHT_BYTES = 48 * 1024 * 1024  # of parts on their way, beside the one that is being filled
_AT_ONCE = 4
_ONLY_IF_ABSENT = {"If-None-Match": "*"}


class S3:
    """See Place."""

    def __init__(self, place: S3Place) -> None:
        self._place = place
        self._client = StoreClient(place.socket, place.retry_waits)

    def size(self) -> int | None:
        answer = self._client.request("HEAD", self._place.head)
        if answer.status == 404:
            return None
        _expect(answer, 200)
        return int(answer.headers["Content-Length"])

    def marker(self) -> bytes | None:
        answer = self._client.request("GET", self._place.get_marker)
        if answer.status == 404:
            return None
        _expect(answer, 200)
        return answer.body[:MARKER_BYTES]

    def create_marker(self, data: bytes) -> None:
        if self._place.put_marker is None:
            raise JobFault("The order has no URL to write a marker to.")
        answer = self._client.request("PUT", self._place.put_marker, data, _ONLY_IF_ABSENT)
        _expect(answer, 200, 412)

    def read(self) -> Iterator[bytes]:
        """What a broken connection has left out is asked for again, from there on, and of the same object."""
        reached, etag, left = 0, "", 1
        waits = iter(self._place.retry_waits)
        while left:
            try:
                with self._ask(reached, etag) as response:
                    etag, left = response.headers.get("ETag", ""), int(response.headers["Content-Length"])
                    while piece := response.read(_CHUNK_BYTES):
                        reached, left = reached + len(piece), left - len(piece)
                        waits = iter(self._place.retry_waits)
                        yield piece
                fault = no_answer(EOFError("an early end"))
            except (OSError, http.client.HTTPException) as error:
                fault = no_answer(error)
            if left:
                _wait(waits, fault)

    @contextmanager
    def upload(self) -> Iterator["_Upload"]:
        if self._place.parts is None:
            raise JobFault("The order has no URLs to upload to.")
        at_once = max(1, min(_AT_ONCE, _IN_FLIGHT_BYTES // self._place.parts.part_bytes))
        with ThreadPoolExecutor(at_once) as pool:
            upload = _Upload(self, self._client, self._place.parts, pool, at_once)
            try:
                yield upload
            finally:
                pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _ask(self, reached: int, etag: str) -> Iterator[http.client.HTTPResponse]:
        headers = {"Range": f"bytes={reached}-"} | ({"If-Match": etag} if etag else {}) if reached else {}
        with self._client.exchange("GET", self._place.get, headers=headers) as response:
            if response.status in {404, 412}:
                raise Missing("The archive is not there, or another one has taken its place.")
            if response.status >= 500 or response.status == 429:
                raise http.client.HTTPException(f"status {response.status}")
            if response.status != (206 if reached else 200):
                raise JobFault(f"The archive store refuses (status {response.status}).")
            if reached and not response.headers.get("Content-Range", "").startswith(f"bytes {reached}-"):
                raise JobFault("The archive store sends another range than was asked for.")
            yield response


class _Upload:
    """Parts are sent while the next one is filled; as many as fit into bounded memory, and no more."""

    def __init__(self, place: S3, client: StoreClient, parts: Parts, pool: ThreadPoolExecutor, at_once: int) -> None:
        self._place = place
        self._client = client
        self._parts = parts
        self._pool = pool
        self._room = threading.Semaphore(at_once)
        self._filling = bytearray()
        self._sent: list[Future[str]] = []
        self._size = 0
        self._fault: JobFault | None = None

    def write(self, data: bytes) -> None:
        self._size += len(data)
        self._filling += data
        while len(self._filling) >= self._parts.part_bytes:
            part = bytes(memoryview(self._filling)[: self._parts.part_bytes])
            del self._filling[: self._parts.part_bytes]
            self._send(part)

    def complete(self) -> None:
        if self._filling or not self._sent:
            self._send(bytes(self._filling))
        etags = [sent.result() for sent in self._sent]
        body = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(etag)}</ETag></Part>"
            for number, etag in enumerate(etags, start=1)
        )
        document = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>".encode()
        answer = self._client.request("POST", self._parts.complete, document)
        # Where the answer to a first attempt was lost, the upload is over at the second: the object itself tells.
        if answer.status != 404 and not (answer.status == 200 and _is_completed(answer.body)):
            raise _refused(answer)
        shown = self._place.size()
        if shown != self._size:
            raise TryAgain(f"The archive store took {self._size} bytes and shows {shown}.")

    def _send(self, part: bytes) -> None:
        number = len(self._sent)
        if number == len(self._parts.put):
            raise TryAgain(f"The archive has more than the {number} parts that were ordered; it needs another order.")
        self._room.acquire()
        if self._fault is not None:
            raise self._fault
        self._sent.append(self._pool.submit(self._put, self._parts.put[number], part))

    def _put(self, url: str, part: bytes) -> str:
        try:
            answer = self._client.request("PUT", url, part)
            _expect(answer, 200)
        except JobFault as fault:
            self._fault = fault
            raise
        finally:
            self._room.release()
        return answer.headers["ETag"]


def _wait(waits: Iterator[float], fault: TryAgain) -> None:
    wait = next(waits, None)
    if wait is None:
        raise fault
    time.sleep(wait)


def _is_completed(body: bytes) -> bool:
    """S3 may say 200 first and the error later, in the body."""
    try:
        return ElementTree.fromstring(body).tag.rpartition("}")[2] == "CompleteMultipartUploadResult"  # noqa: S314
    except ElementTree.ParseError:
        return False


def _expect(answer: Answer, *wanted: int) -> None:
    if answer.status not in wanted:
        raise _refused(answer)


def _refused(answer: Answer) -> JobFault:
    """404 is an upload that is over, which a new order mends; the rest needs a person."""
    said = f"status {answer.status}, {answer.body[:300].decode(errors='replace')!r}"
    fault = TryAgain if answer.status in {200, 404} else JobFault
    return fault(f"The archive store refuses ({said}).")
