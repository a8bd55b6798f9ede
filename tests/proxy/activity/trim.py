"""Makes the small files of `streams/` from raw recordings.

    python -m tests.proxy.activity.trim RAW_FOLDER vscode-idle [--until SECONDS]

Pieces and frames stay as they were, but masks become 0, and of each message what stands further back than anybody looks
is left out, with the lengths set right: so they are small, and files that were transferred are not in them.
"""

import argparse
import json
import lzma
import struct
from itertools import compress
from pathlib import Path

from codehub.proxy.activity import vscode
from codehub.proxy.activity.recording import Direction, Recorder
from tests.proxy.activity.recording import Piece, read
from tests.proxy.activity.wire import NO_MASK, frames, masked_anew

STREAMS = Path(__file__).parent / "streams"
BEST = 9
KEPT = vscode.LOOK + 100
_HEADER = struct.Struct(">BIII")


def trimmed(pieces: list[Piece], *, is_vscode: bool) -> list[Piece]:
    streams, kept = {}, {}
    for direction in Direction:
        stream = bytearray(masked_anew(b"".join(each.data for each in pieces if each.direction == direction), NO_MASK))
        kept[direction] = _shortened_messages(stream) if is_vscode else _shortened_frames(stream)
        _set_lengths(stream, kept[direction])
        streams[direction] = stream
    small, at = [], dict.fromkeys(Direction, 0)
    for each in pieces:
        part = slice(at[each.direction], at[each.direction] + len(each.data))
        at[each.direction] = part.stop
        data = bytes(compress(streams[each.direction][part], kept[each.direction][part]))
        small.append(Piece(each.at, each.direction, data))
    return [each for each in small if each.data]


def _shortened_frames(stream: bytearray) -> bytearray:
    """Which bytes to keep."""
    kept = bytearray(b"\1" * len(stream))
    for each in frames(stream):
        _leave_out(kept, each.start + KEPT, each.stop)
    return kept


def _shortened_messages(stream: bytearray) -> bytearray:
    """Which bytes to keep of VS Code's messages, which may begin and end anywhere in a frame."""
    data = [each for each in frames(stream) if each.opcode < 8]
    joined = bytearray(b"".join(stream[each.start : each.stop] for each in data))
    kept_of_joined = bytearray(b"\1" * len(joined))
    position = 0
    while position + _HEADER.size <= len(joined):
        *others, length = _HEADER.unpack_from(joined, position)
        _HEADER.pack_into(joined, position, *others, min(length, KEPT))
        position += _HEADER.size
        _leave_out(kept_of_joined, position + KEPT, position + length)
        position += length
    kept = bytearray(b"\1" * len(stream))
    position = 0
    for each in data:
        part = slice(position, position + each.stop - each.start)
        stream[each.start : each.stop] = joined[part]
        kept[each.start : each.stop] = kept_of_joined[part]
        position = part.stop
    return kept


def _leave_out(kept: bytearray, start: int, stop: int) -> None:
    stop = min(stop, len(kept))
    if start < stop:
        kept[start:stop] = bytes(stop - start)


def _set_lengths(stream: bytearray, kept: bytearray) -> None:
    """Each keeps the width that it has."""
    for each in frames(stream):
        size = sum(kept[each.start : each.stop])
        width = each.length_at.stop - each.length_at.start
        flag = stream[each.length_at.start] & 0x80 if width == 1 else 0
        stream[each.length_at] = (size | flag).to_bytes(width, "big")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("name")
    parser.add_argument("--until", type=float, default=float("inf"), help="leave out what came after so many seconds")
    parser.add_argument("--only", type=int, nargs="*", help="the numbers of the recordings to keep")
    asked = parser.parse_args()
    for number, file in enumerate(sorted(asked.raw.glob("*.xz"), key=lambda file: int(file.name.split(".")[0]))):
        if asked.only and number not in asked.only:
            continue
        target, pieces = read(file)
        pieces = [each for each in pieces if each.at < asked.until]
        recorder = Recorder(STREAMS / f"{asked.name}-{number}.xz", target, 0, BEST)
        for each in trimmed(pieces, is_vscode=b"reconnectionToken" in target):
            recorder.write(each.direction, each.data, each.at)
        recorder.close()
    told = {"marks": json.loads((asked.raw / "marks.json").read_text())}
    told["requests"] = json.loads((asked.raw / "requests.json").read_text())
    (STREAMS / f"{asked.name}.json.xz").write_bytes(lzma.compress(json.dumps(told).encode()))


if __name__ == "__main__":
    main()
