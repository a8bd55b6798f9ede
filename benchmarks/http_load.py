"""A client that costs little: so many connections, each with one request on its way, for so many seconds.

Run as a process of its own: `python -m benchmarks.http_load PORT CONNECTIONS SECONDS < request`. It prints
what it saw as JSON."""

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import cast

import httptools
import uvloop


@dataclass
class Seen:
    until: float
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


class Connection(asyncio.Protocol):
    def __init__(self, request: bytes, seen: Seen) -> None:
        self._request = request
        self._seen = seen
        self._began = 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def _send(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._began = time.perf_counter()
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        now = time.perf_counter()
        self._seen.latencies.append(now - self._began)
        self._seen.statuses[self._parser.get_status_code()] += 1
        if now < self._seen.until:
            asyncio.get_running_loop().call_soon(self._send)
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(exc)


async def load(request: bytes, port: int, connections: int, seconds: float) -> Seen:
    loop = asyncio.get_running_loop()
    seen = Seen(time.perf_counter() + seconds)
    opened = [
        (await loop.create_connection(lambda: Connection(request, seen), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(each.done for each in opened))
    return seen


def main() -> None:
    port, connections, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    request = sys.stdin.buffer.read()
    began = time.perf_counter()
    seen = uvloop.run(load(request, port, connections, seconds))
    took = time.perf_counter() - began
    print(json.dumps({"latencies": seen.latencies, "statuses": seen.statuses, "seconds": took}))


if __name__ == "__main__":
    main()
