"""WebSocket frames as tests write and find them: plainly, and apart from the code under test."""

import operator
import struct
from dataclasses import dataclass

NO_MASK = bytes(4)


def frame(payload: bytes, *, mask: bytes | None = None, opcode: int = 2, is_final: bool = True) -> bytes:
    """One frame; a client's with a mask."""
    first = bytes([(0x80 if is_final else 0) | opcode])
    flag = 0 if mask is None else 0x80
    size = len(payload)
    if size < 126:
        length = bytes([flag | size])
    elif size < 1 << 16:
        length = bytes([flag | 126]) + struct.pack(">H", size)
    else:
        length = bytes([flag | 127]) + struct.pack(">Q", size)
    return first + length + (payload if mask is None else mask + xored(payload, mask))


def message(type_: int, data: bytes = b"") -> bytes:
    """One message of VS Code's protocol."""
    return struct.pack(">BIII", type_, 7, 7, len(data)) + data


def xored(payload: bytes, mask: bytes) -> bytes:
    key = (mask * (len(payload) // 4 + 1))[: len(payload)]
    return bytes(map(operator.xor, payload, key))


@dataclass(frozen=True)
class Found:
    """Where a frame lies in a stream."""

    opcode: int
    length_at: slice
    """Where its length stands; of a short frame, the byte that holds the bit of the mask as well."""
    mask_at: int | None
    start: int
    stop: int


def frames(stream: bytes | bytearray) -> list[Found]:
    """All frames that are whole."""
    found, position = [], 0
    while position + 2 <= len(stream):
        start, length = position + 2, stream[position + 1] & 0x7F
        length_at = slice(position + 1, start)
        if length >= 126:
            length_at = slice(start, start + (2 if length == 126 else 8))
            length = int.from_bytes(stream[length_at], "big")
            start = length_at.stop
        mask_at = None
        if stream[position + 1] & 0x80:
            mask_at = start
            start += 4
        if start + length > len(stream):
            break
        found.append(Found(stream[position] & 15, length_at, mask_at, start, start + length))
        position = start + length
    return found


def masked_anew(stream: bytes, mask: bytes) -> bytes:
    """The same frames with another mask. The frames of kept streams have the mask 0."""
    changed = bytearray(stream)
    for each in frames(stream):
        if each.mask_at is not None:
            before = bytes(stream[each.mask_at : each.mask_at + 4])
            payload = xored(bytes(stream[each.start : each.stop]), before)
            changed[each.mask_at : each.mask_at + 4] = mask
            changed[each.start : each.stop] = xored(payload, mask)
    return bytes(changed)
