"""A registry with one image on loopback, which engines talk plain HTTP to. It says of all others that it has none."""

import asyncio
import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PRESENT = "codehub/present"
MISSING = "codehub/missing"
LAYER_BYTES = 2 * 1024**2  # enough for the engine to tell of progress
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
TLS_HANDSHAKE = b"\x16"
NOT_THERE = b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}'


def noise() -> bytes:
    """A layer that is never the same, so that it is not at hand already."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        entry = tarfile.TarInfo("noise")
        entry.size = LAYER_BYTES
        archive.addfile(entry, io.BytesIO(os.urandom(LAYER_BYTES)))
    return content.getvalue()


def image_blobs(content: bytes, command: str) -> dict[str, bytes]:
    """What an image with one layer consists of, by the paths that it is asked for under."""
    layer = gzip.compress(content, compresslevel=1)
    about = {"architecture": "amd64", "os": "linux", "config": {"Cmd": [command]}}
    about |= {"rootfs": {"type": "layers", "diff_ids": [_digest(content)]}}
    config = json.dumps(about).encode()
    parts = {
        "config": _descriptor("application/vnd.docker.container.image.v1+json", config),
        "layers": [_descriptor("application/vnd.docker.image.rootfs.diff.tar.gzip", layer)],
    }
    manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST} | parts).encode()
    blobs = {f"/v2/{PRESENT}/blobs/{_digest(blob)}": blob for blob in (config, layer)}
    blobs |= {f"/v2/{PRESENT}/manifests/{reference}": manifest for reference in ("1", _digest(manifest))}
    return blobs | {"/v2/": b"{}"}


def _digest(blob: bytes) -> str:
    return f"sha256:{hashlib.sha256(blob).hexdigest()}"


def _descriptor(kind: str, blob: bytes) -> dict[str, str | int]:
    return {"mediaType": kind, "size": len(blob), "digest": _digest(blob)}


@asynccontextmanager
async def registry(content: bytes = b"", command: str = "none", port: int = 0) -> AsyncIterator[str]:
    """Its address. The image is one that runs, where a layer and a command are given."""
    blobs = image_blobs(content or noise(), command)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(1)
        if first == TLS_HANDSHAKE:  # engines try that first, and wait long for an answer
            writer.close()
            return
        method, path, *_ = (first + await reader.readuntil(b"\r\n\r\n")).decode().split()
        blob = blobs.get(path)
        body = NOT_THERE if blob is None else blob
        head = [f"HTTP/1.1 {'200 OK' if blob is not None else '404 Not Found'}", f"Content-Length: {len(body)}"]
        head += [f"Content-Type: {MANIFEST if '/manifests/' in path and blob else 'application/json'}"]
        head += [f"Docker-Content-Digest: {_digest(body)}", "Connection: close", "", ""]
        writer.write("\r\n".join(head).encode() + (b"" if method == "HEAD" else body))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", port) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
