"""A workspace that repeats what it hears, made of the tools of the tiny image: a shell that answers, and `cat`."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import asyncpg

from tests.runtimes.docker.tool_image import PORT, tool_image

NAME = "echo"
TALK = r"""
while IFS= read -r line; do
    case "$line" in
        [Uu]pgrade:*) is_websocket=yes ;;
        "$(printf '\r')") break ;;
    esac
done
if [ -n "$is_websocket" ]; then
    printf 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    printf 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
    exec cat
fi
printf 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'
"""
"""The key of the tests' WebSockets is always the same, and so is what it is answered with."""
LIMITS = {"memory_bytes": 512 * 1024**2, "cpus": 0.5, "pids": 1000}
OFFER = """
    INSERT INTO templates (id, name, image_ref, status, port, health_path, resources)
    VALUES ($1, $2, $3, 'ready', $4, '/', $5)
"""


@contextmanager
def echo_image() -> Iterator[str]:
    """Its name, for as long as the block lasts."""
    command = ["nc", "-ll", "-p", str(PORT), "-e", "sh", "-c", TALK]
    with tool_image() as tools:
        name = f"{tools}-echo"
        container = _docker("create", tools)
        _docker("commit", "--change", f"CMD {json.dumps(command)}", container, name)
        _docker("rm", container)
        yield name
        _docker("rmi", "--force", name)


def _docker(*arguments: str) -> str:
    return subprocess.run(["docker", *arguments], check=True, capture_output=True, text=True).stdout.strip()


async def offer(database_url: str, image: str) -> None:
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute(OFFER, uuid4(), NAME, image, PORT, json.dumps(LIMITS))
    finally:
        await connection.close()
