"""WebSockets: every byte in both directions, each half of an end, and the ends that are made for them."""

import asyncio

import pytest

from codehub.proxy.doorkeeper import Why
from codehub.proxy.frames import FrameWalk, close_frame
from codehub.proxy.tunnel import NEVER
from tests.proxy.backend import OK, Talk, answering
from tests.proxy.scene import Scene, opened, until

AGREED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
FRAME = b"\x82\x05hello"
MASKED = b"\x82\x85\x01\x02\x03\x04igohk"


async def echo(talk: Talk) -> None:
    await talk.head()
    await talk.say(AGREED)
    while data := await talk.some():
        await talk.say(data)


async def test_bytes_pass_in_both_directions_and_are_seen_by_the_watcher(scene: Scene) -> None:
    scene.backend.script = echo
    client = await scene.tunnel()
    for number in range(1, 50):
        await client.send(MASKED * number)
        assert await client.exactly(len(MASKED) * number) == MASKED * number
    client.close()
    await until(lambda: scene.keeper.watchers[0].has_ended)
    watcher = scene.keeper.watchers[0]
    assert watcher.target == b"/socket"
    assert watcher.visitor == watcher.workspace == MASKED * sum(range(1, 50))
    assert not scene.door.everybody.tunnels


async def test_what_is_sent_early_is_delivered_on_both_sides(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED + FRAME)
        assert await talk.exactly(len(MASKED)) == MASKED
        await talk.say(b"\x81\x02ok")
        await talk.rest()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.upgrade() + MASKED)
    assert (await client.head()).status == 101
    assert await client.exactly(len(FRAME) + 4) == FRAME + b"\x81\x02ok"


async def test_the_upgrade_is_passed_on_without_extensions(scene: Scene) -> None:
    scene.backend.script = echo
    client = await scene.connect()
    await client.send(scene.upgrade(b"Sec-WebSocket-Extensions: permessage-deflate", b"Sec-WebSocket-Protocol: v1"))
    assert (await client.head()).values(b"upgrade") == [b"websocket"]
    head = scene.backend.seen
    assert b"extensions" not in head.lower()
    assert {b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Protocol: v1"} <= set(head.split(b"\r\n"))
    assert b"codehub" not in head.replace(b"X-Forwarded", b"")


async def test_an_extension_that_was_not_asked_for_is_refused(scene: Scene) -> None:
    scene.backend.script = answering(AGREED[:-2] + b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n")
    assert (await scene.ask(scene.upgrade())).status == 502


async def test_another_upgrade_is_a_plain_request(scene: Scene) -> None:
    assert (await scene.ask(scene.get(b"/", b"Connection: Upgrade", b"Upgrade: h2c"))).status == 200
    assert b"pgrade" not in scene.backend.seen


async def test_an_upgrade_that_is_declined_leaves_a_connection_for_requests(scene: Scene) -> None:
    client = await scene.connect()
    await client.send(scene.upgrade())
    assert (await client.answer()).body == b"ok"
    await client.send(scene.get())
    assert (await client.answer()).body == b"ok"


@pytest.mark.parametrize("origin", [b"Origin: http://evil.test", b"Origin: null", b""])
async def test_a_foreign_origin_gets_no_tunnel(scene: Scene, origin: bytes) -> None:
    own = b"Origin: http://%b\r\n" % scene.host()
    upgrade = scene.upgrade().replace(own, origin and origin + b"\r\n")
    assert (await scene.ask(upgrade)).status == 403
    assert scene.backend.seen == b""


async def test_a_body_with_an_upgrade_is_refused(scene: Scene) -> None:
    assert (await scene.ask(scene.upgrade(b"Content-Length: 5") + b"hello")).status == 400
    assert scene.backend.seen == b""


async def test_after_the_visitor_has_ended_the_workspace_may_still_speak(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED)
        assert await talk.rest() == MASKED
        await talk.say(FRAME)

    scene.backend.script = script
    client = await scene.tunnel()
    await client.send(MASKED)
    client.end()
    assert await client.rest() == FRAME
    await until(lambda: scene.door.everybody.is_nobody)


async def test_after_the_workspace_has_ended_the_visitor_may_still_speak(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED + FRAME)
        talk.end()
        await talk.rest()

    scene.backend.script = script
    client = await scene.tunnel()
    assert await client.rest() == FRAME
    await client.send(MASKED)
    client.close()
    await until(lambda: scene.door.everybody.is_nobody)
    assert scene.backend.seen.endswith(MASKED)


async def test_half_an_end_is_a_whole_one_after_a_minute(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED)
        await talk.rest()
        await asyncio.Event().wait()

    scene.backend.script = script
    client = await scene.tunnel()
    client.end()
    tunnels = scene.door.everybody.tunnels
    await until(lambda: all(each.deadline < NEVER for each in tunnels))
    scene.pass_time(59)
    assert len(tunnels) == 1
    scene.pass_time(2)
    await until(lambda: scene.door.everybody.is_nobody)


async def test_a_watcher_that_fails_changes_nothing(scene: Scene) -> None:
    scene.backend.script = echo
    scene.keeper.watchers_fail = True
    client = await scene.tunnel()
    for _ in range(3):
        await client.send(MASKED)
        assert await client.exactly(len(MASKED)) == MASKED
    assert scene.keeper.watchers[0].visitor == b""


async def test_when_a_right_ends_its_tunnels_and_requests_are_cut(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        head = await talk.head()
        if b"websocket" in head:
            await talk.say(AGREED)
        else:
            await talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        await talk.rest()

    scene.backend.script = script
    tunnel = await scene.tunnel()
    stream = await scene.connect()
    await stream.send(scene.get(b"/stream"))
    await stream.head()
    sessions = {each.session_id for each in scene.door.everybody.under_way()}
    assert len(sessions) == 1
    assert scene.door.everybody.cut(Why.NO_LONGER_ALLOWED, lambda forward: forward.session_id in sessions) == 2
    assert await tunnel.rest() == close_frame(1008)
    await stream.rest()
    tunnel.close()
    await until(lambda: scene.door.everybody.is_nobody)


async def test_half_a_tunnel_is_cut_like_a_whole_one(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED)
        talk.end()
        await talk.rest()

    scene.backend.script = script
    client = await scene.tunnel()
    assert await client.rest() == b""
    assert scene.door.everybody.cut(Why.ROUTE_CHANGED, lambda _: True) == 1
    await until(lambda: scene.door.everybody.is_nobody)


async def test_no_goodbye_falls_into_a_frame(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(AGREED + FRAME[:4])
        await talk.rest()

    scene.backend.script = script
    client = await scene.tunnel()
    assert await client.exactly(4) == FRAME[:4]
    assert scene.door.everybody.cut(Why.ROUTE_CHANGED, lambda _: True) == 1
    assert await client.rest() == b""


async def test_a_kept_connection_dies_with_the_life_that_it_belongs_to(scene: Scene) -> None:
    assert (await scene.ask(scene.get())).status == 200
    assert len(scene.door.pool) == 1
    scene.keeper.put("w", b"ann", scene.backend.endpoint)  # the same address, another container
    assert (await scene.ask(scene.get())).status == 200
    assert len(scene.backend.talks) == 2
    scene.pass_time(0)
    assert len(scene.door.pool) == 1


async def test_a_connection_in_use_is_not_kept_for_the_next_life(scene: Scene) -> None:
    goes_on = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.request()
        await goes_on.wait()
        await talk.say(OK)
        await talk.rest()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    await until(lambda: scene.backend.seen)
    scene.keeper.put("w", b"ann", scene.backend.endpoint)
    goes_on.set()
    assert (await client.answer()).body == b"ok"
    assert len(scene.door.pool) == 0


async def test_a_tunnel_through_slow_readers_is_held_back_and_whole() -> None:
    async with opened() as scene:
        goes_on = asyncio.Event()
        whole = 32 * 2**20

        async def script(talk: Talk) -> None:
            await talk.head()
            await talk.say(AGREED)
            await goes_on.wait()
            assert await talk.exactly(whole) == b"x" * whole
            await talk.say(b"y" * whole)

        scene.backend.script = script
        client = await scene.tunnel()
        client.writer.write(b"x" * whole)
        tunnel = next(iter(scene.door.everybody.tunnels))
        await until(lambda: tunnel.workspace.transport.get_write_buffer_size() > 0)
        assert tunnel.workspace.transport.get_write_buffer_size() < 2 * 2**20
        goes_on.set()
        assert await client.exactly(whole) == b"y" * whole


def test_the_walk_knows_where_frames_end() -> None:
    frames = [
        b"\x82" + bytes([5]) + b"hello",
        b"\x82\x7e\x01\x00" + b"x" * 256,
        b"\x82\x7f" + (70_000).to_bytes(8, "big") + b"y" * 70_000,
    ]
    stream = b"".join(frames * 3)
    ends = {0}
    for frame in frames * 3:
        ends.add(max(ends) + len(frame))
    for step in (1, 2, 3, 7, 257, 70_011, len(stream)):
        walk, position = FrameWalk(), 0
        while position < len(stream):
            walk.feed(stream[position : position + step])
            position = min(position + step, len(stream))
            assert (walk.left == 0) == (position in ends)
