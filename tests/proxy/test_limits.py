"""What one visitor may take of the front door's time and memory."""

import asyncio
from pathlib import Path

from codehub.model.conditions import Endpoint
from codehub.proxy.limits import Limits
from tests.folders import short_folder
from tests.proxy.backend import OK, Talk, answering, running_backend
from tests.proxy.scene import Scene, opened, until


async def test_an_idle_connection_is_closed_after_75_seconds(scene: Scene) -> None:
    client = await scene.connect()
    await client.send(scene.get())
    assert (await client.answer()).status == 200
    scene.pass_time(74)
    await client.send(scene.get())
    assert (await client.answer()).status == 200
    scene.pass_time(74)
    assert not client.reader.at_eof()
    scene.pass_time(2)
    assert await client.rest() == b""


async def test_one_that_never_says_anything_is_closed_without_a_word(scene: Scene) -> None:
    client = await scene.connect()
    await until(lambda: scene.door.everybody.visitors)
    scene.pass_time(76)
    assert await client.rest() == b""


async def test_kept_connections_are_given_up_after_four_seconds(scene: Scene) -> None:
    await scene.ask(scene.get())
    scene.pass_time(3.9)
    assert len(scene.door.pool) == 1
    scene.pass_time(0.2)
    assert len(scene.door.pool) == 0


async def test_a_body_that_stops_is_too_slow_after_a_minute(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        while await talk.some():
            pass

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.post(b"x" * 100)[:-50])
    await until(lambda: scene.backend.seen.endswith(b"x" * 50))
    scene.pass_time(59)
    await client.send(b"x" * 25)
    await until(lambda: scene.backend.seen.endswith(b"x" * 75))
    scene.pass_time(59)
    assert not client.reader.at_eof()
    scene.pass_time(2)
    assert (await client.answer()).status == 408


async def test_a_visitor_who_takes_nothing_of_an_answer_is_cut_after_a_minute() -> None:
    body = 64 * 2**20
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % body

    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.say(head)
        for _ in range(64):
            await talk.say(b"x" * 2**20)

    async with opened(script) as scene:
        client = await scene.connect()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport of a socket
        await client.send(scene.get())
        await until(lambda: any(each.is_full for each in scene.door.everybody.visitors))
        visitor = next(iter(scene.door.everybody.visitors))
        assert visitor.transport.get_write_buffer_size() < 2**20
        scene.pass_time(59)
        assert scene.door.everybody.visitors
        scene.pass_time(2)
        await until(lambda: scene.door.everybody.is_nobody)


async def test_an_answer_to_a_slow_reader_is_whole_in_the_end() -> None:
    body = bytes(range(256)) * 2**16
    async with opened(answering(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))) as scene:
        client = await scene.connect()
        await client.send(scene.get())
        await until(lambda: any(each.is_full for each in scene.door.everybody.visitors))
        assert (await client.answer()).body == body
        await client.send(scene.get())
        assert (await client.answer()).body == body
        assert len(scene.backend.talks) == 1


async def test_an_upload_to_a_workspace_that_does_not_read_is_held_back() -> None:
    goes_on = asyncio.Event()
    body = b"x" * 16 * 2**20

    async def script(talk: Talk) -> None:
        await talk.head()
        await goes_on.wait()
        await talk.exactly(len(body))
        await talk.say(OK)

    async with opened(script) as scene:
        client = await scene.connect()
        client.writer.write(scene.post(body))
        await until(lambda: any(each.exchange for each in scene.door.everybody.visitors))
        visitor = next(iter(scene.door.everybody.visitors))
        await until(lambda: visitor.exchange and visitor.exchange.connection and visitor.exchange.connection.is_full)
        scene.pass_time(1000)  # it is not the visitor who is slow
        goes_on.set()
        assert (await client.answer()).body == b"ok"


async def test_too_many_connections_from_one_address_are_refused() -> None:
    async with opened(limits=Limits(connections_per_address=3)) as scene:
        clients = [await scene.connect() for _ in range(3)]
        for client in clients:
            await client.send(scene.get())
            assert (await client.answer()).status == 200
        crowd = await scene.connect()
        assert (await crowd.answer()).status == 429
        clients[0].close()
        crowd.close()
        await until(lambda: len(scene.door.everybody.visitors) == 2)
        assert (await scene.ask(scene.get())).status == 200


async def test_a_trusted_proxy_may_bring_everybody() -> None:
    async with opened(limits=Limits(connections_per_address=3), trusted=("127.0.0.1",)) as scene:
        for _ in range(10):
            assert (await scene.ask(scene.get())).status == 200


async def test_requests_sent_ahead_are_held_in_bounds_and_all_answered() -> None:
    goes_on = asyncio.Event()

    async def script(talk: Talk) -> None:
        while True:
            await talk.request()
            await goes_on.wait()
            await talk.say(OK)

    async with opened(script) as scene:
        client = await scene.connect()
        client.writer.write(scene.get() * 5000)
        await until(lambda: scene.backend.seen)
        visitor = next(iter(scene.door.everybody.visitors))
        await until(lambda: len(visitor._held) > scene.door.limits.held_bytes)
        assert len(visitor._held) < 2**20
        goes_on.set()
        for _ in range(5000):
            assert (await client.answer()).status == 200


async def test_a_body_in_two_hundred_thousand_chunks_passes(scene: Scene) -> None:
    chunks = b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n"
    client = await scene.connect()

    async def script(talk: Talk) -> None:
        await talk.head()
        assert await talk.exactly(len(chunks)) == chunks
        await talk.say(OK)

    scene.backend.script = script
    head = b"POST / HTTP/1.1\r\n%b\r\n" % scene.lines(None, b"Transfer-Encoding: chunked")
    client.writer.write(head + chunks)
    assert (await client.answer()).body == b"ok"


async def test_one_who_ends_after_asking_is_still_answered(scene: Scene) -> None:
    goes_on = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.request()
        await goes_on.wait()
        await talk.say(OK)

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    client.end()
    await until(lambda: any(each.is_half_closed for each in scene.door.everybody.visitors))
    goes_on.set()
    assert (await client.answer()).body == b"ok"
    assert await client.rest() == b""


async def test_one_who_leaves_takes_their_request_along(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.rest()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    await until(lambda: scene.backend.seen)
    client.close()
    await until(lambda: any(each.is_half_closed for each in scene.door.everybody.visitors))
    scene.pass_time(6)
    await until(scene.backend.talks[0].writer.is_closing)
    await until(lambda: scene.door.everybody.is_nobody)


async def test_one_who_leaves_while_it_is_found_out_is_forgotten(scene: Scene) -> None:
    asked = asyncio.Event()
    cancelled = asyncio.Event()

    async def find_out(_asked: object) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    scene.keeper.has_to_find_out = True
    scene.keeper.find_out = find_out  # type: ignore[method-assign, assignment]
    client = await scene.connect()
    await client.send(scene.get())
    await asyncio.wait_for(asked.wait(), 5)
    client.close()
    await until(lambda: any(each.is_half_closed for each in scene.door.everybody.visitors))
    scene.pass_time(6)
    await asyncio.wait_for(cancelled.wait(), 5)
    await until(lambda: scene.door.everybody.is_nobody)


async def test_what_has_to_be_found_out_is_and_bodies_wait(scene: Scene) -> None:
    scene.keeper.has_to_find_out = True
    client = await scene.connect()
    await client.send(scene.post(b"x" * 100_000))
    assert (await client.answer()).body == b"ok"
    assert scene.backend.seen.endswith(b"x" * 100_000)


async def test_a_doorkeeper_that_fails_is_503_for_one_visitor(scene: Scene) -> None:
    def decide(_asked: object) -> None:
        raise ValueError("nothing is known")

    decides = scene.keeper.decide
    scene.keeper.decide = decide  # type: ignore[method-assign, assignment]
    answer = await scene.ask(scene.get())
    assert (answer.status, answer.values(b"retry-after")) == (503, [b"2"])
    scene.keeper.decide = decides  # type: ignore[method-assign]
    assert (await scene.ask(scene.get())).status == 200


async def test_workspaces_on_unix_sockets_are_reached(scene: Scene) -> None:
    with short_folder() as folder:
        async with running_backend(path=Path(folder) / "ide.sock") as backend:
            workspace = scene.keeper.put("local", b"ann", backend.endpoint)
            asked = b"GET / HTTP/1.1\r\n%b\r\n" % scene.lines(workspace)
            assert (await scene.ask(asked)).body == b"ok"
            assert (await scene.ask(asked)).body == b"ok"
            assert len(backend.talks) == 1
        gone = scene.keeper.put("gone", b"ann", Endpoint("gone", f"unix:{folder}/gone.sock", 0))
        assert (await scene.ask(b"GET / HTTP/1.1\r\n%b\r\n" % scene.lines(gone))).status == 502
