"""How long a visitor waits for a workspace that has taken their request."""

import asyncio

from tests.proxy.backend import Talk
from tests.proxy.scene import Scene, until


async def silence(talk: Talk) -> None:
    while await talk.some():
        pass


async def test_a_workspace_that_takes_a_request_and_never_answers_is_told_of_after_its_time(scene: Scene) -> None:
    scene.backend.script = silence
    client = await scene.connect()
    await client.send(scene.get())
    await until(lambda: b"GET / HTTP/1.1" in scene.backend.seen)
    scene.pass_time(599)
    assert not client.reader.at_eof()
    scene.pass_time(2)
    told = await client.answer()
    assert (told.status, told.body) == (504, b"What should answer there took too long.\n")


async def test_that_time_begins_when_the_request_has_come_whole(scene: Scene) -> None:
    scene.backend.script = silence
    client = await scene.connect()
    request = scene.post(b"x" * 20)
    await client.send(request[:-20])
    await until(lambda: b"Content-Length: 20" in scene.backend.seen)
    (visitor,) = scene.door.everybody.visitors
    for _ in range(20):
        scene.pass_time(59)
        await client.send(b"x")
        await until(lambda: visitor.deadline > scene.door.now + 59)
    await until(lambda: scene.backend.seen.endswith(b"x" * 20))
    scene.pass_time(599)
    assert not client.reader.at_eof()
    scene.pass_time(2)
    assert (await client.answer()).status == 504


async def test_an_interim_answer_is_a_sign_of_life(scene: Scene) -> None:
    hints = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.request()
        await hints.wait()
        await talk.say(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await talk.some()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    await until(lambda: b"GET / HTTP/1.1" in scene.backend.seen)
    scene.pass_time(599)
    hints.set()
    assert (await client.head()).status == 103
    scene.pass_time(599)
    assert not client.reader.at_eof()
    scene.pass_time(2)
    assert (await client.answer()).status == 504


async def test_an_answer_that_has_begun_may_take_as_long_as_it_likes(scene: Scene) -> None:
    goes_on = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        await goes_on.wait()
        await talk.say(b"cd")

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    await client.head()
    scene.pass_time(3600)
    goes_on.set()
    assert await client.exactly(4) == b"abcd"
