"""An archive in S3, request by request: what a store says is taken for what it is, and tried again where that helps."""

import io
import os
import select
import socket
import struct
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest

from codehub import clock
from codehub.archives.open import ensure_bucket
from codehub.archives.presign import Presigner
from codehub.archives.s3_requests import Bucket
from codehub.archives.sigv4 import Credentials
from codehub.job import store_client
from codehub.job.faults import Corrupt, JobFault, Missing, TryAgain
from codehub.job.marker import MARKER_BYTES, Marker
from codehub.job.order import Kind, S3Place
from codehub.job.progress import Progress
from codehub.job.run import JOBS
from codehub.job.s3_place import S3
from codehub.job.store_client import StoreClient
from codehub.stack.seaweedfs import SeaweedFS
from tests.archives.scripted_s3 import Answer
from tests.certificates import make_certificate
from tests.job.orders import Desk, fresh
from tests.job.small_s3 import ARCHIVE, CUT, MARKER, SmallS3, small_s3
from tests.job.test_order import TOTALS

T = TypeVar("T")

BUCKET = "places"
DATA = bytes(range(256)) * 10
SECONDS = 60
AGAIN = (0.0, 0.0, 0.0)
SLOW_DOWN = Answer(503, b"<Error><Code>SlowDown</Code></Error>")


@pytest.fixture
def store() -> Iterator[SmallS3]:
    with small_s3() as store:
        yield store


@pytest.fixture(params=["seaweedfs", "small"])
def server(request: pytest.FixtureRequest) -> SeaweedFS | SmallS3:
    found: SeaweedFS | SmallS3 = request.getfixturevalue({"seaweedfs": "s3_server", "small": "store"}[request.param])
    return found


@pytest.fixture
async def place(server: SeaweedFS | SmallS3) -> AsyncIterator[S3Place]:
    """Of an archive that is not there yet, with an upload that was begun, in parts as small as the store takes them."""
    if isinstance(server, SmallS3):
        yield server.place()
        return
    await ensure_bucket(f"s3://{BUCKET}", **server.access)
    bucket = Bucket(server.endpoint, BUCKET, Credentials(server.access_key, server.secret_key, region="us-east-1"))
    path = f"{uuid.uuid4()}/home.tar.zst"
    upload_id = await bucket.begin(path)
    lent = Presigner(bucket, at=clock.now()).for_archiving(path, upload_id, 1 << 20)
    assert lent.parts is not None
    yield replace(lent, parts=replace(lent.parts, part_bytes=5 << 20), retry_waits=AGAIN)
    await bucket.abort(path, upload_id)


def ask(place: S3Place, what: Callable[[S3], T]) -> T:
    with closing(S3(place)) as s3:
        return what(s3)


def put(place: S3Place, *pieces: bytes) -> None:
    with closing(S3(place)) as s3, s3.upload() as upload:
        for piece in pieces:
            upload.write(piece)
        upload.complete()


def read(place: S3Place) -> bytes:
    return ask(place, lambda s3: b"".join(s3.read()))


@pytest.mark.parametrize("shares", [(), (0.001,), (0.999,), (1,), (1.001,), (0.5, 2.56, 0, 0.04), (2, 1)], ids=str)
async def test_what_is_written_in_pieces_of_any_size_is_there_whole(place: S3Place, shares: tuple[float, ...]) -> None:
    assert place.parts is not None
    pieces = [os.urandom(round(share * place.parts.part_bytes)) for share in shares]
    put(place, *pieces)
    assert read(place) == b"".join(pieces)
    assert ask(place, S3.size) == sum(map(len, pieces))


async def test_nothing_is_there_before_an_upload_is_complete(place: S3Place) -> None:
    with closing(S3(place)) as s3, s3.upload() as upload:
        upload.write(DATA)
        assert ask(place, S3.size) is None
    assert ask(place, S3.size) is None
    with pytest.raises(Missing) as refused:
        read(place)
    assert str(refused.value) == "The archive is not there, or another one has taken its place."


async def test_a_marker_is_created_once(place: S3Place) -> None:
    assert ask(place, S3.marker) is None
    ask(place, lambda s3: s3.create_marker(b"first"))
    ask(place, lambda s3: s3.create_marker(b"second"))
    assert ask(place, S3.marker) == b"first"


def test_a_home_goes_there_and_comes_back(store: SmallS3, tmp_path: Path) -> None:
    home = fresh(tmp_path, "home")
    (home / "file").write_bytes(os.urandom(50_000))
    desk = Desk(tmp_path, store.place())
    totals = desk.do(Kind.ARCHIVE, home)
    desk.do(Kind.VERIFY, home, expected=totals)
    desk.do(Kind.RESTORE, fresh(tmp_path), expected=totals)
    assert (tmp_path / "restored/file").read_bytes() == (home / "file").read_bytes()


def test_requests_say_what_they_are_for(store: SmallS3) -> None:
    put(store.place(), DATA)
    read(store.place())
    ask(store.place(), lambda s3: s3.create_marker(b"m"))
    ask(store.place(), S3.marker)
    asked = {(each.method, each.path, *each.query.items()) for each in store.seen}
    assert asked == {
        *(("PUT", ARCHIVE, ("partNumber", str(number))) for number in (1, 2, 3)),
        ("POST", ARCHIVE, ("uploadId", "1")),
        ("HEAD", ARCHIVE, ("signed", "head")),
        ("GET", ARCHIVE, ("signed", "get")),
        ("PUT", MARKER, ("signed", "put")),
        ("GET", MARKER, ("signed", "get")),
    }
    assert {each.headers["host"] for each in store.seen} == {store.address.removeprefix("http://")}
    assert {each.body for each in store.seen if each.method in {"GET", "HEAD"}} == {b""}


def test_only_so_much_is_read_of_what_should_be_a_marker(store: SmallS3) -> None:
    store.objects[MARKER] = b"x" * (MARKER_BYTES + 1)
    assert ask(store.place(), S3.marker) == b"x" * MARKER_BYTES


LENT_TO_READ = "The order has no URL to write a marker to.", "The order has no URLs to upload to."


def test_whoever_was_lent_an_archive_to_read_cannot_write_it(store: SmallS3) -> None:
    reading = replace(store.place(), put_marker=None, parts=None)
    with pytest.raises(JobFault) as no_marker:
        ask(reading, lambda s3: s3.create_marker(b"m"))
    with pytest.raises(JobFault) as no_upload, S3(reading).upload():
        pass
    assert (str(no_marker.value), str(no_upload.value)) == LENT_TO_READ


PASSING = [408, 429, 500, 502, 503, 504]
Ask = Callable[[S3], object]
ASKS: dict[str, tuple[str, str, Ask]] = {
    "size": ("HEAD", ARCHIVE, S3.size),
    "marker": ("GET", MARKER, S3.marker),
    "create": ("PUT", MARKER, lambda s3: s3.create_marker(b"m")),
}


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.parametrize("status", PASSING)
def test_a_store_that_fails_is_asked_again(store: SmallS3, name: str, status: int) -> None:
    method, path, question = ASKS[name]
    store.lie(method, path, *[Answer(status)] * 3)
    ask(store.place(), question)
    assert len(store.seen) == 4
    store.lie(method, path, *[Answer(status)] * 4)
    with pytest.raises(TryAgain) as refused:
        ask(store.place(), question)
    assert str(refused.value) == f"The archive store fails (status {status})."


@pytest.mark.parametrize("name", ASKS)
def test_a_store_that_does_not_answer_is_asked_again(store: SmallS3, name: str) -> None:
    method, path, question = ASKS[name]
    store.lie(method, path, CUT, CUT, CUT)
    ask(store.place(), question)
    store.lie(method, path, *[CUT] * 4)
    with pytest.raises(TryAgain) as refused:
        ask(store.place(), question)
    assert str(refused.value).startswith("The archive store does not answer (RemoteDisconnected: ")


@pytest.mark.parametrize("name", ASKS)
def test_a_store_that_refuses_is_not_asked_again(store: SmallS3, name: str) -> None:
    method, path, question = ASKS[name]
    store.lie(method, path, Answer(403, b"<Code>AccessDenied</Code>\xff" + b"." * 400))
    with pytest.raises(JobFault) as refused:
        ask(store.place(), question)
    assert type(refused.value) is JobFault
    body = "" if method == "HEAD" else "<Code>AccessDenied</Code>\ufffd" + "." * 274
    assert str(refused.value) == f"The archive store refuses (status 403, {body!r})."
    assert len(store.seen) == 1


def ranges(store: SmallS3) -> list[tuple[str | None, str | None]]:
    """What was asked for of the archive: from where on, and of which object."""
    return [(each.headers.get("range"), each.headers.get("if-match")) for each in store.seen if each.method == "GET"]


def cut_after(size: int, start: int = 0) -> Answer:
    data, etag = DATA[start:], {"ETag": '"one"'}
    if not start:
        return Answer(200, data, etag, cut_after=size)
    return Answer(206, data, etag | {"Content-Range": f"bytes {start}-{len(DATA) - 1}/{len(DATA)}"}, cut_after=size)


def test_what_a_cut_has_left_out_is_asked_for_from_there_on(store: SmallS3) -> None:
    store.lie("GET", ARCHIVE, cut_after(1000), SLOW_DOWN, CUT, cut_after(500, 1000), cut_after(9999, 1500))
    assert read(store.place()) == DATA
    begun, onwards = ("bytes=1000-", '"one"'), ("bytes=1500-", '"one"')
    assert ranges(store) == [(None, None), begun, begun, begun, onwards]


def test_patience_begins_anew_with_every_byte_and_ends_without_one(store: SmallS3) -> None:
    store.lie("GET", ARCHIVE, cut_after(1000), CUT, CUT, CUT)
    with pytest.raises(TryAgain) as refused:
        read(store.place())
    assert str(refused.value).startswith("The archive store does not answer (")
    assert len(ranges(store)) == 4
    for status in (429, 500, 503):
        store.lie("GET", ARCHIVE, *[Answer(status)] * 4)
        with pytest.raises(TryAgain, match=f"status {status}"):
            read(store.place())


def test_an_early_end_is_never_taken_for_the_end(store: SmallS3) -> None:
    store.lie("GET", ARCHIVE, cut_after(1000))
    with pytest.raises(TryAgain) as refused:
        read(store.place(retry_waits=()))
    assert str(refused.value) == "The archive store does not answer (EOFError: an early end)."


def test_a_read_begins_again_where_nothing_has_come(store: SmallS3) -> None:
    store.lie("GET", ARCHIVE, cut_after(0), cut_after(9999))
    assert read(store.place()) == DATA
    assert ranges(store) == [(None, None), (None, None)]


def test_an_object_without_a_tag_is_read_on_all_the_same(store: SmallS3) -> None:
    first = Answer(200, DATA, cut_after=1000)
    second = Answer(206, DATA[1000:], {"Content-Range": f"bytes 1000-2559/{len(DATA)}"})
    store.lie("GET", ARCHIVE, first, second)
    assert read(store.place()) == DATA
    assert ranges(store) == [(None, None), ("bytes=1000-", None)]


def test_another_object_in_its_place_is_never_read_on(store: SmallS3) -> None:
    store.objects[ARCHIVE] = b"another"
    store.lie("GET", ARCHIVE, cut_after(1000))
    with pytest.raises(Missing):
        read(store.place())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(200, DATA), "The archive store refuses (status 200)."),
        (Answer(403), "The archive store refuses (status 403)."),
        (Answer(206, DATA[999:], {"Content-Range": "bytes 999-2559/2560"}), "another range than was asked for."),
        (Answer(206, DATA[1000:]), "The archive store sends another range than was asked for."),
    ],
)
def test_another_answer_than_the_rest_is_refused(store: SmallS3, answer: Answer, said: str) -> None:
    store.lie("GET", ARCHIVE, cut_after(1000), answer)
    with pytest.raises(JobFault) as refused:
        read(store.place())
    assert type(refused.value) is JobFault
    assert str(refused.value).endswith(said)


def test_a_part_of_what_was_not_asked_in_parts_is_refused(store: SmallS3) -> None:
    store.lie("GET", ARCHIVE, Answer(206, DATA, {"Content-Range": "bytes 0-2559/2560"}))
    with pytest.raises(JobFault, match=r"refuses \(status 206\)"):
        read(store.place())


def test_some_parts_are_on_their_way_at_once_and_no_more(store: SmallS3) -> None:
    """Each has a connection to itself, and leaves it to the next."""
    put(store.place(), bytes(80_000))
    assert store.connections <= 4


def test_what_fills_its_parts_needs_no_more_of_them(store: SmallS3) -> None:
    put(store.place(), bytes(2000))
    assert sorted(store.parts) == [1, 2]


def test_a_part_may_be_larger_than_all_that_is_on_its_way_at_once(store: SmallS3) -> None:
    put(store.place(part_bytes=64 << 20), DATA)
    assert (read(store.place()), len(store.parts)) == (DATA, 1)


def test_a_part_that_fails_is_sent_again(store: SmallS3) -> None:
    store.lie("PUT", ARCHIVE, SLOW_DOWN, CUT, SLOW_DOWN)
    put(store.place(), DATA)
    assert read(store.place()) == DATA


def test_a_part_that_is_refused_fails_the_upload(store: SmallS3) -> None:
    store.lie("PUT", ARCHIVE, Answer(403, b"no"))
    with pytest.raises(JobFault) as refused:
        put(store.place(), DATA)
    assert str(refused.value) == "The archive store refuses (status 403, 'no')."
    assert store.objects == {}


def test_whoever_goes_on_writing_after_a_refusal_is_told(store: SmallS3) -> None:
    """No more than some parts are on their way, so that the fault of one of them stops the writer."""
    store.lie("PUT", ARCHIVE, Answer(403, b"no"))
    with pytest.raises(JobFault, match="status 403"):
        put(store.place(parts=2000), *[bytes(1000)] * 2000)
    assert len(store.parts) < 1900


def test_more_parts_than_were_ordered_need_another_order(store: SmallS3) -> None:
    with pytest.raises(TryAgain) as refused:
        put(store.place(parts=2), DATA)
    said = "The archive has more than the 2 parts that were ordered; it needs another order."
    assert str(refused.value) == said
    put(store.place(parts=3), DATA)
    assert read(store.place()) == DATA


def test_an_upload_that_is_over_needs_another_order(store: SmallS3) -> None:
    store.is_open = False
    with pytest.raises(TryAgain) as refused:
        put(store.place(), DATA)
    assert str(refused.value) == "The archive store refuses (status 404, '')."


def test_where_the_answer_to_the_end_was_lost_the_object_tells(store: SmallS3) -> None:
    store.objects[ARCHIVE] = DATA
    store.lie("POST", ARCHIVE, Answer(404))
    put(store.place(), DATA)
    store.lie("POST", ARCHIVE, Answer(404))
    with pytest.raises(TryAgain) as refused:
        put(store.place(), DATA[:-1])
    assert str(refused.value) == "The archive store took 2559 bytes and shows 2560."


@pytest.mark.parametrize("body", [b"<Error><Code>InternalError</Code></Error>", b"", b"no XML"])
def test_an_error_that_comes_after_its_status_is_found_in_the_body(store: SmallS3, body: bytes) -> None:
    store.lie("POST", ARCHIVE, Answer(200, body))
    with pytest.raises(TryAgain) as refused:
        put(store.place(), DATA)
    assert str(refused.value) == f"The archive store refuses (status 200, {body.decode()!r})."


def test_an_end_that_is_refused_is_no_end(store: SmallS3) -> None:
    store.lie("POST", ARCHIVE, Answer(403, b"no"))
    with pytest.raises(JobFault) as refused:
        put(store.place(), DATA)
    assert str(refused.value) == "The archive store refuses (status 403, 'no')."


def test_tags_are_handed_back_as_they_came(store: SmallS3) -> None:
    store.lie("PUT", ARCHIVE, Answer(200, headers={"ETag": "<a&b>"}))
    with pytest.raises(JobFault, match="InvalidPart"):
        put(store.place(), b"one part")
    [end] = [each for each in store.seen if each.method == "POST"]
    assert b"<PartNumber>1</PartNumber><ETag>&lt;a&amp;b&gt;</ETag>" in end.body


def archived(store: SmallS3, folder: Path) -> None:
    JOBS[Kind.ARCHIVE](Desk(folder, store.place()).order(Kind.ARCHIVE, fresh(folder, "home")), Progress(io.StringIO()))


def test_a_marker_that_was_taken_and_is_not_shown_is_no_commit(store: SmallS3, tmp_path: Path) -> None:
    store.lie("GET", MARKER, Answer(404), Answer(404))
    with pytest.raises(TryAgain) as refused:
        archived(store, tmp_path)
    assert str(refused.value) == "The archive store took the marker and does not show it."


def test_the_marker_of_a_rival_is_no_commit(store: SmallS3, tmp_path: Path) -> None:
    store.lie("GET", MARKER, Answer(404), Answer(200, Marker("w", "now", "1.2.3", TOTALS).encode()))
    with pytest.raises(Corrupt) as refused:
        archived(store, tmp_path)
    assert str(refused.value) == "Another archive was written under this key at the same time."


def test_a_connection_serves_for_many_requests(store: SmallS3) -> None:
    client = StoreClient(None, AGAIN)
    for _ in range(5):
        client.request("HEAD", store.place().head)
    assert store.connections == 1
    client.close()


def test_a_store_that_stalls_is_given_up_after_a_minute(store: SmallS3) -> None:
    client = StoreClient(None, ())
    for _ in range(2):
        client.request("HEAD", store.place().head)
        assert client._idle.queue[0].sock.gettimeout() == 60
    client.close()


@pytest.mark.parametrize(
    ("url", "port"), [("http://s/x", 80), ("https://s/x", 443), ("http://s:8/x", 8), ("https://s:9/x", 9)]
)
def test_a_store_is_found_at_its_port(url: str, port: int) -> None:
    connection = store_client._Connection(urlsplit(url), None)
    assert (connection.host, connection.port, connection.timeout) == ("s", port, 60)


@pytest.mark.parametrize("last", [b"", b"unasked", None], ids=["closed", "talkative", "reset"])
def test_a_connection_on_which_anything_has_happened_is_not_used_again(last: bytes | None) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = urlsplit(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        with closing(store_client._Connection(url, None)) as connection:
            connection.connect()
            peer, _ = listener.accept()
            with peer:
                assert connection.is_usable()
                if last is None:
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                else:
                    peer.send(last)
            assert select.select([connection.sock], [], [], SECONDS)[0], "nothing has happened"
            assert not connection.is_usable()


def test_a_connection_that_was_given_up_is_made_anew(store: SmallS3) -> None:
    client = StoreClient(None, ())
    client.request("HEAD", store.place().head)
    store.lie("HEAD", ARCHIVE, CUT)
    with pytest.raises(TryAgain):
        client.request("HEAD", store.place().head)
    assert client.request("HEAD", store.place().head).status == 404
    client.close()


def test_a_connection_that_the_store_has_closed_is_not_used_again(store: SmallS3) -> None:
    """Without a further try: the request is never sent on it."""
    client = StoreClient(None, ())
    store.lie("GET", ARCHIVE, Answer(200, b"whole", cut_after=5))
    assert client.request("GET", store.place().get).body == b"whole"
    assert select.select([client._idle.queue[0].sock], [], [], SECONDS)[0], "not closed"
    assert client.request("HEAD", store.place().head).status == 404
    assert store.connections == 2
    client.close()


def test_an_answer_that_was_not_read_to_its_end_costs_its_connection(store: SmallS3) -> None:
    store.objects[ARCHIVE] = bytes(100_000)
    client = StoreClient(None, ())
    with client.exchange("GET", store.place().get) as response:
        assert response.read(10) == bytes(10)
    assert client.request("HEAD", store.place().head).status == 200
    assert store.connections == 2
    client.close()


def test_an_answer_is_read_so_far_and_no_further(store: SmallS3, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_client, "_ANSWER_BYTES", 100)
    store.objects[ARCHIVE] = DATA
    client = StoreClient(None, ())
    assert client.request("GET", store.place().get).body == DATA[:100]
    client.close()


def test_a_socket_leads_to_the_store_that_the_url_names() -> None:
    path = Path(f"/tmp/codehub-{uuid.uuid4().hex[:12]}.sock")
    try:
        with small_s3(socket=path) as store:
            client = StoreClient(str(path), ())
            client.request("HEAD", store.place().head)
            assert client._idle.queue[0].sock.gettimeout() == 60
            client._idle.queue[0].sock.shutdown(socket.SHUT_RD)  # of no use any more: another one is made
            client.request("HEAD", store.place().head)
            assert store.connections == 2
            client.close()
            put(replace(store.place(), socket=str(path)), DATA)
            assert read(replace(store.place(), socket=str(path))) == DATA
            assert {each.headers["host"] for each in store.seen} == {"127.0.0.1"}
    finally:
        path.unlink(missing_ok=True)


def test_a_store_with_tls_is_known_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path / "certificate", "localhost")
    with small_s3(certificate=certificate) as store:
        with pytest.raises(TryAgain, match="CERTIFICATE_VERIFY_FAILED"):
            put(store.place(retry_waits=()), DATA)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
        put(store.place(), DATA)
        assert read(store.place()) == DATA
        client = StoreClient(None, ())
        for _ in range(2):
            client.request("HEAD", store.place().head)
        client.close()


@pytest.mark.parametrize("url", ["ftp://store/x", "http:///x", "no url"])
def test_an_url_that_is_none_is_a_lasting_fault(store: SmallS3, url: str) -> None:
    with pytest.raises(JobFault) as refused:
        ask(replace(store.place(), head=url), S3.size)
    assert str(refused.value) == "The order has an URL that is none."
