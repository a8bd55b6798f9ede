"""An HTTP server that answers like an S3 store that lies, as its script says. Real sockets, a made-up store."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

DATE = "Sun, 15 Nov 2026 08:00:00 GMT"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut_after: int | None = None  # send only so many bytes of the body, then close


Script = Callable[[Request], Answer]


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[tuple[str, list[Request]]]:
    """The endpoint of a server that answers by the script, and the requests that it has seen."""
    seen: list[Request] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            seen.append(request)
            answer = script(request)
            headers = {
                "Content-Length": str(len(answer.body)),
                "Connection": "close",
                "Last-Modified": DATE,
                "ETag": '"e"',
            }
            lines = [f"{name}: {value}" for name, value in (headers | dict(answer.headers)).items()]
            writer.write("\r\n".join([f"HTTP/1.1 {answer.status} Said", *lines, "", ""]).encode())
            if request.method != "HEAD":
                writer.write(answer.body[: answer.cut_after])
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        yield f"http://{host}:{port}", seen


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    method, target, _ = head[0].split(" ")
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    url = urlsplit(target)
    return Request(method, unquote(url.path), dict(parse_qsl(url.query, keep_blank_values=True)), headers, body)
