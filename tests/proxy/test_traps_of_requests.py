"""Requests that others have been fooled by: refused to the visitor, and never seen by a workspace."""

import pytest

from tests.proxy.scene import Scene

REFUSED = {
    "length and chunked": b"POST / HTTP/1.1\r\n%bContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    "two lengths": b"POST / HTTP/1.1\r\n%bContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "a list of lengths": b"POST / HTTP/1.1\r\n%bContent-Length: 5, 5\r\n\r\nhello",
    "a length with a sign": b"POST / HTTP/1.1\r\n%bContent-Length: +5\r\n\r\nhello",
    "another encoding": b"POST / HTTP/1.1\r\n%bTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a list of encodings": b"POST / HTTP/1.1\r\n%bTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a space before the colon": b"POST / HTTP/1.1\r\n%bTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a vertical tab": b"POST / HTTP/1.1\r\n%bTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a folded line": b"GET / HTTP/1.1\r\n%bX-A: 1\r\n 2\r\n\r\n",
    "a CR in a value": b"GET / HTTP/1.1\r\n%bX-A: 1\rX-B: 2\r\n\r\n",
    "a NUL in a value": b"GET / HTTP/1.1\r\n%bX-A: 1\x002\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n%bHost: other.dev.test\r\n\r\n",
    "a chunk size that is none": b"POST / HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi\r\n0\r\n\r\n",
    "a LF in a chunk extension": b"POST / HTTP/1.1\r\n%bTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\nhi\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("request_bytes", REFUSED.values(), ids=REFUSED.keys())
async def test_what_leaves_a_doubt_is_refused_and_reaches_nobody(scene: Scene, request_bytes: bytes) -> None:
    answer = await scene.ask(request_bytes % scene.lines())
    assert answer.status == 400
    assert answer.values(b"connection") == [b"close"]
    assert scene.backend.seen == b""
    assert scene.foreign.seen == b""


async def test_lines_that_end_with_lf_alone_are_refused_at_once(scene: Scene) -> None:
    answer = await scene.ask(scene.get().replace(b"\r\n", b"\n"))
    assert answer.status == 400
    assert scene.backend.seen == b""


async def test_three_requests_in_one_write_get_three_answers_in_order(scene: Scene) -> None:
    client = await scene.connect()
    await client.send(scene.get(b"/1") + scene.get(b"/2") + scene.get(b"/3"))
    for _ in range(3):
        assert (await client.answer()).body == b"ok"
    lines = [line for line in scene.backend.seen.split(b"\r\n") if line.startswith(b"GET")]
    assert lines == [b"GET /1 HTTP/1.1", b"GET /2 HTTP/1.1", b"GET /3 HTTP/1.1"]


async def test_a_header_of_20_kilobytes_passes(scene: Scene) -> None:
    assert (await scene.ask(scene.get(b"/", b"X-Long: " + b"x" * 20_000))).status == 200
    assert b"x" * 20_000 in scene.backend.seen


async def test_a_header_of_70_kilobytes_is_too_large(scene: Scene) -> None:
    assert (await scene.ask(scene.get(b"/", b"X-Long: " + b"x" * 70_000))).status == 431
    assert scene.backend.seen == b""


async def test_half_a_head_and_then_silence_is_too_slow_after_ten_seconds(scene: Scene) -> None:
    client = await scene.connect()
    await client.send(scene.get()[:-2])
    assert (await scene.ask(scene.get())).status == 200  # by then the half has been read as well
    scene.pass_time(9.9)
    client.writer.write(b"X-More: and more")
    assert (await scene.ask(scene.get())).status == 200
    scene.pass_time(0.2)
    assert (await client.answer()).status == 408
    assert await client.rest() == b""
