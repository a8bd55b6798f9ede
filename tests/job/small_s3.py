"""A store in this process that speaks as much S3 as a job does, over real sockets; what it answers can be replaced.

The suite in test_s3_place.py holds it against a real store.
"""

import hashlib
import socketserver
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from codehub.job.order import Parts, S3Place
from tests.archives.scripted_s3 import Answer, Request
from tests.certificates import Certificate

ARCHIVE, MARKER = "/bucket/home.tar.zst", "/bucket/home.tar.zst.meta"
DONE = b"<CompleteMultipartUploadResult xmlns='http://s3'></CompleteMultipartUploadResult>"
CUT = Answer(0)
"""No answer at all: the connection is closed instead."""
Lie = Callable[[Request], Answer | None]


@dataclass
class SmallS3:
    """`lies` are asked first, each until it has answered once; who has none to tell says None."""

    objects: dict[str, bytes] = field(default_factory=dict)
    parts: dict[int, bytes] = field(default_factory=dict)
    is_open: bool = True
    """Whether its one upload can still be completed."""
    lies: list[Lie] = field(default_factory=list)
    seen: deque[Request] = field(default_factory=deque)
    connections: int = 0
    address: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Answer:
        with self.lock:
            self.seen.append(request)
            for lie in self.lies:
                if (told := lie(request)) is not None:
                    self.lies.remove(lie)
                    return told
            return _TRUTHS[request.method](self, request)

    def lie(self, method: str, path: str, *answers: Answer) -> None:
        """Answer the next such requests so, in this order."""

        def lie(told: Answer) -> Lie:
            return lambda request: told if (request.method, request.path) == (method, path) else None

        self.lies += map(lie, answers)

    def place(self, *, part_bytes: int = 1000, parts: int = 100, retry_waits: tuple[float, ...] = (0, 0, 0)) -> S3Place:
        return S3Place(
            head=self.address + ARCHIVE + "?signed=head",
            get=self.address + ARCHIVE + "?signed=get",
            get_marker=self.address + MARKER + "?signed=get",
            put_marker=self.address + MARKER + "?signed=put",
            parts=Parts(
                part_bytes,
                tuple(f"{self.address}{ARCHIVE}?partNumber={number}" for number in range(1, parts + 1)),
                self.address + ARCHIVE + "?uploadId=1",
            ),
            retry_waits=retry_waits,
        )

    def _head(self, request: Request) -> Answer:
        data = self.objects.get(request.path)
        return Answer(404) if data is None else Answer(200, headers={"Content-Length": str(len(data))} | _tagged(data))

    def _get(self, request: Request) -> Answer:
        data = self.objects.get(request.path)
        if data is None:
            return Answer(404)
        if request.headers.get("if-match", _tag(data)) != _tag(data):
            return Answer(412)
        if "range" not in request.headers:
            return Answer(200, data, _tagged(data))
        start = int(request.headers["range"].removeprefix("bytes=").removesuffix("-"))
        ranged = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
        return Answer(206, data[start:], _tagged(data) | ranged)

    def _put(self, request: Request) -> Answer:
        if "partNumber" in request.query:
            self.parts[int(request.query["partNumber"])] = request.body
            return Answer(200 if self.is_open else 404, headers=_tagged(request.body))
        if request.headers.get("if-none-match") == "*" and request.path in self.objects:
            return Answer(412)
        self.objects[request.path] = request.body
        return Answer(200, headers=_tagged(request.body))

    def _post(self, request: Request) -> Answer:
        if not self.is_open:
            return Answer(404)
        parts = sorted(self.parts.items())
        listed = "".join(_PART.format(number=number, tag=_tag(data)) for number, data in parts)
        if request.body.decode() != f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>":
            return Answer(400, b"<Error><Code>InvalidPart</Code></Error>")
        if not parts:
            return Answer(400, b"<Error><Code>MalformedXML</Code></Error>")
        self.objects[request.path] = b"".join(data for _, data in parts)
        self.is_open = False
        return Answer(200, DONE)


_PART = "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>"
_TRUTHS = {"HEAD": SmallS3._head, "GET": SmallS3._get, "PUT": SmallS3._put, "POST": SmallS3._post}


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


def _tagged(data: bytes) -> dict[str, str]:
    return {"ETag": _tag(data)}


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    request_queue_size = 64


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


@contextmanager
def small_s3(*, socket: Path | None = None, certificate: Certificate | None = None) -> Iterator[SmallS3]:
    """On a port of its own; behind a unix socket, or with a certificate for localhost, where these are given."""
    store = SmallS3()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            store.connections += 1

        def log_message(self, *_: object) -> None:
            pass

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            url = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = store.answer(Request(self.command, url.path, dict(parse_qsl(url.query)), headers, body))
            if answer is CUT:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in ({"Content-Length": str(len(answer.body))} | dict(answer.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.cut_after])
            if answer.cut_after is not None:
                self.close_connection = True

        do_GET = do_HEAD = do_PUT = do_POST = _serve  # noqa: N815  # as http.server names them

    server = _UnixServer(str(socket), Handler) if socket else _Server(("127.0.0.1", 0), Handler)
    name, port = "localhost" if certificate else "127.0.0.1", "" if socket else f":{server.socket.getsockname()[1]}"
    store.address = f"{'https' if certificate else 'http'}://{name}{port}"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.file, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    serving = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    serving.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
