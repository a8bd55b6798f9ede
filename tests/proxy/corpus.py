"""Requests that try to mean two things at once: hundreds of them, made from tables of what is valid and what is not.

Each is followed by a second request. What is one request for the front door must be one for the workspace, too."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product


class Meant(Enum):
    ACCEPTED = "one request with its body, then the second"
    WITHOUT_BODY = "the header is an unknown one: no body, and what should have been one is refused as a request"
    REFUSED = "400, and neither of them reaches anybody"


@dataclass(frozen=True)
class Case:
    name: str
    lines: bytes
    """Header lines beside Host and cookie, each ended by CRLF."""
    body: bytes
    meant: Meant
    whole: bytes = b"POST / HTTP/1.1\r\n%(head)b%(lines)b\r\n%(body)b"


BODY = b"hello"
CHUNKED = b"5\r\nhello\r\n0\r\n\r\n"

GOOD_LENGTHS = (b"5", b" 5", b"\t5", b"5 ", b"5\t", b"  5  ", b"\t 5 \t")
BAD_LENGTHS = (
    *(
        b"",
        b"05",
        b"005",
        b"+5",
        b"-5",
        b"5,5",
        b"5, 5",
        b"5,6",
        b"5;5",
        b"0x5",
        b"0X5",
        b"5.0",
        b"5e0",
        b"5 5",
        b"5_0",
    ),
    *(b"five", b"NaN", b"'5'", b'"5"', b"%35", b"5%", b"5\xa0", b"\xa05", b"\xef\xbc\x95", b"\xd9\xa5", b"5\x85"),
    *(
        b"5\x0b",
        b"\x0b5",
        b"5\x0c",
        b"5\x00",
        b"\x005",
        b"5\r",
        b"\r5",
        b"5\n",
        b"\n5",
        b"5\x1f",
        b"5\x7f",
        b"5a",
        b"a5",
    ),
    *(b"99999999999999999999", b"18446744073709551621", b"-0", b"+0", b"0,5", b"5,", b",5", b"0b101", b"1e1", b"(5)"),
)
GOOD_ENCODINGS = (b"chunked", b" chunked", b"\tchunked", b"chunked ", b"Chunked", b"CHUNKED", b"chUNKed")
BAD_ENCODINGS = (
    *(b"", b"xchunked", b"chunkedx", b"chunke", b"chunked,", b",chunked", b"chunked, chunked", b"chunked,chunked"),
    *(
        b"identity",
        b"gzip",
        b"gzip, chunked",
        b"chunked, gzip",
        b"identity, chunked",
        b"chunked, identity",
        b"x, chunked",
    ),
    *(
        b"chunked;q=1",
        b"chunked; a=b",
        b"chunked ;",
        b'"chunked"',
        b"'chunked'",
        b"[chunked]",
        b"(chunked)",
        b"<chunked>",
    ),
    *(
        b"chu nked",
        b"chunked\t",
        b"chunked chunked",
        b"\x0bchunked",
        b"chunked\x0b",
        b"\x0cchunked",
        b"chunked\x0c",
        b"chunked\x00",
    ),
    *(
        b"\x00chunked",
        b"chunked\r",
        b"\rchunked",
        b"chunked\n",
        b"\nchunked",
        b"chunked\x85",
        b"chunked\xa0",
        b"\xa0chunked",
    ),
    *(b"\xefchunked", b"%63hunked", b"c\xc4\xa7unked", b"trailers, chunked", b"deflate", b"compress", b"chunked\x1f"),
)
BAD_NAMES = (
    b"%b ",
    b"%b\t",
    b" %b",
    b"\t%b",
    b"%b\x00",
    b"\x00%b",
    b"%b\x0b",
    b"%b\r",
    b"%b\xa0",
    b"\xa0%b",
    b"%b:",
    b'"%b"',
    b"(%b)",
)
OTHER_NAMES = (b"X-%b", b"%bx", b"%b-", b"-%b", b"%b.", b"'%b'", b"~%b", b"%b1")

GOOD_CHUNKS = (
    CHUNKED,
    *(b"1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", b"05\r\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n00\r\n\r\n"),
    *(b"5;a=b\r\nhello\r\n0\r\n\r\n", b'5;a="b;c"\r\nhello\r\n0;x\r\n\r\n', b"5;\r\nhello\r\n0\r\n\r\n"),
    *(
        b"5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n",
        b"5\r\nhello\r\n0\r\nX-A: 1\r\nX-B:\r\n\r\n",
        b"000000000000005\r\nhello\r\n0\r\n\r\n",
    ),
)
BAD_CHUNKS = (
    *(
        b"%b\r\nhello\r\n0\r\n\r\n" % size
        for size in (b"0x5", b"5h", b"+5", b"-5", b" 5", b"5 ", b"5\t", b"\t5", b"'5'", b"")
    ),
    *(
        b"%b\r\nhello\r\n0\r\n\r\n" % size
        for size in (b"5,", b"5:", b"5 ;a", b"5\x00", b"\x005", b"5\x0b", b"5;a\x00", b"5;a\x7f")
    ),
    *(
        b"%b\r\nhello\r\n0\r\n\r\n" % size
        for size in (b"5;a\nb", b"5;a\rb", b"5;\n", b"5\r", b"5\n", b"0000000000000005", b"F" * 17)
    ),
    *(
        b"5\nhello\r\n0\r\n\r\n",
        b"5\rhello\r\n0\r\n\r\n",
        b"5\n\rhello\r\n0\r\n\r\n",
    ),
    *(
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\r0\r\n\r\n",
        b"5\r\nhello\n\r0\r\n\r\n",
        b"5\r\nhello\r\r\n0\r\n\r\n",
    ),
    *(
        b"4\r\nhello\r\n0\r\n\r\n",
        b"6\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello!\r\n0\r\n\r\n",
        b"5\r\nhello\r\n\r\n0\r\n\r\n",
    ),
    *(
        b"5\r\nhello\r\n0\r\n%b\r\n\r\n" % line
        for line in (b"X : 1", b" X: 1", b"X", b": 1", b"X: 1\x00", b"X: 1\nY: 2", b"X: 1\rY")
    ),
    *(
        b"5\r\nhello\r\n0\r\n%b: 1\r\n\r\n" % name
        for name in (b"Content-Length", b"transfer-encoding", b"HOST", b"Cookie")
    ),
    *(
        b"5\r\nhello\r\n0\r\n%b: 1\r\n\r\n" % name
        for name in (b"Authorization", b"X-Forwarded-For", b"x_codehub_user", b"TE")
    ),
    *(
        b"5\r\nhello\r\n0\n\r\n",
        b"5\r\nhello\r\n0\r\n\n",
        b"5\r\nhello\r\n0\r\n\r\r\n",
        b"5\r\nhello\r\n0;\n\r\n\r\n",
        b"5\r\nhello\r\n-0\r\n\r\n",
    ),
)


def cases() -> Iterator[Case]:
    yield from _lengths()
    yield from _encodings()
    yield from _names()
    yield from _both()
    yield from _chunks()
    yield from _endings_of_lines()
    yield from _control_characters()


def _line(name: bytes, value: bytes) -> bytes:
    return name + b":" + value + b"\r\n"


def _lengths() -> Iterator[Case]:
    for value in GOOD_LENGTHS:
        yield Case(f"length {value!r}", _line(b"Content-Length", value), BODY, Meant.ACCEPTED)
    for value in BAD_LENGTHS:
        yield Case(f"length {value!r}", _line(b"Content-Length", value), BODY, Meant.REFUSED)


def _encodings() -> Iterator[Case]:
    for value in GOOD_ENCODINGS:
        yield Case(f"encoding {value!r}", _line(b"Transfer-Encoding", value), CHUNKED, Meant.ACCEPTED)
    for value in BAD_ENCODINGS:
        yield Case(f"encoding {value!r}", _line(b"Transfer-Encoding", value), CHUNKED, Meant.REFUSED)


def _names() -> Iterator[Case]:
    for name, value, body in ((b"Content-Length", b" 5", BODY), (b"Transfer-Encoding", b" chunked", CHUNKED)):
        for written in (name.lower(), name.upper(), name.swapcase()):
            yield Case(f"name {written!r}", _line(written, value), body, Meant.ACCEPTED)
        for form in BAD_NAMES:
            yield Case(f"name {form % name!r}", _line(form % name, value), body, Meant.REFUSED)
        for form in OTHER_NAMES:
            yield Case(f"name {form % name!r}", _line(form % name, value), body, Meant.WITHOUT_BODY)
        underscored = name.replace(b"-", b"_")
        yield Case(f"name {underscored!r}", _line(underscored, value), body, Meant.REFUSED)


def _both() -> Iterator[Case]:
    """Whatever each of them says: two are one too many."""
    lengths = [_line(b"Content-Length", value) for value in (b" 5", b" 15", b" 0", b"5", b" 05", b" 5, 5")]
    encodings = [_line(b"Transfer-Encoding", value) for value in (b" chunked", b" identity", b" xchunked", b" Chunked")]
    for first, second in product(lengths + encodings, repeat=2):
        for between in (b"", b"X-Between: 1\r\n"):
            lines = first + between + second
            yield Case(f"both {lines!r}", lines, CHUNKED, Meant.REFUSED)


def _chunks() -> Iterator[Case]:
    for body in GOOD_CHUNKS:
        yield Case(f"chunks {body!r}", _line(b"Transfer-Encoding", b" chunked"), body, Meant.ACCEPTED)
    for body in BAD_CHUNKS:
        yield Case(f"chunks {body!r}", _line(b"Transfer-Encoding", b" chunked"), body, Meant.REFUSED)


def _endings_of_lines() -> Iterator[Case]:
    lines = [b"POST / HTTP/1.1", b"%(host)b", b"%(cookie)b", b"X-A: 1", b"Content-Length: 5", b"X-B: 2"]
    for place, ending in product(
        range(len(lines)), (b"\n", b"\r", b"\n\r", b"\r\r\n", b"\r\n ", b"\r\n\t", b"\n\n", b"\r \n")
    ):
        written = b"".join(line + (ending if number == place else b"\r\n") for number, line in enumerate(lines))
        yield Case(f"line {place} ends with {ending!r}", b"", BODY, Meant.REFUSED, written + b"\r\n%(body)b")


def _control_characters() -> Iterator[Case]:
    length = _line(b"Content-Length", b" 5")
    for code in (*range(9), *range(10, 32), 127):
        character = bytes([code])
        yield Case(f"{code} in a value", length + b"X-A: 1%b2\r\n" % character, BODY, Meant.REFUSED)
        yield Case(f"{code} in a name", length + b"X-%bA: 1\r\n" % character, BODY, Meant.REFUSED)
