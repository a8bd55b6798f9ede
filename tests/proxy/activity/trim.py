"""Makes the small files of `streams/` from raw recordings.

    python -m tests.proxy.activity.trim RAW_FOLDER vscode-idle [--until SECONDS]

The frames stay as they were, piece by piece. Their masks become 0, and what stands further back in a message than
anybody looks becomes zeros: so they compress well, and files that were transferred are not in them.
"""

import argparse
import json
import lzma
import struct
from pathlib import Path

from codehub.proxy.activity import vscode
from codehub.proxy.activity.recording import Direction, Piece, Recorder, read
from tests.proxy.activity.wire import NO_MASK, frames, masked_anew

STREAMS = Path(__file__).parent / "streams"
BEST = 9
_HEADER = struct.Struct(">BIII")


def trimmed(pieces: list[Piece], *, is_vscode: bool) -> list[Piece]:
    streams = {}
    for direction in Direction:
        stream = bytearray(masked_anew(b"".join(each.data for each in pieces if each.direction == direction), NO_MASK))
        (_blank_messages if is_vscode else _blank_frames)(stream)
        streams[direction] = stream
    kept, at = [], dict.fromkeys(Direction, 0)
    for each in pieces:
        start = at[each.direction]
        at[each.direction] += len(each.data)
        kept.append(Piece(each.at, each.direction, bytes(streams[each.direction][start : at[each.direction]])))
    return kept


def _blank_frames(stream: bytearray) -> None:
    for each in frames(stream):
        _blank(stream, each.start + vscode.LOOK, each.stop)


def _blank_messages(stream: bytearray) -> None:
    """Of VS Code's messages, which may begin and end anywhere in a frame."""
    data = [each for each in frames(stream) if each.opcode < 8]
    joined = bytearray(b"".join(stream[each.start : each.stop] for each in data))
    position = 0
    while position + _HEADER.size <= len(joined):
        length = _HEADER.unpack_from(joined, position)[3]
        position += _HEADER.size
        _blank(joined, position + vscode.LOOK, position + length)
        position += length
    position = 0
    for each in data:
        size = each.stop - each.start
        stream[each.start : each.stop] = joined[position : position + size]
        position += size


def _blank(stream: bytearray, start: int, stop: int) -> None:
    stop = min(stop, len(stream))
    if start < stop:
        stream[start:stop] = bytes(stop - start)


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
