"""What a workspace may and may not reach: services of the host, and a world outside it, made on the spot."""

import asyncio
import json
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from codehub.runtimes.protocols import Instance

PORT = 8000
SERVER = f"""
import http.server
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("", {PORT}), Answer)
print("listening", flush=True)
server.serve_forever()
"""


@asynccontextmanager
async def service_of_the_host() -> AsyncIterator[int]:
    """Something that listens on every address of this machine; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nsecret")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "0.0.0.0", 0) as server:  # noqa: S104
        yield server.sockets[0].getsockname()[1]


async def host_addresses() -> list[str]:
    """All that this machine has, but loopback."""
    process = await asyncio.create_subprocess_exec("ip", "-4", "-json", "address", stdout=asyncio.subprocess.PIPE)
    listed, _ = await process.communicate()
    found = [each["local"] for interface in json.loads(listed) for each in interface["addr_info"]]
    return [address for address in found if not address.startswith("127.")]


def address_of(instance: Instance) -> str:
    assert instance.endpoint is not None
    return instance.endpoint.address


@asynccontextmanager
async def outside_world() -> AsyncIterator[tuple[str, int]]:
    """A network behind the host with a web server in it: its address and port."""
    async with _namespace(SERVER) as (_, address):
        yield address, PORT


@asynccontextmanager
async def far_away(server: str) -> AsyncIterator[str]:
    """The same a hop farther, in no network that the host stands in: an address of the internet that nobody has any
    more (RFC 7526), and whose only route is this one."""
    far = f"192.88.99.{1 + secrets.randbelow(254)}"
    async with _namespace(server) as (name, address):
        await ip("-n", name, "addr", "add", f"{far}/32", "dev", "lo")
        await ip("route", "add", f"{far}/32", "via", address)
        yield far


@asynccontextmanager
async def _namespace(server: str) -> AsyncIterator[tuple[str, str]]:
    """A network namespace behind the host that runs this program: its name and its address. In 198.18.0.0/15, which
    nobody uses; where in it is left to chance, for tests side by side."""
    name = f"cht{secrets.token_hex(4)}"
    part = f"198.18.{secrets.randbelow(256)}"
    here, there = f"{name}h", f"{name}o"
    await ip("netns", "add", name)
    await ip("link", "add", here, "type", "veth", "peer", "name", there, "netns", name)
    await ip("addr", "add", f"{part}.1/30", "dev", here)
    await ip("link", "set", here, "up")
    await ip("-n", name, "addr", "add", f"{part}.2/30", "dev", there)
    await ip("-n", name, "link", "set", there, "up")
    process = await asyncio.create_subprocess_exec(
        "ip", "netns", "exec", name, sys.executable, "-c", server, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            assert await process.stdout.readline() == b"listening\n"
        yield name, f"{part}.2"
    finally:
        process.kill()
        await process.wait()
        await ip("netns", "del", name)  # and with it both ends of the pair


async def ip(*arguments: str) -> None:
    process = await asyncio.create_subprocess_exec("ip", *arguments)
    assert await process.wait() == 0, arguments
