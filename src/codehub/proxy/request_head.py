"""The head of a request, read once and strictly: who asks for what, how long its body is, and what of it is passed on.

llhttp checks that it is HTTP at all, without a doubt about where a line or a name ends; the tables below say what is
done with the headers that matter. There is no second reading: what is decided here is what is sent on."""

import re
from dataclasses import dataclass
from functools import lru_cache

import httptools

from codehub.proxy import our_names
from codehub.proxy.doorkeeper import NOTED
from codehub.proxy.refusals import Refusal, Refused

_LINE = re.compile(rb"([A-Z]{1,24}) (/[!\"$-~]*|\*) HTTP/1\.([01])")
_OTHER_VERSION = re.compile(rb"[!-~]+ [!-~]+ HTTP/(?!1\.[01]$)[0-9]+(?:\.[0-9]+)?")
_ABSOLUTE = re.compile(rb"[A-Z]{1,24} [a-z][a-z0-9+.-]*://[!-~]* HTTP/1\.[01]", re.IGNORECASE)
_HOST = re.compile(rb"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")
LENGTH = re.compile(rb"0|[1-9][0-9]{0,17}")
_NOT_SERVED = frozenset({b"CONNECT", b"TRACE"})


def read_line(line: bytes) -> tuple[bytes, bytes, bool]:
    """Method, target, and whether it is HTTP/1.0. Raises Refused."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise Refused(_fault(line))
    method, target, minor = found.groups()
    if method in _NOT_SERVED or (target == b"*" and method != b"OPTIONS"):
        raise Refused(Refusal.METHOD)
    return method, target, minor == b"0"


def _fault(line: bytes) -> Refusal:
    if _ABSOLUTE.fullmatch(line):
        return Refusal.NOT_HERE  # what is asked for is named by Host alone, and once
    return Refusal.VERSION if _OTHER_VERSION.fullmatch(line) else Refusal.BAD_HEAD


@dataclass(slots=True)
class Fields:
    """Everything after the request line."""

    host: bytes
    noted: dict[bytes, bytes]
    length: int = 0
    is_chunked: bool = False
    closes: bool = False
    is_upgrade: bool = False
    cookies: tuple[tuple[bytes, bytes], ...] = ()
    token: bytes | None = None
    forwarded_for: bytes = b""
    """What was sent as X-Forwarded-For; a trusted proxy's is believed."""
    forwarded_proto: bytes = b""
    common: bytes = b""
    """The lines that go on, each ended by CRLF; to them come those for a workspace, or for the API."""
    for_workspace: bytes = b""
    for_api: bytes = b""


class _NoCallbacks:
    """llhttp is asked for its judgement only."""


_CALLBACKS = _NoCallbacks()
_NAMES_IN_CONNECTION = frozenset({b"close", b"keep-alive", b"upgrade", b"te", b"http2-settings", b""})
_REMOVED = frozenset(
    {b"forwarded", b"x-real-ip", b"keep-alive", b"http2-settings", b"te", b"connection", b"upgrade"}
    | {b"sec-websocket-extensions"}  # compressed frames could not be told apart (contract 14)
    | {b"cookie", b"authorization"}  # what is not ours of them is put in again
    | {b"host", b"content-length", b"transfer-encoding"}  # put in again as everybody reads them alike
)
_REMOVED_PREFIXES = (b"x-forwarded-", b"proxy-", our_names.OUR_HEADERS)
_FRAMING = frozenset({b"content-length", b"transfer-encoding"})
_DECIDING = _FRAMING | {b"host", b"connection", b"upgrade", b"cookie", b"authorization", b"expect", b"te"}
_DECIDING |= {b"x-forwarded-for", b"x-forwarded-proto"}
_COLLECTED = _DECIDING | set(NOTED)

Sent = dict[bytes, list[bytes]]


def fields_of(block: bytes) -> Fields:
    """What the bytes from the end of the request line to the end of the head say. Raises Refused. The same bytes always
    say the same, and a browser or a script sends them with request after request: they are remembered."""
    return _remembered(block) if len(block) <= 4096 else read_fields(block)


def read_fields(block: bytes) -> Fields:
    _judge(block)
    sent: Sent = {}
    kept = []
    for line in block[2:-4].split(b"\r\n"):
        name, value, is_kept = _known_line(line) if len(line) <= 256 else _read_header(line)
        if name:
            sent.setdefault(name, []).append(value)
        if is_kept:
            kept.append(line)
    hosts = sent.get(b"host", ())
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        raise Refused(Refusal.BAD_HOST)
    fields = Fields(hosts[0].lower(), {name: b", ".join(sent[name]) for name in sent.keys() & _NOTED})
    _framing(fields, sent)
    _pass_on(fields, sent, _connection(fields, sent, kept))
    return fields


_NOTED = frozenset(NOTED)
_remembered = lru_cache(512)(read_fields)


def _read_header(line: bytes) -> tuple[bytes, bytes, bool]:
    """Of one line: its name, if it is to be looked at, and its value; and whether it goes on as it is."""
    name, _, value = line.partition(b":")
    key = name.lower()
    if b"_" in key:  # what some servers take for a dash
        key = key.replace(b"_", b"-")
        if key in _FRAMING:
            raise Refused(Refusal.BAD_FRAMING)
        return b"", b"", not _is_removed(key)
    return key if key in _COLLECTED else b"", value.strip(b" \t"), not _is_removed(key)


_known_line = lru_cache(4096)(_read_header)


def _is_removed(key: bytes) -> bool:
    return key in _REMOVED or key.startswith(_REMOVED_PREFIXES)


def _judge(block: bytes) -> None:
    try:
        httptools.HttpRequestParser(_CALLBACKS).feed_data(b"GET / HTTP/1.1" + block)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError as error:
        raise Refused(Refusal.BAD_HEAD) from error


def _framing(fields: Fields, sent: Sent) -> None:
    lengths, encodings = sent.get(b"content-length", ()), sent.get(b"transfer-encoding", ())
    if len(lengths) + len(encodings) > 1:
        raise Refused(Refusal.BAD_FRAMING)
    if lengths:
        if not LENGTH.fullmatch(lengths[0]):
            raise Refused(Refusal.BAD_FRAMING)
        fields.length = int(lengths[0])
    if encodings:
        if encodings[0].lower() != b"chunked":
            raise Refused(Refusal.BAD_FRAMING)
        fields.is_chunked = True
    if [each.lower() for each in sent.get(b"expect", ())] not in ([], [b"100-continue"]):
        raise Refused(Refusal.EXPECTATION)


def _connection(fields: Fields, sent: Sent, kept: list[bytes]) -> list[bytes]:
    """What belongs to this connection only, and every header that `Connection` names, goes no further."""
    if b"connection" not in sent:
        return kept
    named = {each.strip(b" \t").lower() for value in sent[b"connection"] for each in value.split(b",")}
    fields.closes = b"close" in named
    if b"upgrade" in named and [each.lower() for each in sent.get(b"upgrade", ())] == [b"websocket"]:
        if fields.length or fields.is_chunked:
            raise Refused(Refusal.BAD_UPGRADE)
        fields.is_upgrade = True
    extra = named - _NAMES_IN_CONNECTION
    if not extra:
        return kept
    if extra & _DECIDING:
        raise Refused(Refusal.BAD_FRAMING)  # to take Content-Length away would let a body pass for a request
    return [line for line in kept if line.partition(b":")[0].lower() not in extra]


def _pass_on(fields: Fields, sent: Sent, kept: list[bytes]) -> None:
    fields.forwarded_for = b", ".join(sent.get(b"x-forwarded-for", ()))
    fields.forwarded_proto = b", ".join(sent.get(b"x-forwarded-proto", ()))
    kept[:0] = [b"Host: " + sent[b"host"][0], b"X-Forwarded-Host: " + sent[b"host"][0]]
    if b"content-length" in sent:
        kept.append(b"Content-Length: %d" % fields.length)
    if fields.is_chunked:
        kept.append(b"Transfer-Encoding: chunked")
    if any(b"trailers" in each.lower() for each in sent.get(b"te", ())):
        kept.append(b"TE: trailers")
    kept.append(b"")
    fields.common = b"\r\n".join(kept)
    for value in sent.get(b"cookie", ()):
        theirs, ours = our_names.split_cookies(value)
        fields.cookies += ours
        fields.for_api += b"Cookie: %b\r\n" % value
        if theirs:
            fields.for_workspace += b"Cookie: %b\r\n" % theirs
    for value in sent.get(b"authorization", ()):
        token = our_names.our_token(value)
        fields.token = fields.token or token
        fields.for_api += b"Authorization: %b\r\n" % value
        if token is None:
            fields.for_workspace += b"Authorization: %b\r\n" % value
    if fields.is_upgrade:
        fields.for_workspace += b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
