"""Answers that others have been fooled by: a workspace may say what it likes, and only one visitor is ever told."""

import asyncio
import socket
from contextlib import ExitStack

import pytest

from codehub.model.conditions import Endpoint
from codehub.proxy.doorkeeper import Upstream
from tests.proxy.backend import OK, Talk, answering, echo_requests
from tests.proxy.keeper import TableKeeper
from tests.proxy.scene import Scene, until


async def test_a_body_is_sent_after_the_one_100_that_was_waited_for(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await talk.exactly(5)
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" + body)

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.post(b"hello", b"Expect: 100-continue")[:-5])
    assert (await client.head()).status == 100
    await client.send(b"hello")
    answer = await client.answer()
    assert (answer.status, answer.body) == (200, b"hello")


async def test_hints_arrive_before_the_answer(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + OK)
    client = await scene.connect()
    await client.send(scene.get())
    hints = await client.head()
    assert (hints.status, hints.values(b"link")) == (103, [b"</a.css>; rel=preload"])
    assert (await client.answer()).body == b"ok"


async def test_trailers_arrive(scene: Scene) -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n"
    scene.backend.script = answering(chunked)
    client = await scene.connect()
    await client.send(scene.get(b"/", b"TE: trailers"))
    await client.head()
    assert await client.exactly(22) == b"2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n"
    assert b"TE: trailers\r\n" in scene.backend.seen
    await client.send(scene.get())
    assert (await client.head()).status == 200  # the connection goes on


async def test_a_chunked_answer_whose_head_comes_alone_is_not_over(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await said.wait()
        await talk.say(b"2\r\nhi\r\n0\r\n\r\n")

    said = asyncio.Event()
    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    await client.head()
    said.set()
    assert await client.exactly(12) == b"2\r\nhi\r\n0\r\n\r\n"


async def test_an_answer_that_is_too_short_is_cut(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", then_closes=True)
    client = await scene.connect()
    await client.send(scene.get())
    await client.head()
    assert await client.rest() in (b"hello", b"")  # and the connection has ended


DOUBTFUL = {
    "length and chunked": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "a length with a sign": b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
    "another encoding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunks of HTTP/1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded line": b"HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok",
    "LF alone": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
    "a LF in a value": b"HTTP/1.1 200 OK\r\nX-A: 1\nX-B: 2\r\nContent-Length: 2\r\n\r\nok",
    "a NUL": b"HTTP/1.1 200 OK\r\nX-A: 1\x002\r\nContent-Length: 2\r\n\r\nok",
    "a CR": b"HTTP/1.1 200 OK\r\nX-A: 1\r2\r\nContent-Length: 2\r\n\r\nok",
    "a space before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
    "no HTTP": b"+PONG\r\n\r\n\r\n",
    "HTTP/2": b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
    "a length named as of this hop": b"HTTP/1.1 200 OK\r\nConnection: Content-Length\r\nContent-Length: 2\r\n\r\nok",
    "an upgrade that nobody asked for": b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "hints without end": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 40 + OK,
    "a head without end": b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 200_000,
}


@pytest.mark.parametrize("answer_bytes", DOUBTFUL.values(), ids=DOUBTFUL.keys())
async def test_an_answer_that_leaves_a_doubt_is_502_and_its_connection_is_dropped(
    scene: Scene, answer_bytes: bytes
) -> None:
    scene.backend.script = answering(answer_bytes)
    client = await scene.connect()
    await client.send(scene.get())
    answer = await client.head()
    while answer.status == 103:
        answer = await client.head()
    assert answer.status == 502
    assert len(scene.door.pool) == 0
    await until(scene.backend.talks[0].writer.is_closing)


async def test_an_answer_that_nobody_asked_for_reaches_nobody(scene: Scene) -> None:
    scene.backend.script = answering(OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
    client = await scene.connect()
    for _ in range(3):
        await client.send(scene.get())
        assert (await client.answer()).body == b"ok"
    assert len(scene.backend.talks) == 3  # none was used again


async def test_what_comes_late_and_unasked_ends_the_kept_connection(scene: Scene) -> None:
    said = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.say(OK)
        await said.wait()
        await talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
        await talk.rest()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.get())
    assert (await client.answer()).body == b"ok"
    assert len(scene.door.pool) == 1
    said.set()
    await until(lambda: len(scene.door.pool) == 0)


async def test_a_body_that_ends_with_its_connection_arrives_whole(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000, then_closes=True)
    client = await scene.connect()
    await client.send(scene.get())
    answer = await client.answer()
    assert answer.body == b"x" * 300_000
    assert answer.values(b"connection") == [b"close"]


async def test_a_kept_connection_that_was_closed_there_costs_no_request(scene: Scene) -> None:
    scene.backend.script = answering(OK)
    client = await scene.connect()
    for _ in range(3):
        await client.send(scene.get())
        assert (await client.answer()).status == 200
        scene.backend.talks[-1].writer.transport.abort()  # as late as it can be: the next request is on its way
    assert len(scene.backend.talks) == 3


async def test_what_may_not_be_repeated_is_not(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.say(OK)
        await talk.request()  # and goes away without a word

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.post(b"once"))
    assert (await client.answer()).status == 200
    await client.send(scene.post(b"once more"))
    assert (await client.answer()).status == 502
    assert scene.backend.seen.count(b"once more") == 1


async def test_a_get_on_a_kept_connection_that_ends_without_a_word_is_sent_once_more(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.say(OK)
        await talk.request()

    scene.backend.script = script
    client = await scene.connect()
    for _ in range(3):
        await client.send(scene.get())
        assert (await client.answer()).status == 200
    assert scene.door.counts.retries == 2


async def test_a_process_of_the_api_that_was_just_killed_costs_no_get(scene: Scene) -> None:
    answers = [False, True]

    async def api(talk: Talk) -> None:
        await talk.request()
        if answers.pop(0):
            await talk.say(OK)

    await scene.add("api", b"", api)
    scene.keeper.api = scene.keeper.places.popitem()[1].upstream
    assert (await scene.ask(b"GET /healthz HTTP/1.1\r\nHost: codehub.test\r\n\r\n")).status == 200


async def test_each_answer_arrives_with_its_own_date(scene: Scene) -> None:
    days = iter(range(10, 99))

    async def script(talk: Talk) -> None:
        while True:
            await talk.request()
            date = b"Date: Sun, %d Nov 2026 15:22:59 GMT\r\n" % next(days)
            await talk.say(b"HTTP/1.1 200 OK\r\nServer: x\r\n" + date + b"Content-Length: 2\r\n\r\nok")

    scene.backend.script = script
    client = await scene.connect()
    for day in range(10, 14):
        await client.send(scene.get())
        answer = await client.answer()
        assert answer.values(b"date") == [b"Sun, %d Nov 2026 15:22:59 GMT" % day]
        assert (answer.values(b"server"), answer.body) == ([b"x"], b"ok")


async def test_an_answer_to_head_has_no_body(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
    client = await scene.connect()
    for _ in range(2):
        await client.send(b"HEAD / HTTP/1.1\r\n" + scene.lines() + b"\r\n")
        assert (await client.answer(to_head=True)).values(b"content-length") == [b"2"]
    assert len(scene.backend.talks) == 1


async def test_an_early_answer_arrives_at_once_and_then_the_connection_ends(scene: Scene) -> None:
    async def script(talk: Talk) -> None:
        await talk.head()
        await talk.say(b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await talk.rest()

    scene.backend.script = script
    client = await scene.connect()
    await client.send(scene.post(b"x" * 100_000)[:-60_000])
    answer = await client.answer()
    assert (answer.status, answer.body, answer.values(b"connection")) == (413, b"big", [b"close"])
    assert await client.rest() == b""


async def test_a_header_of_30_kilobytes_arrives(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 30_000 + b"\r\nContent-Length: 2\r\n\r\nok")
    answer = await scene.ask(scene.get())
    assert (answer.status, answer.values(b"x-a")) == (200, [b"a" * 30_000])


async def test_an_old_client_is_answered_and_let_go(scene: Scene) -> None:
    scene.backend.script = echo_requests
    client = await scene.connect()
    await client.send(scene.get().replace(b"HTTP/1.1", b"HTTP/1.0"))
    answer = await client.answer()
    assert answer.body.startswith(b"GET / HTTP/1.0\r\nConnection: close\r\n")
    assert await client.rest() == b""


async def test_bad_chunks_of_an_answer_cut_it(scene: Scene) -> None:
    scene.backend.script = answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nnonsense\r\n")
    client = await scene.connect()
    await client.send(scene.get())
    assert (await client.head()).status == 200
    assert b"nonsense" not in await client.rest()
    assert len(scene.door.pool) == 0


async def test_nobody_there_is_told(scene: Scene) -> None:
    workspace, gone = await scene.add("gone", b"ann", answering(OK))
    await scene.stack.aclose()  # nobody listens there any more
    answer = await scene.ask(b"GET / HTTP/1.1\r\n%b\r\n" % scene.lines(workspace))
    assert answer.status == 502
    assert [each.endpoint for each in scene.keeper.unanswered] == [gone.endpoint] * 2


class MovingKeeper(TableKeeper):
    """Has heard by then, whenever nobody answers, where the workspace has gone."""

    moved_to: Endpoint

    def nobody_answers(self, upstream: Upstream) -> None:
        super().nobody_answers(upstream)
        self.put("moving", b"ann", self.moved_to)


async def test_a_workspace_that_has_just_gone_is_found_where_it_is_now(scene: Scene) -> None:
    """Where a container was, nobody refuses: connecting there would take all of its time."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, ExitStack() as queued:
        for _ in range(8):  # more than its queue takes; from then on nobody answers
            waiting = queued.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        keeper = MovingKeeper()
        workspace = keeper.put("moving", b"ann", Endpoint("gone", *silent.getsockname()))
        keeper.moved_to = scene.backend.endpoint
        scene.door.doorkeeper = keeper
        answer = await scene.ask(b"GET / HTTP/1.1\r\n%b\r\n" % scene.lines(workspace))
    assert answer.status == 200
    assert len(keeper.unanswered) == 1
