"""JupyterLab's tunnels, and apps that nobody here knows."""

import pytest

from codehub.model.activity import Kind
from codehub.proxy.activity.general import BULKY_BYTES
from codehub.proxy.activity.tunnel import Tunnel, listen
from tests.proxy.activity.wire import frame

MASK = b"\x9a\x01\xfe\x40"
KERNEL = b"/w/9f/api/kernels/d930a09b-d535/channels?session_id=5"
TERMINAL = b"/terminals/websocket/1"
APP = b"/live/ws?room=garden"


def sent(tunnel: Tunnel, payload: bytes, now: float, opcode: int = 1) -> Kind | None:
    return tunnel.from_client.feed(frame(payload, mask=MASK, opcode=opcode), now)


def received(tunnel: Tunnel, payload: bytes, now: float, opcode: int = 1) -> Kind | None:
    return tunnel.from_server.feed(frame(payload, opcode=opcode), now)


def json_message(type_: str, parent: str = "execute_request") -> bytes:
    return (
        f'{{"header": {{"msg_id": "1", "msg_type": "{type_}"}}, "parent_header": {{"msg_type": "{parent}"}},'
        f' "content": {{}}, "channel": "shell"}}'
    ).encode()


def binary_message(type_: str, parent: str = "execute_request") -> bytes:
    """Of the subprotocol v1: offsets, then the parts one after the other."""
    parts = [b"shell", f'{{"msg_id":"1","msg_type":"{type_}"}}'.encode(), f'{{"msg_type":"{parent}"}}'.encode(), b"{}"]
    offsets = [8 * (2 + len(parts))]
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return b"".join(number.to_bytes(8, "little") for number in (len(offsets), *offsets)) + b"".join(parts)


@pytest.mark.parametrize("written", [json_message, binary_message])
def test_what_is_said_to_a_kernel(written: object) -> None:
    assert callable(written)
    expected = {
        "execute_request": Kind.NOTEBOOK,
        "complete_request": Kind.COMPLETION,
        "kernel_info_request": None,
        "comm_info_request": None,
        "history_request": None,
        "comm_msg": Kind.MESSAGE,
    }
    assert {name: sent(listen(KERNEL), written(name), 0) for name in expected} == expected


@pytest.mark.parametrize("written", [json_message, binary_message])
def test_what_a_kernel_says(written: object) -> None:
    assert callable(written)
    expected = {
        "stream": Kind.NOTEBOOK,
        "display_data": Kind.NOTEBOOK,
        "error": Kind.NOTEBOOK,
        "status": None,
        "kernel_info_reply": None,
        "execute_reply": None,
    }
    assert {name: received(listen(KERNEL), written(name), 0) for name in expected} == expected


def test_a_control_in_a_notebook_that_moves_by_itself_is_nobodys() -> None:
    tunnel = listen(KERNEL)
    told = [sent(tunnel, json_message("comm_msg"), number * 2) for number in range(6)]
    assert told == [Kind.MESSAGE] * 3 + [None] * 3


def test_a_terminal_of_jupyter() -> None:
    tunnel = listen(TERMINAL)
    assert received(tunnel, b'["setup", {}]', 0) is None
    assert sent(tunnel, b'["set_size",24,80,400,600]', 0.1) is None
    assert received(tunnel, b'["stdout", "the screen as it was\\r\\n$ "]', 0.3) is None
    assert sent(tunnel, b'["stdin","ls\\r"]', 9) is Kind.TERMINAL_INPUT
    assert received(tunnel, b'["stdout", "apples.py\\r\\n"]', 9.1) is Kind.TERMINAL_OUTPUT
    assert received(tunnel, b'["disconnect", 1]', 10) is None


def test_notices_of_jupyter_never_count() -> None:
    tunnel = listen(b"/api/events/subscribe")
    assert received(tunnel, b'{"schema_id": "https://events.jupyter.org/kernel_actions"}', 0) is None


@pytest.mark.parametrize(
    "ping",
    [
        b"",
        b"2",
        b"3",
        b"h",
        b"ping",
        b"PONG",
        b'{"type":"ping"}',
        b'{"type": "ka"}',
        b'["heartbeat"]',
        b'{"op":"keep-alive"}',
    ],
)
def test_a_ping_of_an_app_never_counts(ping: bytes) -> None:
    tunnel = listen(APP)
    assert [sent(tunnel, ping, at) for at in (0, 3, 4, 11, 30)] == [None] * 5
    assert tunnel.from_client.feed(frame(b"\x00", mask=MASK, opcode=9), 40) is None


def test_what_a_client_of_an_app_says_counts_unless_it_is_clockwork() -> None:
    tunnel = listen(APP)
    assert [sent(tunnel, b"plant a tree", at) for at in (0, 2, 9, 11)] == [Kind.MESSAGE] * 4
    told = [sent(tunnel, b'{"position": [12, 40, 7], "tree": "apple"}', number * 10) for number in range(6)]
    assert told == [Kind.MESSAGE] * 3 + [None] * 3


def test_what_an_app_says_counts_while_it_is_irregular_or_bulky() -> None:
    tunnel = listen(APP)
    assert [received(tunnel, b"it grows", at) for at in (0, 1.5, 9)] == [Kind.MESSAGE] * 3
    ticks = [received(tunnel, b'{"time": "12:00:00", "weather": "fair"}', number) for number in range(1, 30, 2)]
    assert ticks == [Kind.MESSAGE] * 3 + [None] * 12
    bulk = [received(tunnel, bytes(BULKY_BYTES), number, opcode=2) for number in range(1, 30, 2)]
    assert bulk == [Kind.TRANSFER] * 15
