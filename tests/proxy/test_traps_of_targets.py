"""Who is asked for: read once, and passed on byte for byte. No way of writing it leads to somebody else's workspace."""

import pytest

from tests.proxy.backend import echo_requests
from tests.proxy.keeper import COOKIE
from tests.proxy.scene import Scene

TARGETS = {
    "dots": b"/w/{w}/../{e}/x",
    "dots in hex": b"/w/{w}/%2e%2e/{e}/x",
    "a slash in hex": b"/w/{w}/..%2f{e}/x",
    "dots and slashes": b"/w/{w}/.././../w/{e}/x",
    "dots in hex twice": b"/w/{w}/%252e%252e/{e}/x",
    "a backslash": b"/w/{w}/..\\{e}\\x",
    "parameters": b"/w/{w}/..;/{e}/x",
    "the other of hers": b"/w/{w}/../{w2}/raw",
    "many dots": b"/w/{w}/%2e%2e/%2e%2e/raw%2Fx?y=../z",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
async def test_a_path_goes_to_its_workspace_untouched(scene: Scene, target: bytes) -> None:
    scene.backend.script = echo_requests
    target = target.replace(b"{w}", scene.w).replace(b"{w2}", scene.w2).replace(b"{e}", scene.e)
    answer = await scene.ask(b"GET %b HTTP/1.1\r\nHost: paths.test\r\nCookie: %b=ann-secret\r\n\r\n" % (target, COOKIE))
    assert answer.status == 200
    assert answer.body.startswith(b"GET %b HTTP/1.1\r\n" % target.removeprefix(b"/w/" + scene.w))
    assert scene.foreign.seen == b""


REFUSED = {
    "two slashes": (b"//w/{e}/x", b"paths.test", {404}),
    "a whole URL": (b"http://paths.test/w/{e}/x", b"paths.test", {404}),
    "a whole URL of hers": (b"http://paths.test/w/{w}/x", b"paths.test", {404}),
    "another one's": (b"/w/{e}/x", b"paths.test", {404}),
    "another one's in capitals": (b"/W/{e}/x", b"paths.test", {404}),
    "an id in capitals": (b"/w/{E}/x", b"paths.test", {404}),
    "an asterisk": (b"*", b"{e}.dev.test", {405}),
    "a fragment": (b"/w/{w}/x#/../{e}", b"paths.test", {400}),
    "a space": (b"/w/{w}/ /{e}", b"paths.test", {400}),
    "no slash": (b"w/{e}/x", b"paths.test", {400}),
    "bytes beyond ASCII": (b"/w/{w}/\xc3\xa4", b"paths.test", {400}),
    "another one's host": (b"/", b"{e}.dev.test", {404}),
    "another one's host in capitals": (b"/", b"{E}.DEV.TEST", {404}),
    "another one's host with a port": (b"/", b"{e}.dev.test:80", {404}),
    "a dot at the end": (b"/", b"{e}.dev.test.", {404}),
    "a user": (b"/", b"{w}.dev.test@{e}.dev.test", {400}),
    "a user and password": (b"/", b"user:password@{e}.dev.test", {400}),
    "two names": (b"/", b"{w}.dev.test, {e}.dev.test", {400}),
    "a name with a space": (b"/", b"{w}.dev.test {e}.dev.test", {400}),
    "a name below hers": (b"/", b"{e}.{w}.dev.test", {404}),
    "no name": (b"/", b"", {400}),
    "a port alone": (b"/", b":80", {400}),
    "a name with a slash": (b"/", b"{w}.dev.test/{e}", {400}),
    "a name with a NUL": (b"/", b"{w}.dev.test\x00", {400}),
}


@pytest.mark.parametrize(("target", "host", "statuses"), REFUSED.values(), ids=REFUSED.keys())
async def test_nothing_leads_to_a_workspace_of_others(
    scene: Scene, target: bytes, host: bytes, statuses: set[int]
) -> None:
    def filled(text: bytes) -> bytes:
        return text.replace(b"{w}", scene.w).replace(b"{e}", scene.e).replace(b"{E}", scene.e.upper())

    answer = await scene.ask(
        b"GET %b HTTP/1.1\r\nHost: %b\r\nCookie: %b=ann-secret\r\n\r\n" % (filled(target), filled(host), COOKIE)
    )
    assert answer.status in statuses
    assert scene.foreign.seen == b""
    assert scene.backend.seen == b""


@pytest.mark.parametrize("host", [b"{w}.dev.test:8080", b"{W}.Dev.Test", b"{w}.dev.test:80"])
async def test_her_host_may_be_written_differently(scene: Scene, host: bytes) -> None:
    host = host.replace(b"{w}", scene.w).replace(b"{W}", scene.w.upper())
    asked = b"GET / HTTP/1.1\r\nHost: %b\r\nCookie: %b=ann-secret\r\n\r\n" % (host, COOKIE)
    assert (await scene.ask(asked)).status == 200
    assert b"Host: " + host in scene.backend.seen


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"CONNECT example.org:443 HTTP/1.1", 400),
        (b"CONNECT / HTTP/1.1", 405),
        (b"TRACE / HTTP/1.1", 405),
        (b"get / HTTP/1.1", 400),
        (b"GET / HTTP/2.0", 505),
        (b"PRI * HTTP/2.0", 505),
        (b"GET / HTTP/1.2", 505),
        (b"GET / HTTP/0.9", 505),
        (b"GET /", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET / HTTP/1.1 ", 400),
        (b" GET / HTTP/1.1", 400),
        (b"GET\t/\tHTTP/1.1", 400),
        (b"G\x00T / HTTP/1.1", 400),
        (b"GET / http/1.1", 400),
    ],
)
async def test_a_line_that_is_none_is_refused(scene: Scene, line: bytes, status: int) -> None:
    assert (await scene.ask(line + b"\r\n" + scene.lines() + b"\r\n")).status == status
    assert scene.backend.seen == b""
