"""Which plain HTTP requests count."""

from uuid import uuid4

import pytest

from codehub.model.activity import Kind
from codehub.proxy.activity.requests import MOST_WORKSPACES, Requests

GARDEN = uuid4()
NAVIGATION = {b"sec-fetch-dest": b"document", b"accept": b"text/html,*/*"}
SCRIPT = {b"sec-fetch-dest": b"empty", b"accept": b"*/*"}


def seen(method: bytes, target: bytes, headers: dict[bytes, bytes]) -> Kind | None:
    return Requests().seen(GARDEN, method, target, headers, 0)


@pytest.mark.parametrize(
    ("method", "target", "headers", "kind"),
    [
        (b"GET", b"/?folder=/home/coder", NAVIGATION, Kind.PAGE),
        (b"GET", b"/", NAVIGATION | {b"if-none-match": b'"1"'}, Kind.PAGE),
        (b"GET", b"/", {b"accept": b"text/html"}, Kind.PAGE),
        (b"GET", b"/", NAVIGATION | {b"sec-purpose": b"prefetch"}, None),
        (b"HEAD", b"/", {}, None),
        (b"OPTIONS", b"/trees", SCRIPT, None),
        (b"GET", b"/healthz", {}, None),
        (b"GET", b"/healthz?now=1", {b"accept": b"*/*"}, None),
        (b"GET", b"/w/9f/api/status", SCRIPT, None),
        (b"GET", b"/app.js", {b"sec-fetch-dest": b"script"}, None),
        (b"GET", b"/worker.html", {b"sec-fetch-dest": b"iframe"}, None),
        (b"GET", b"/sw.js", {b"sec-fetch-dest": b"serviceworker"}, None),
        (b"GET", b"/trees", SCRIPT | {b"if-modified-since": b"yesterday"}, None),
        (b"GET", b"/stable-53c2/static/out/onig.wasm", SCRIPT, None),
        (b"GET", b"/stable-53c2/vscode-remote-resource?path=%2Fopt", SCRIPT, None),
        (b"POST", b"/mint-key", SCRIPT, None),
        (b"GET", b"/api/contents?content=1", SCRIPT, None),
        (b"GET", b"/api/kernels?1794756902209", SCRIPT, None),
        (b"GET", b"/api/sessions", SCRIPT, None),
        (b"GET", b"/lab/api/settings/@jupyterlab/docmanager-extension:plugin", SCRIPT, None),
        (b"PUT", b"/lab/api/workspaces/default?1", SCRIPT, None),
        (b"PUT", b"/api/contents/Untitled.ipynb?1", SCRIPT, Kind.SAVE),
        (b"POST", b"/w/9f/api/contents", SCRIPT, Kind.SAVE),
        (b"DELETE", b"/api/contents/old.py", SCRIPT, Kind.SAVE),
        (b"POST", b"/api/terminals", SCRIPT, Kind.COMMAND),
        (b"POST", b"/api/kernels/1/restart", SCRIPT, Kind.COMMAND),
        (b"GET", b"/trees?ripe=yes", SCRIPT, Kind.REQUEST),
        (b"POST", b"/trees", {}, Kind.REQUEST),
    ],
)
def test_what_a_request_tells(method: bytes, target: bytes, headers: dict[bytes, bytes], kind: Kind | None) -> None:
    assert seen(method, target, headers) == kind


def test_polling_does_not_count_once_it_shows_itself() -> None:
    requests = Requests()
    told = [requests.seen(GARDEN, b"GET", b"/trees?at=%d" % at, SCRIPT, at * 10) for at in range(7)]
    assert told == [Kind.REQUEST] * 3 + [None] * 4


def test_a_page_that_loads_itself_anew_every_minute_is_nobodys_visit() -> None:
    requests = Requests()
    told = [requests.seen(GARDEN, b"GET", b"/weather", NAVIGATION, at * 60) for at in range(6)]
    assert told == [Kind.PAGE] * 3 + [None] * 3


def test_polling_of_one_workspace_says_nothing_of_another() -> None:
    requests = Requests()
    for at in range(6):
        requests.seen(GARDEN, b"GET", b"/trees", SCRIPT, at * 10)
    assert requests.seen(uuid4(), b"GET", b"/trees", SCRIPT, 60) is Kind.REQUEST


def test_memory_is_bounded() -> None:
    requests = Requests()
    for _ in range(MOST_WORKSPACES + 50):
        requests.seen(uuid4(), b"GET", b"/trees", SCRIPT, 0)
    assert len(requests._rhythms) == MOST_WORKSPACES
