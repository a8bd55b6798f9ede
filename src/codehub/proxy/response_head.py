"""The head of an answer, read as strictly as a request's: a workspace may be hostile (contract 13), and what one
visitor is sent must never be taken for an answer to another."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import httptools

from codehub.proxy import our_names
from codehub.proxy.refusals import BadAnswer
from codehub.proxy.request_head import LENGTH

_DATE = re.compile(rb"\r\n(Date: [A-Za-z0-9 ,:]{29}\r\n)")
_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])( [\t -~\x80-\xff]*)?")


class Expected(NamedTuple):
    """What kind of answer it has to be."""

    to_head: bool = False
    is_upgrade: bool = False
    of_workspace: bool = True
    mount: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    lines: bytes
    """The status line and what is passed on, each ended by CRLF; neither `Connection` nor the empty line at the end."""
    length: int
    """Bytes of its body; -1 where the end of the connection ends it."""
    is_chunked: bool
    keeps: bool
    """Whether another request may follow on its connection."""
    is_stream: bool
    """Whether it tells of events for as long as somebody listens, who asks again when it ends."""

    @property
    def is_interim(self) -> bool:
        return self.status < 200 and self.status != 101


class _NoCallbacks:
    pass


_CALLBACKS = _NoCallbacks()
_HOP_BY_HOP = frozenset({b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"upgrade", b"te"})
_GUARDED = frozenset({b"set-cookie", b"set-cookie2", b"clear-site-data", b"alt-svc", b"service-worker-allowed"})
"""Clear-Site-Data reaches the cookies of every name under the domain, Alt-Svc leads past the front door."""
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_LOOKED_AT = _HOP_BY_HOP | _GUARDED | _FRAMING | {b"sec-websocket-extensions", b"content-type"}
_EVENTS = b"text/event-stream"
_WITHOUT_BODY = frozenset({204, 304})
_KEPT = [b"keep-alive"]
_USUAL = frozenset(_KEPT)

Seen = dict[bytes, list[bytes]]


def answer_of(head: bytes, expected: Expected) -> tuple[Answer, bytes]:
    """What a head says, and its line with the date, if that was left out. Raises BadAnswer for whatever leaves a doubt.
    Answers differ in their date first of all, workspaces of one image answer alike: without it they are remembered."""
    found = _DATE.search(head) if len(head) <= 1024 else None
    if found is None:
        return read_answer(head, expected), b""
    start, end = found.span()
    return _known_answer(head[:start] + head[end - 2 :], expected), found[1]


def read_answer(head: bytes, expected: Expected) -> Answer:
    to_head, is_upgrade, of_workspace, mount = expected
    _judge(head)
    first, *lines = head[:-4].split(b"\r\n")
    status, is_1_0, status_line = _known_status(first) if len(first) <= 256 else _read_status(first)
    seen: Seen = {}
    kept = [status_line]
    for line in lines:
        key, value = _known_line(line) if len(line) <= 256 else _read_header(line)
        if not key:
            kept.append(line)
            continue
        seen.setdefault(key, []).append(value)
        if key in _GUARDED:
            passed = _of_workspace(key, value, mount) if of_workspace else value
            if passed is not None:
                kept.append(b"%b: %b" % (key, passed))
        elif key == b"content-type" or (key in _FRAMING and status != 204 and status >= 200):
            kept.append(line)
    named = _USUAL
    if seen.get(b"connection", _KEPT) != _KEPT:
        named = _named(seen[b"connection"])
        kept = _without_named(kept, named)
    if status == 101:
        _check_upgrade(seen, named, is_upgrade=is_upgrade)
        kept += [b"Connection: Upgrade", b"Upgrade: websocket"]
    kept.append(b"")
    length, is_chunked = _framing(seen, is_1_0=is_1_0)
    if to_head or status in _WITHOUT_BODY or status < 200:
        length, is_chunked = 0, False
    keeps = not is_1_0 and b"close" not in named and (length >= 0 or is_chunked)
    is_stream = seen.get(b"content-type", _KEPT)[0].startswith(_EVENTS)
    return Answer(status, b"\r\n".join(kept), length, is_chunked, keeps, is_stream)


_known_answer = lru_cache(1024)(read_answer)


def _read_status(line: bytes) -> tuple[int, bool, bytes]:
    """The status, whether it is of HTTP/1.0, and the line as we send it."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise BadAnswer
    minor, digits, phrase = found.groups()
    return int(digits), minor == b"0", b"HTTP/1.1 %b%b" % (digits, phrase or b" ")


_known_status = lru_cache(256)(_read_status)


def _read_header(line: bytes) -> tuple[bytes, bytes]:
    """The name of a line that is to be looked at, and its value; empty for all others."""
    name, _, value = line.partition(b":")
    key = name.lower()
    return (key, value.strip(b" \t")) if key in _LOOKED_AT else (b"", b"")


_known_line = lru_cache(4096)(_read_header)


def _named(values: list[bytes]) -> frozenset[bytes]:
    return frozenset(each.strip(b" \t").lower() for value in values for each in value.split(b","))


def _judge(head: bytes) -> None:
    try:
        httptools.HttpResponseParser(_CALLBACKS).feed_data(head)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError as error:
        raise BadAnswer from error


def _of_workspace(key: bytes, value: bytes, mount: bytes) -> bytes | None:
    if key == b"set-cookie":
        return our_names.harmless_set_cookie(value)
    if key == b"service-worker-allowed":
        return mount or value  # where workspaces share an origin, each keeps to its own path
    return None


def _without_named(kept: list[bytes], named: frozenset[bytes]) -> list[bytes]:
    """Without the headers that `Connection` names. To take framing away would be to lie about the body."""
    if named & _FRAMING:
        raise BadAnswer
    return [kept[0], *(line for line in kept[1:] if line.partition(b":")[0].lower() not in named)]


def _check_upgrade(seen: Seen, named: frozenset[bytes], *, is_upgrade: bool) -> None:
    """Only what was asked for. An extension was not: it was taken out of the request."""
    agreed = b"upgrade" in named and [each.lower() for each in seen.get(b"upgrade", ())] == [b"websocket"]
    if not is_upgrade or not agreed or any(seen.get(b"sec-websocket-extensions", ())) or seen.keys() & _FRAMING:
        raise BadAnswer


def _framing(seen: Seen, *, is_1_0: bool) -> tuple[int, bool]:
    lengths, encodings = seen.get(b"content-length"), seen.get(b"transfer-encoding")
    if lengths is not None:
        if encodings is not None or len(lengths) > 1 or not LENGTH.fullmatch(lengths[0]):
            raise BadAnswer
        return int(lengths[0]), False
    if encodings is not None:
        if len(encodings) > 1 or encodings[0].lower() != b"chunked" or is_1_0:
            raise BadAnswer
        return 0, True
    return -1, False
