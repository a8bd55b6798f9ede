"""No request means one thing to the front door and another to the workspace behind it."""

import asyncio

import pytest

from tests.proxy.corpus import Case, Meant, cases
from tests.proxy.keeper import COOKIE
from tests.proxy.scene import Client, Scene

CASES = list(cases())


def test_the_corpus_is_large() -> None:
    assert len(CASES) >= 500
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.meant for case in CASES} == set(Meant)


def written(case: Case, scene: Scene) -> bytes:
    host, cookie = b"Host: " + scene.host(), b"Cookie: %b=ann-secret" % COOKIE
    words = {b"head": scene.lines(), b"lines": case.lines, b"body": case.body, b"host": host, b"cookie": cookie}
    return case.whole % words


async def statuses(client: Client) -> list[int]:
    """Of all the answers that come until the connection ends."""
    found = []
    try:
        while True:
            found.append((await client.answer()).status)
            if found[-1] >= 400:
                return found
    except (asyncio.IncompleteReadError, ConnectionError):
        return found


EXPECTED = {Meant.ACCEPTED: [200, 200], Meant.WITHOUT_BODY: [200, 400], Meant.REFUSED: [400]}


async def told(scene: Scene, case: Case, size: int) -> None:
    """Send it in pieces of this size, the second request behind it, and compare what everybody saw."""
    for talk in scene.backend.talks:
        talk.seen.clear()
    client = await scene.connect()
    data = written(case, scene) + scene.get(b"/second", b"Connection: close")
    for start in range(0, len(data), size):
        client.writer.write(data[start : start + size])
        await asyncio.sleep(0)
    found = await statuses(client)
    seen = scene.backend.seen
    client.close()
    assert found == EXPECTED[case.meant], f"{case.name}: {found}"
    assert seen.count(b" /second ") == (case.meant is Meant.ACCEPTED), case.name
    assert seen.count(b"POST / ") <= 1, case.name
    if case.meant is Meant.REFUSED and size > len(data):
        assert seen == b"", case.name
    if case.meant is Meant.ACCEPTED:
        assert seen.partition(b"\r\n\r\n")[2].startswith(case.body), case.name
    assert scene.foreign.seen == b""


@pytest.mark.parametrize("size", [1_000_000, 61])
async def test_each_of_the_corpus_ends_as_intended(scene: Scene, size: int) -> None:
    for case in CASES:
        await told(scene, case, size)
