"""A relay before a real IDE that records what passes through its tunnels, and which requests were made."""

import asyncio
import json
import re
import time
from pathlib import Path

from codehub.proxy.activity.recording import Direction, Recorder
from tests.relay import Relay

_DROPPED = re.compile(rb"\r\n(?:connection|sec-websocket-extensions):[^\r]*", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_KEPT_HEADERS = ("if-none-match", "if-modified-since", "sec-fetch-dest", "sec-fetch-mode", "accept", "upgrade")


def headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


class RecordingRelay(Relay):
    """One request per connection: what an IDE does needs no more, and so no answer has to be understood."""

    def __init__(self, host: str, port: int, folder: Path) -> None:
        super().__init__()
        self._host, self._upstream_port, self._folder = host, port, folder
        self.recorders: list[Recorder] = []
        self.requests: list[dict[str, object]] = []
        self.marks: list[tuple[float, str]] = []
        self.began = time.monotonic()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        method, target = head.split(b" ", 2)[:2]
        blanked = re.sub(r"(reconnectionToken|session_id|token)=[^&]*", r"\1=blank", target.decode())
        sent = headers(head)
        is_upgrade = "upgrade" in sent
        self.requests.append(
            {
                "at": round(time.monotonic() - self.began, 3),
                "method": method.decode(),
                "target": blanked,
                "headers": {name: sent[name] for name in _KEPT_HEADERS if name in sent},
            }
        )
        upstream, up_writer = await asyncio.open_connection(self._host, self._upstream_port)
        up_writer.write(
            _DROPPED.sub(b"", head)[:-2] + b"Connection: " + (b"Upgrade" if is_upgrade else b"close") + b"\r\n\r\n"
        )
        try:
            if is_upgrade:
                await self._tunnel(blanked, reader, writer, upstream, up_writer)
            else:
                if length := _LENGTH.search(head):
                    up_writer.write(await reader.readexactly(int(length[1])))
                await _copy(upstream, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            up_writer.close()

    async def _tunnel(
        self,
        target: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: asyncio.StreamReader,
        up_writer: asyncio.StreamWriter,
    ) -> None:
        answer = await upstream.readuntil(b"\r\n\r\n")
        writer.write(answer)
        recorder = Recorder(self._folder / f"{len(self.recorders)}.xz", target.encode(), self.began)
        self.recorders.append(recorder)
        try:
            await asyncio.gather(
                _copy(reader, up_writer, recorder, Direction.FROM_CLIENT),
                _copy(upstream, writer, recorder, Direction.FROM_SERVER),
            )
        finally:
            recorder.close()

    async def cut(self) -> None:
        """End all that is open, and be there again."""
        await super().close()
        await self.open()

    async def close(self) -> None:
        await super().close()
        for name, lines in (("requests", self.requests), ("marks", self.marks)):
            text = ",\n".join(json.dumps(line) for line in lines)
            (self._folder / f"{name}.json").write_text(f"[\n{text}\n]\n")


async def _copy(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    recorder: Recorder | None = None,
    direction: Direction = Direction.FROM_SERVER,
) -> None:
    while data := await reader.read(1 << 16):
        if recorder is not None:
            recorder.write(direction, data, time.monotonic())
        writer.write(data)
        await writer.drain()
    writer.close()
