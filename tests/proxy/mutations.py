"""Bytes that were valid once: changed here and there, by chance that can be repeated."""

from collections.abc import Callable, Sequence
from random import Random

WORDS = (
    *(
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"\x00",
        b" ",
        b"\t",
        b":",
        b";",
        b",",
        b"=",
        b"\x80",
        b"\xff",
        b"%2e%2e",
        b"/../",
    ),
    *(b"Content-Length: 5\r\n", b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n", b"Host: evil.test\r\n"),
    *(
        b"Connection: close\r\n",
        b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
        b"Expect: 100-continue\r\n",
        b"0\r\n\r\n",
    ),
    *(
        b"GET / HTTP/1.1\r\n",
        b"HTTP/1.0",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"Set-Cookie: codehub=x\r\n",
    ),
    *(
        b"codehub",
        b"Cookie: codehub=1\r\n",
        b"X-Codehub-User: x\r\n",
        b"ffffffffffffffff",
        b"5\r\nhello\r\n",
        b"1;x\r\n",
    ),
)


def mutated(data: bytes, chance: Random, words: Sequence[bytes] = WORDS) -> bytes:
    """With one to four changes, most often few."""
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(_CHANGES)(data, chance, words)
    return data


def _flip(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    place = _place(data, chance)
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _insert(data: bytes, chance: Random, words: Sequence[bytes]) -> bytes:
    place = _place(data, chance)
    return data[:place] + chance.choice(words) + data[place:]


def _delete(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    place = _place(data, chance)
    return data[:place] + data[place + chance.randrange(1, 9) :]


def _double(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    start, end = sorted((_place(data, chance), _place(data, chance)))
    return data[:end] + data[start:end] + data[end:]


def _double_line(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return b"\r\n".join(lines)


def _swap(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    lines = data.split(b"\r\n")
    chance.shuffle(lines)
    return b"\r\n".join(lines) if chance.random() < 0.2 else data


def _cut(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    return data[: _place(data, chance)]


def _other_case(data: bytes, chance: Random, _words: Sequence[bytes]) -> bytes:
    start, end = sorted((_place(data, chance), _place(data, chance)))
    return data[:start] + data[start:end].swapcase() + data[end:]


def _place(data: bytes, chance: Random) -> int:
    return chance.randrange(len(data) + 1)


_CHANGES: tuple[Callable[[bytes, Random, Sequence[bytes]], bytes], ...]
_CHANGES = (_flip, _flip, _insert, _insert, _insert, _delete, _double, _double_line, _swap, _cut, _other_case)
