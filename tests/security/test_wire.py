"""What the front door carries from one workspace is nobody else's, and where a workspace points it does not go."""

from collections.abc import AsyncIterator

import pytest

from tests.proxy.backend import answering
from tests.proxy.scene import Scene, opened

SETS = b"HTTP/1.1 200 OK\r\nSet-Cookie: planted=1; Path=/\r\nSet-Cookie: %b\r\nContent-Length: 0\r\n\r\n"
WIDE = (b"wide=1; Domain=dev.test; Path=/", b"wide=1; Domain=.dev.test", b"wide=1; Domain=test; SameSite=None")


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with opened() as scene:
        yield scene


@pytest.mark.parametrize("cookie", WIDE)
async def test_what_one_workspace_sets_is_never_sent_to_another(scene: Scene, cookie: bytes) -> None:
    """A client in the front door that kept cookies would send them with the next request to the same domain."""
    scene.backend.script = answering(SETS % cookie)
    assert (await scene.ask(scene.get())).status == 200
    for _ in range(2):
        asked = b"GET / HTTP/1.1\r\nHost: %b\r\nAuthorization: Bearer codehub_eve-secret\r\n\r\n" % scene.host(scene.e)
        assert (await scene.ask(asked)).status == 200
    assert scene.foreign.seen.count(b"GET / HTTP/1.1\r\n") == 2
    assert b"planted" not in scene.foreign.seen
    assert b"wide" not in scene.foreign.seen
    assert b"cookie" not in scene.foreign.seen.lower()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_the_visitors_to_follow(scene: Scene, status: int) -> None:
    """Else a workspace could make the front door, which stands inside every wall, ask anything for it."""
    scene.backend.script = answering(
        b"HTTP/1.1 %d Elsewhere\r\nLocation: http://%b/stolen\r\nContent-Length: 0\r\n\r\n"
        % (status, scene.host(scene.e))
    )
    answer = await scene.ask(scene.get())
    assert answer.status == status
    assert answer.values(b"location") == [b"http://%b/stolen" % scene.host(scene.e)]
    assert scene.foreign.seen == b""
