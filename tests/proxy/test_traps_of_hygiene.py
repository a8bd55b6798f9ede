"""What is ours never reaches a workspace, and a workspace never sets it (contract 13)."""

import pytest

from codehub.proxy.our_names import harmless_set_cookie, split_cookies
from tests.proxy.backend import OK, answering
from tests.proxy.keeper import COOKIE
from tests.proxy.scene import Scene, opened


def sent_on(seen: bytes) -> list[bytes]:
    return seen.partition(b"\r\n\r\n")[0].split(b"\r\n")


async def test_the_workspace_sees_its_own_cookies_only(scene: Scene) -> None:
    await scene.ask(scene.get())
    assert [line for line in sent_on(scene.backend.seen) if line.lower().startswith(b"cookie")] == [b"Cookie: a=b; c=d"]


@pytest.mark.parametrize(
    ("sent", "kept", "ours"),
    [
        (b"codehub=1", b"", [(b"codehub", b"1")]),
        (b"codehub =1; a=b", b"a=b", [(b"codehub", b"1")]),
        (b"a=b;codehub-workspace=1;c=d", b"a=b;c=d", [(b"codehub-workspace", b"1")]),
        (b"a=b; CodeHub-Workspace=1", b"a=b", [(b"CodeHub-Workspace", b"1")]),
        (
            b"__Host-codehub=1; a=b; __Secure-codehub=2",
            b"a=b",
            [(b"__Host-codehub", b"1"), (b"__Secure-codehub", b"2")],
        ),
        (b"\tcodehub\t=1; a=b; codehub=2", b"a=b", [(b"codehub", b"1"), (b"codehub", b"2")]),
        (b'a="; codehub=secret; b="', b'a="; b="', [(b"codehub", b"secret")]),
        (b"notcodehub=1; a=codehub", b"notcodehub=1; a=codehub", []),
        (b"=codehub=1; a=b", b"a=b", [(b"codehub", b"1")]),
        (b"codehub", b"", [(b"codehub", b"")]),
        (b"", b"", []),
    ],
)
def test_every_cookie_of_ours_is_taken_out_however_it_is_written(
    sent: bytes, kept: bytes, ours: list[tuple[bytes, bytes]]
) -> None:
    assert split_cookies(sent) == (kept, tuple(ours))


async def test_cookies_of_several_headers_are_looked_at_each(scene: Scene) -> None:
    await scene.ask(scene.get(b"/", b"cookie: codehub=x; z=1", b"COOKIE: codehub-workspace=y"))
    cookies = [line for line in sent_on(scene.backend.seen) if line.lower().startswith(b"cookie")]
    assert cookies == [b"Cookie: a=b; c=d", b"Cookie: z=1"]


@pytest.mark.parametrize(
    ("sent", "passed"),
    [
        (b"ok=1", b"ok=1"),
        (b"codehub=evil; Path=/", None),
        (b"CODEHUB-workspace=evil", None),
        (b" codehub =evil", None),
        (b"__Host-codehub=evil; Secure", None),
        (b"__HOST-CodeHub=evil", None),
        (b"__Secure-__Host-codehub=evil", None),
        (b"=codehub=evil", None),
        (b"==codehub=evil", None),
        (b"ok=1; Domain=dev.test; Path=/", b"ok=1; Path=/"),
        (b"ok=1;domain=.dev.test", b"ok=1"),
        (b"ok=1; DOMAIN = dev.test; HttpOnly", b"ok=1; HttpOnly"),
        (b"ok=domain; Path=/domain", b"ok=domain; Path=/domain"),
    ],
)
def test_a_workspace_sets_no_cookie_of_ours_and_none_for_others(sent: bytes, passed: bytes | None) -> None:
    assert harmless_set_cookie(sent) == passed


async def test_what_a_workspace_sets_for_us_is_taken_out_of_its_answer(scene: Scene) -> None:
    scene.backend.script = answering(
        b"HTTP/1.1 200 OK\r\nSet-Cookie: codehub=evil\r\nset-cookie: ok=1; Domain=dev.test\r\n"
        b'SET-COOKIE: codehub-x=1\r\nClear-Site-Data: "cookies"\r\nAlt-Svc: h2=":1"\r\nContent-Length: 2\r\n\r\nok'
    )
    answer = await scene.ask(scene.get())
    assert answer.values(b"set-cookie") == [b"ok=1"]
    assert answer.values(b"clear-site-data") == answer.values(b"alt-svc") == []


async def test_what_the_api_sets_arrives(scene: Scene) -> None:
    _, api = await scene.add("api", b"", answering(OK.replace(b"\r\n\r\n", b"\r\nSet-Cookie: codehub=1\r\n\r\n")))
    scene.keeper.api = scene.keeper.places.popitem()[1].upstream
    answer = await scene.ask(
        b"GET /api HTTP/1.1\r\nHost: codehub.test\r\nCookie: codehub=s; a=b\r\nAuthorization: Bearer codehub_t\r\n"
        b"X-Codehub-Visitor: 6.6.6.6\r\nx_codehub_visitor: 6.6.6.6\r\n\r\n"
    )
    assert answer.values(b"set-cookie") == [b"codehub=1"]
    lines = sent_on(api.seen)
    assert b"Cookie: codehub=s; a=b" in lines
    assert b"Authorization: Bearer codehub_t" in lines
    assert b"X-Codehub-Visitor: 127.0.0.1" in lines
    assert b"6.6.6.6" not in api.seen


async def test_forged_addresses_are_gone_and_ours_are_there(scene: Scene) -> None:
    forged = (
        b"X-Forwarded-For: 6.6.6.6",
        b"x_forwarded_for: 6.6.6.6",
        b"X-Real-IP: 6.6.6.6",
        b"Forwarded: for=6.6.6.6",
    )
    more = (b"X-Forwarded-Host: evil.test", b"X-Forwarded-Anything: evil", b"X-Codehub-User: evil", b"Proxy-Foo: evil")
    await scene.ask(scene.get(b"/", *forged, *more))
    assert b"6.6.6.6" not in scene.backend.seen
    assert b"evil" not in scene.backend.seen
    ours = {b"X-Forwarded-For: 127.0.0.1", b"X-Forwarded-Proto: http", b"X-Forwarded-Host: " + scene.host()}
    assert ours <= set(sent_on(scene.backend.seen))
    assert b"Host: " + scene.host() in sent_on(scene.backend.seen)


async def test_a_trusted_proxy_says_who_the_visitor_is() -> None:
    async with opened(trusted=("127.0.0.0/8",)) as scene:
        await scene.ask(scene.get(b"/", b"X-Forwarded-For: 6.6.6.6, 10.1.2.3, 127.0.0.9", b"X-Forwarded-Proto: https"))
        lines = sent_on(scene.backend.seen)
        assert {b"X-Forwarded-For: 10.1.2.3", b"X-Forwarded-Proto: https"} <= set(lines)
        assert (scene.keeper.asked[0].peer, scene.keeper.asked[0].scheme) == ("10.1.2.3", b"https")


async def test_what_connection_names_goes_no_further(scene: Scene) -> None:
    named = (b"Connection: keep-alive, X-Hop", b"X-Hop: 1", b"Keep-Alive: timeout=5", b"TE: gzip", b"Upgrade: h2c")
    await scene.ask(scene.get(b"/", *named, b"HTTP2-Settings: AAMA", b"X-Stay: 1"))
    names = {line.partition(b":")[0].lower() for line in sent_on(scene.backend.seen)}
    assert names & {b"x-hop", b"keep-alive", b"te", b"connection", b"upgrade", b"http2-settings"} == set()
    assert b"x-stay" in names


@pytest.mark.parametrize("name", [b"Content-Length", b"Host", b"Cookie", b"Transfer-Encoding", b"X-Forwarded-For"])
async def test_connection_cannot_take_away_what_decides(scene: Scene, name: bytes) -> None:
    answer = await scene.ask(scene.post(b"hello", b"Connection: close, " + name))
    assert answer.status == 400
    assert scene.backend.seen == b""


async def test_our_token_is_taken_out_and_somebody_elses_authorization_passes(scene: Scene) -> None:
    await scene.ask(scene.get(b"/1", b"Authorization: Bearer codehub_ann-secret"))
    await scene.ask(scene.get(b"/2", b"authorization: BEARER\tcodehub_ann-secret"))
    assert b"codehub_" not in scene.backend.seen
    await scene.ask(scene.get(b"/3", b"Authorization: Bearer of-theirs"))
    assert b"Authorization: Bearer of-theirs" in sent_on(bytes(scene.backend.talks[-1].seen).split(b"GET /3")[-1])


async def test_a_token_alone_lets_a_program_in(scene: Scene) -> None:
    lines = b"Host: %b\r\nAuthorization: Bearer codehub_ann-secret\r\n" % scene.host()
    assert (await scene.ask(b"GET / HTTP/1.1\r\n%b\r\n" % lines)).status == 200


async def test_a_service_worker_keeps_to_the_path_of_its_workspace(scene: Scene) -> None:
    scene.backend.script = answering(OK.replace(b"\r\n\r\n", b"\r\nService-Worker-Allowed: /\r\n\r\n"))
    cookie = b"Cookie: %b=ann-secret" % COOKIE
    there = await scene.ask(b"GET /w/%b/x HTTP/1.1\r\nHost: paths.test\r\n%b\r\n\r\n" % (scene.w, cookie))
    assert there.values(b"service-worker-allowed") == [b"/w/%b/" % scene.w]
    assert (await scene.ask(scene.get())).values(b"service-worker-allowed") == [b"/"]
