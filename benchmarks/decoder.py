"""What it costs to read along in a tunnel, per message.

    python -m benchmarks.decoder --rounds 20

Recorded tunnels of VS Code, an idle window and one in which somebody works, are fed piece by piece as they were read
from the socket, with masks like those of real clients; so are a keep-alive and a terminal's input alone. Each call is
measured beside one that does nothing, in turn, and of all rounds the quickest counts: what other programs take is not
the decoder's. A message is one of VS Code's; those in one piece share its cost.
"""

import statistics
import time
from collections.abc import Callable, Sequence

from benchmarks.stage import Figure, arguments, progress, run
from tests.proxy.activity.kept import remasked, stream
from tests.proxy.activity.recording import Piece
from tests.proxy.activity.wire import frame, frames, message, xored

from codehub.model.activity import Kind
from codehub.proxy.activity.recording import Direction
from codehub.proxy.activity.tunnel import Tunnel, listen

IDLE = ("vscode-idle-2", "vscode-idle-3")
WORK = ("vscode-work-0", "vscode-work-1")
MICROSECONDS = 1.0
MASK = b"\x37\xfa\x21\x3d"
INPUT = b"\x04\x04\x06\x64\x06\x9b\x09\x01\x0eremoteterminal\x01\x06$input\x04\x02\x06\x01\x01\x01f"
Feed = Callable[[bytes, float], Kind | None]


def nothing(_data: bytes, _now: float) -> Kind | None:
    return None


def took(feed: Feed, data: bytes, now: float) -> int:
    began = time.perf_counter_ns()
    feed(data, now)
    return time.perf_counter_ns() - began


def messages(pieces: Sequence[Piece]) -> list[int]:
    """How many messages end in each piece."""
    counts = [0] * len(pieces)
    for direction in Direction:
        numbers = [number for number, piece in enumerate(pieces) if piece.direction is direction]
        owner = [number for number in numbers for _ in pieces[number].data]
        data = b"".join(pieces[number].data for number in numbers)
        payload, where = bytearray(), []
        for each in frames(data):
            if each.opcode < 8:
                mask = bytes(4) if each.mask_at is None else data[each.mask_at : each.mask_at + 4]
                payload += xored(data[each.start : each.stop], mask)
                where += owner[each.start : each.stop]
        position = 0
        while position + 13 <= len(payload):
            position += 13 + int.from_bytes(payload[position + 9 : position + 13], "big")
            counts[where[min(position, len(where)) - 1]] += 1
    return counts


def costs(name: str, rounds: int) -> list[float]:
    """Microseconds for each message of a stream."""
    kept = remasked(stream(name), MASK)
    least = [1 << 40] * len(kept.pieces)
    empty = [1 << 40] * len(kept.pieces)
    for _ in range(rounds):
        tunnel = listen(kept.target)
        for number, piece in enumerate(kept.pieces):
            empty[number] = min(empty[number], took(nothing, piece.data, piece.at))
            least[number] = min(least[number], took(_side(tunnel, piece), piece.data, piece.at))
    counted = messages(kept.pieces)
    return [
        (took_least - took_empty) / 1000 / count
        for took_least, took_empty, count in zip(least, empty, counted, strict=True)
        for _ in range(count)
    ]


def _side(tunnel: Tunnel, piece: Piece) -> Feed:
    return tunnel.from_client.feed if piece.direction is Direction.FROM_CLIENT else tunnel.from_server.feed


def alone(data: bytes, rounds: int) -> float:
    """Microseconds for one message of a client that comes again and again."""
    tunnel = listen(b"/stable?reconnectionToken=1")
    tunnel.from_client.feed(frame(message(2, b'{"desiredConnectionType":1}'), mask=MASK), 0)
    sent = frame(data, mask=MASK)
    pairs = [(took(nothing, sent, 0), took(tunnel.from_client.feed, sent, 0)) for _ in range(rounds * 1000)]
    return (statistics.median(each[1] for each in pairs) - statistics.median(each[0] for each in pairs)) / 1000


async def benchmark(rounds: int) -> Sequence[Figure]:
    figures = []
    for what, names in (("an idle window", IDLE), ("a window at work", WORK)):
        spent = [cost for name in names for cost in costs(name, rounds)]
        progress(f"{what}: {len(spent)} messages")
        figures.append(Figure(f"message of {what}, median", statistics.median(spent), "us", MICROSECONDS))
        figures.append(Figure(f"message of {what}, mean", statistics.mean(spent), "us"))
    figures.append(Figure("keep-alive alone, median", alone(message(9), rounds), "us", MICROSECONDS))
    figures.append(Figure("terminal input alone, median", alone(message(1, INPUT), rounds), "us"))
    return figures


if __name__ == "__main__":
    asked = arguments(__doc__, rounds=20)
    run(benchmark(asked.rounds))
