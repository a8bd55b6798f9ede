"""The head of a request, read once and strictly: who asks for what, how long its body is, and what of it is passed on.

llhttp checks that it is HTTP at all, without a doubt about where a line or a name ends; the tables below say what is
done with the headers that matter. There is no second reading: what is decided here is what is sent on."""

import re
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class RequestLine:
    method: bytes
    target: bytes
    is_1_0: bool


def read_line(line: bytes) -> RequestLine:
    """Raises Refused."""
    found = _LINE.fullmatch(line)
    if found is None:
        raise Refused(_fault(line))
    method, target, minor = found.groups()
    if method in _NOT_SERVED or (target == b"*" and method != b"OPTIONS"):
        raise Refused(Refusal.METHOD)
    return RequestLine(method, target, minor == b"0")


def _fault(line: bytes) -> Refusal:
    if _ABSOLUTE.fullmatch(line):
        return Refusal.NOT_HERE  # what is asked for is named by Host alone, and once
    return Refusal.VERSION if _OTHER_VERSION.fullmatch(line) else Refusal.BAD_HEAD


@dataclass(slots=True)
class Fields:
    """Everything after the request line. The same bytes always mean the same, so this is remembered."""

    host: bytes = b""
    cookies: tuple[tuple[bytes, bytes], ...] = ()
    token: bytes | None = None
    noted: dict[bytes, bytes] = field(default_factory=dict)
    length: int = 0
    is_chunked: bool = False
    closes: bool = False
    expects_continue: bool = False
    is_upgrade: bool = False
    forwarded_for: bytes = b""
    """What was sent as X-Forwarded-For; a trusted proxy's is believed."""
    forwarded_proto: bytes = b""
    for_workspace: bytes = b""
    """The lines that go on to a workspace, each ended by CRLF."""
    for_api: bytes = b""


class _NoCallbacks:
    """llhttp is asked for its judgement only."""


_CALLBACKS = _NoCallbacks()
_NAMES_IN_CONNECTION = frozenset({b"close", b"keep-alive", b"upgrade", b"te", b"http2-settings", b""})

_REMOVED = frozenset(
    {b"forwarded", b"x-real-ip", b"keep-alive", b"http2-settings", b"te", b"connection", b"upgrade"}
    | {b"sec-websocket-extensions"}  # compressed frames could not be told apart (contract 14)
)
_REMOVED_PREFIXES = (b"x-forwarded-", b"proxy-", our_names.OUR_HEADERS)
_COLLECTED = frozenset(
    {
        b"host",
        b"content-length",
        b"transfer-encoding",
        b"connection",
        b"upgrade",
        b"cookie",
        b"authorization",
        b"expect",
    }
    | {b"te", b"x-forwarded-for", b"x-forwarded-proto", *NOTED}
)
_NEVER_ALIAS = frozenset({b"content-length", b"transfer-encoding"})


def read_fields(block: bytes) -> Fields:
    """Of the bytes from the end of the request line to the end of the head. Raises Refused."""
    _judge(block)
    sent: dict[bytes, list[bytes]] = {}
    kept: list[bytes] = []
    for line in block[2:-4].split(b"\r\n"):
        name, _, value = line.partition(b":")
        key = name.lower()
        if b"_" in key:  # what some servers take for a dash
            key = key.replace(b"_", b"-")
            if key in _NEVER_ALIAS:
                raise Refused(Refusal.BAD_FRAMING)
        elif key in _COLLECTED:
            sent.setdefault(key, []).append(value.strip(b" \t"))
            if key in (b"cookie", b"authorization"):
                continue
        if key not in _REMOVED and not key.startswith(_REMOVED_PREFIXES):
            kept.append(line)
    fields = Fields()
    _host(fields, sent)
    _framing(fields, sent)
    kept = _connection(fields, sent, kept)
    _pass_on(fields, sent, kept)
    fields.noted = {name: b", ".join(sent[name]) for name in NOTED if name in sent}
    return fields


def _judge(block: bytes) -> None:
    try:
        httptools.HttpRequestParser(_CALLBACKS).feed_data(b"GET / HTTP/1.1" + block)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError as error:
        raise Refused(Refusal.BAD_HEAD) from error
    if block.count(b"\n") != block.count(b"\r\n") or block.count(b"\r") != block.count(b"\r\n"):
        raise Refused(Refusal.BAD_HEAD)


def _host(fields: Fields, sent: dict[bytes, list[bytes]]) -> None:
    hosts = sent.get(b"host", ())
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        raise Refused(Refusal.BAD_HOST)
    fields.host = hosts[0].lower()


def _framing(fields: Fields, sent: dict[bytes, list[bytes]]) -> None:
    lengths, encodings = sent.get(b"content-length", []), sent.get(b"transfer-encoding", [])
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
    expectations = sent.get(b"expect", [])
    if expectations:
        if [each.lower() for each in expectations] != [b"100-continue"]:
            raise Refused(Refusal.EXPECTATION)
        fields.expects_continue = True


def _connection(fields: Fields, sent: dict[bytes, list[bytes]], kept: list[bytes]) -> list[bytes]:
    """What belongs to this connection only, and every header that `Connection` names, goes no further."""
    named = {each.strip(b" \t").lower() for value in sent.get(b"connection", ()) for each in value.split(b",")}
    fields.closes = b"close" in named
    if b"upgrade" in named and [each.lower() for each in sent.get(b"upgrade", ())] == [b"websocket"]:
        if fields.length or fields.is_chunked:
            raise Refused(Refusal.BAD_UPGRADE)
        fields.is_upgrade = True
    extra = named - _NAMES_IN_CONNECTION
    if not extra:
        return kept
    if extra & (_COLLECTED - set(NOTED)):
        raise Refused(Refusal.BAD_FRAMING)  # to take Content-Length away would let a body pass for a request
    return [line for line in kept if line.partition(b":")[0].lower() not in extra]


def _pass_on(fields: Fields, sent: dict[bytes, list[bytes]], kept: list[bytes]) -> None:
    fields.forwarded_for = b", ".join(sent.get(b"x-forwarded-for", ()))
    fields.forwarded_proto = b", ".join(sent.get(b"x-forwarded-proto", ()))
    common = [*kept, b"X-Forwarded-Host: " + sent[b"host"][0]]
    if any(b"trailers" in each.lower() for each in sent.get(b"te", ())):
        common.append(b"TE: trailers")
    credentials, workspace = [], []
    for value in sent.get(b"cookie", ()):
        theirs, ours = our_names.split_cookies(value)
        fields.cookies += ours
        credentials.append(b"Cookie: " + value)
        if theirs:
            workspace.append(b"Cookie: " + theirs)
    for value in sent.get(b"authorization", ()):
        token = our_names.our_token(value)
        fields.token = fields.token or token
        credentials.append(b"Authorization: " + value)
        if token is None:
            workspace.append(b"Authorization: " + value)
    if fields.is_upgrade:
        workspace += [b"Connection: Upgrade", b"Upgrade: websocket"]
    fields.for_workspace = b"".join(b"%b\r\n" % line for line in (*common, *workspace))
    fields.for_api = b"".join(b"%b\r\n" % line for line in (*common, *credentials))


class FieldsRead:
    """What was read lately: a browser sends the same lines with request after request, and so does a script. At most
    twice `REMEMBERED` blocks are kept, each of no more than `LONGEST` bytes."""

    REMEMBERED = 512
    LONGEST = 4096

    def __init__(self) -> None:
        self._young: dict[bytes, Fields] = {}
        self._old: dict[bytes, Fields] = {}

    def read(self, block: bytes) -> Fields:
        found = self._young.get(block)
        return found if found is not None else self._remember(block)

    def _remember(self, block: bytes) -> Fields:
        fields = self._old.get(block) or read_fields(block)
        if len(block) <= self.LONGEST:
            if len(self._young) >= self.REMEMBERED:
                self._old, self._young = self._young, {}
            self._young[block] = fields
        return fields
