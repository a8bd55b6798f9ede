"""Send a request to the store that a presigned URL names, three times over if need be.

Straight or through a unix socket: the URL says whom we speak to, the socket only how to get there.
"""

import http.client
import queue
import socket
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from codehub.job.faults import JobFault, TryAgain

_STALLED_SECONDS = 60.0  # without a byte for so long, a connection is given up
_ANSWER_BYTES = 1024 * 1024
_PASSING = {408, 429, 500, 502, 503, 504}
_NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class StoreClient:
    """For several threads: each request has a connection to itself, and gives it back for the next."""

    def __init__(self, socket_path: str | None, retry_waits: Sequence[float]) -> None:
        self._socket_path = socket_path
        self._retry_waits = retry_waits
        self._idle: queue.LifoQueue[_Connection] = queue.LifoQueue()

    def request(self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] = _NOTHING) -> Answer:
        """The store's answer, whatever it is, as long as it is one. Raises TryAgain when there was none three times."""
        for wait in (*self._retry_waits, None):
            try:
                with self.exchange(method, url, body, headers) as response:
                    answer = Answer(response.status, response.headers, response.read(_ANSWER_BYTES))
                if answer.status not in _PASSING:
                    return answer
                fault = TryAgain(f"The archive store fails (status {answer.status}).")
            except (OSError, http.client.HTTPException) as error:
                fault = no_answer(error)
            if wait is None:
                raise fault
            time.sleep(wait)
        raise AssertionError("the last try ends the loop")

    @contextmanager
    def exchange(
        self, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] = _NOTHING
    ) -> Iterator[http.client.HTTPResponse]:
        """One request, sent once; its answer can be read as long as the block lasts."""
        parts = urlsplit(url)
        connection = self._connection(parts)
        try:
            connection.request(method, f"{parts.path}?{parts.query}", body or None, {"Host": parts.netloc, **headers})
            response = connection.getresponse()
            yield response
        except BaseException:
            connection.close()
            raise
        if response.isclosed() and connection.sock is not None:
            self._idle.put(connection)
        else:
            connection.close()

    def close(self) -> None:
        while not self._idle.empty():
            self._idle.get().close()

    def _connection(self, parts: SplitResult) -> "_Connection":
        try:
            connection = self._idle.get_nowait()
        except queue.Empty:
            return _Connection(parts, self._socket_path)
        if connection.is_usable():
            return connection
        connection.close()
        return _Connection(parts, self._socket_path)


class _Connection(http.client.HTTPConnection):
    """All URLs of an order name one host, so a connection serves for each."""

    def __init__(self, parts: SplitResult, socket_path: str | None) -> None:
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise JobFault("The order has an URL that is none.")
        self._socket_path = socket_path
        self._is_secure = parts.scheme == "https"
        super().__init__(parts.hostname, parts.port or (443 if self._is_secure else 80), timeout=_STALLED_SECONDS)

    def connect(self) -> None:
        if self._socket_path is None:
            super().connect()
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(_STALLED_SECONDS)
            self.sock.connect(self._socket_path)
        if self._is_secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)

    def is_usable(self) -> bool:
        """Whether the other side has neither closed it meanwhile nor said something that nobody asked for."""
        self.sock.setblocking(False)
        try:
            self.sock.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            self.sock.settimeout(_STALLED_SECONDS)
            return True
        except OSError:
            return False
        return False


def no_answer(error: Exception) -> TryAgain:
    return TryAgain(f"The archive store does not answer ({type(error).__name__}: {error}).")
