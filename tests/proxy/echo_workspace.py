"""A workspace in a process of its own, which echoes WebSockets: a crowd needs more descriptors than one process has.

`python -m tests.proxy.echo_workspace` prints its port, and serves until it is killed."""

import asyncio
from typing import cast

import uvloop

from tests.proxy.test_tunnels import AGREED


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._is_open = False

    def data_received(self, data: bytes) -> None:
        self._transport.write(data if self._is_open else AGREED)
        self._is_open = True


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 (whoever started it wants to know)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve())
