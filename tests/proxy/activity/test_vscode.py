"""What VS Code's calls mean, told by messages as it sends them."""

import pytest

from codehub.model.activity import Kind
from codehub.proxy.activity.tunnel import Tunnel, listen
from tests.proxy.activity.wire import frame, message

MASK = b"\x9a\x01\xfe\x40"
REGULAR, CONTROL, ACK, KEEP_ALIVE = 1, 2, 3, 9
MANAGEMENT, EXTENSION_HOST, PORT = 1, 2, 3
TARGET = b"/stable-53c2f3?reconnectionToken=1b2f&reconnection=false&skipWebSocketFrames=false"


def opened(connection: int, target: bytes = TARGET) -> Tunnel:
    """After its first messages."""
    tunnel = listen(target)
    for said in ('{"type":"auth","auth":"0"}', f'{{"type":"connectionType","desiredConnectionType":{connection}}}'):
        assert tunnel.from_client.feed(frame(message(CONTROL, said.encode()), mask=MASK), 0) is None
    assert tunnel.from_server.feed(frame(message(CONTROL, b'{"type":"ok"}')), 0) is None
    return tunnel


def text(value: str, type_: int = 1) -> bytes:
    encoded = value.encode()
    size, length = len(encoded), b""
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([type_]) + length + bytes([size]) + encoded


def call(channel: str, command: str, *arguments: str, type_: int = 100) -> bytes:
    json = b"".join(text(each, 5) for each in arguments)
    return b"\x04\x04\x06" + bytes([type_]) + b"\x06\x9b\x09" + text(channel) + text(command) + b"\x04\x01" + json


def event(json: str) -> bytes:
    return b"\x04\x02\x06\xcc\x01\x06\x9b\x09" + text(json, 5)


def path(name: str) -> str:
    return f'{{"$mid":1,"external":"vscode-remote://10.0.0.7{name}","path":"{name}","scheme":"vscode-remote"}}'


def method(name: str, arguments: str = "[]", type_: int = 1) -> bytes:
    return (
        bytes([type_, 0, 0, 1, 57, 95, len(name)])
        + name.encode()
        + len(arguments).to_bytes(4, "big")
        + arguments.encode()
    )


def from_client(connection: int, *messages: bytes, every: float = 0) -> list[Kind | None]:
    """What each tells, at such distances. The same whether it comes in one piece or byte by byte."""
    whole, in_bytes = opened(connection), opened(connection)
    told = []
    for number, data in enumerate(messages):
        sent = frame(message(REGULAR, data), mask=MASK)
        now = number * every
        told.append(whole.from_client.feed(sent, now))
        kinds = [in_bytes.from_client.feed(sent[at : at + 1], now) for at in range(len(sent))]
        assert [kind for kind in kinds if kind is not None] == [kind for kind in (told[-1],) if kind is not None]
    return told


OWN = "/home/coder/.local/share/code-server/User/workspaceStorage/-56898f10/chatEditingSessions/b5ce/state.json"
THEIRS = "/home/coder/garden/apples.js"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (call("remoteterminal", "$input", '[1,"f"]'), Kind.TERMINAL_INPUT),
        (call("remoteterminal", "$resize", "[1,80,24]"), None),
        (call("remoteterminal", "$acknowledgeDataEvent", "[1,5000]"), None),
        (call("remoteFilesystem", "writeFile", path(THEIRS)), Kind.SAVE),
        (call("remoteFilesystem", "writeFile", path(OWN)), None),
        (call("remoteFilesystem", "writeFile", path("/data/code-server/User/globalStorage/state.json")), None),
        (call("remoteFilesystem", "writeFile", path("/" + "very/" * 300 + "deep.txt")), Kind.SAVE),
        (call("remoteFilesystem", "rename", path(OWN), path(THEIRS)), Kind.SAVE),
        (call("remoteFilesystem", "delete", path(THEIRS)), Kind.SAVE),
        (call("remoteFilesystem", "mkdir", path("/home/coder/.local/share/code-server")), None),
        (call("remoteFilesystem", "write", "[7,0]"), Kind.SAVE),
        (call("remoteFilesystem", "stat", path(THEIRS)), None),
        (call("remoteFilesystem", "readdir", path(THEIRS)), None),
        (call("remoteFilesystem", "readFileStream", path(THEIRS), type_=102), None),
        (call("telemetry", "ping"), None),
        (call("telemetry", "logTelemetry", '{"eventName":"startupTimeVaried","data":{}}'), None),
        (
            call("telemetry", "logTelemetry", '{"eventName":"workbenchActionExecuted","data":{"id":"undo"}}'),
            Kind.COMMAND,
        ),
        (call("extensions", "install", "{}"), Kind.COMMAND),
        (call("extensions", "getInstalled"), None),
        (call("orchard", "harvest"), Kind.MESSAGE),
        (b"\x04\x02\x06\x65\x06\x9b\x09\x00", None),
        (b"\x04\x02\x06\xc9\x01\x06\x05\x00", None),
    ],
)
def test_calls_of_the_management_connection(data: bytes, kind: Kind | None) -> None:
    assert from_client(MANAGEMENT, data) == [kind]


def change(scheme: str, reason: str, name: str = THEIRS) -> str:
    return (
        f'[{{"$mid":1,"path":"{name}","scheme":"{scheme}"}},{{"changes":[{{"text":"a"}}],'
        f'"detailedReason":{{"source":"{reason}"}}}},true]'
    )


def cursor(selections: str, visible: str) -> str:
    return f'["vs.editor.ICodeEditor:2,$model4",{{"options":null,"selections":{selections},"visibleRanges":{visible}}}]'


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (method("$acceptModelChanged", change("vscode-remote", "cursor")), Kind.EDIT),
        (method("$acceptModelChanged", change("untitled", "cursor")), Kind.EDIT),
        (method("$acceptModelChanged", change("vscode-remote", "reloadFromDisk")), None),
        (method("$acceptModelChanged", change("output", "cursor", "tasks")), None),
        (method("$acceptEditorPropertiesChanged", cursor('{"source":"mouse"}', "null")), Kind.EDIT),
        (method("$acceptEditorPropertiesChanged", cursor("null", '[{"startLineNumber":1}]')), Kind.MESSAGE),
        (method("$acceptEditorPropertiesChanged", cursor('{"source":"api"}', "null")), None),
        (method("$acceptModelSaved"), Kind.SAVE),
        (method("$provideCompletionItems", type_=2), Kind.COMPLETION),
        (method("$provideHover", type_=4), Kind.COMPLETION),
        (method("$provideDecorations"), None),
        (method("$executeContributedCommand", '["git.refresh"]'), Kind.COMMAND),
        (method("$executeContributedCommand", '["_typescript.applyCompletionCommand /1"]'), None),
        (method("$onDidStartTask"), Kind.TASK),
        (method("$sendDAMessage"), Kind.DEBUGGING),
        (method("$executeCells"), Kind.NOTEBOOK),
        (method("$acceptTerminalInteraction"), Kind.TERMINAL_INPUT),
        (method("$onFileEvent"), None),
        (method("$onDidChangeWindowActive", "[true]"), None),
        (method("$onMessage"), Kind.MESSAGE),
        (method("$harvest"), Kind.MESSAGE),
        (b"\x05\x00\x00\x00\x07", None),
        (b'\x09\x00\x00\x00\x07{"answer":"$harvest"}', None),
        (b'{"commit":"53c2","$initData":1}', None),
        (b"\x02", None),
    ],
)
def test_calls_to_the_extension_host(data: bytes, kind: Kind | None) -> None:
    assert from_client(EXTENSION_HOST, data) == [kind]


@pytest.mark.parametrize(
    ("connection", "data", "kind"),
    [
        (
            MANAGEMENT,
            b"\x04\x02\x06\xcc\x01\x06\x9b\x09" + text('{"id":1,"event":"apple\\r\\n"}', 5),
            Kind.TERMINAL_OUTPUT,
        ),
        (
            MANAGEMENT,
            b"\x04\x02\x06\xcc\x01\x06\x9b\x09" + text('{"id":1,"event":' + f'"{"x" * 500}"}}', 5),
            Kind.TERMINAL_OUTPUT,
        ),
        (MANAGEMENT, b"\x04\x02\x06\xcc\x01\x06\x05" + text('{"id":1,"event":{"events":[{"data":"old"}]}}', 5), None),
        (MANAGEMENT, b"\x04\x02\x06\xcc\x01\x06\x05" + text('{"id":1,"property":{"type":"title"}}', 5), None),
        (MANAGEMENT, b"\x04\x02\x06\xc9\x01\x06\x05" + text('{"id":1,"event":"an answer"}', 5), None),
        (EXTENSION_HOST, method("$acceptDAMessage"), Kind.DEBUGGING),
        (EXTENSION_HOST, method("$sendProcessData"), Kind.TERMINAL_OUTPUT),
        (EXTENSION_HOST, method("$executeCommand", '["setContext"]'), None),
        (EXTENSION_HOST, method("$showMessage", '[2,"This workspace goes to sleep in 5 minutes"]'), None),
        (EXTENSION_HOST, method("$harvest"), None),
    ],
)
def test_what_a_server_sends(connection: int, data: bytes, kind: Kind | None) -> None:
    tunnel = opened(connection)
    assert tunnel.from_server.feed(frame(message(REGULAR, data)), 0) == kind


def test_a_call_that_nobody_knows_counts_until_it_shows_itself_as_clockwork() -> None:
    told = from_client(MANAGEMENT, *[call("orchard", "water")] * 8, every=30)
    assert told == [Kind.MESSAGE] * 3 + [None] * 5


@pytest.mark.parametrize("type_", [REGULAR, CONTROL, ACK, KEEP_ALIVE, 5, 6, 7, 8, 10, 11])
def test_a_message_without_data_never_counts(type_: int) -> None:
    for connection, typed in (
        (MANAGEMENT, call("remoteterminal", "$input", '[1,"f"]')),
        (EXTENSION_HOST, method("$acceptTerminalInteraction")),
    ):
        tunnel = opened(connection)
        assert tunnel.from_client.feed(frame(message(type_), mask=MASK), 0) is None
        assert tunnel.from_server.feed(frame(message(type_)), 0) is None
        assert tunnel.from_client.feed(frame(message(REGULAR, typed), mask=MASK), 1) is Kind.TERMINAL_INPUT


def test_several_messages_in_one_frame_and_one_message_in_several_frames() -> None:
    tunnel = opened(MANAGEMENT)
    typed = message(REGULAR, call("remoteterminal", "$input", '[1,"f"]'))
    assert (
        tunnel.from_client.feed(frame(message(KEEP_ALIVE) + typed + message(ACK), mask=MASK), 0) is Kind.TERMINAL_INPUT
    )
    parts = [frame(typed[:5], mask=MASK), frame(typed[5:20], mask=MASK), frame(typed[20:], mask=MASK)]
    assert [tunnel.from_client.feed(part, 1) for part in parts] == [None, None, Kind.TERMINAL_INPUT]


def test_fragments_with_control_frames_between_them_are_followed() -> None:
    tunnel = opened(MANAGEMENT)
    typed = message(REGULAR, call("remoteterminal", "$input", '[1,"f"]'))
    sent = (
        frame(typed[:9], mask=MASK, is_final=False)
        + frame(b"are you there?", mask=MASK, opcode=9)
        + frame(b"", mask=MASK, opcode=0, is_final=False)
        + frame(typed[9:], mask=MASK, opcode=0)
    )
    assert tunnel.from_client.feed(sent, 0) is Kind.TERMINAL_INPUT


def test_a_large_message_is_passed_over_and_what_follows_is_seen() -> None:
    tunnel = opened(MANAGEMENT)
    written = call("remoteFilesystem", "writeFile", path(OWN)) + bytes(300_000)
    typed = message(REGULAR, call("remoteterminal", "$input", '[1,"f"]'))
    sent = frame(message(REGULAR, written) + typed, mask=MASK)
    assert tunnel.from_client.feed(sent[:200_000], 0) is None
    assert tunnel.from_client.feed(sent[200_000:], 0) is Kind.TERMINAL_INPUT


def test_after_a_reconnect_printing_is_seen_though_it_was_subscribed_to_in_another_tunnel() -> None:
    tunnel = opened(MANAGEMENT, TARGET.replace(b"reconnection=false", b"reconnection=true"))
    printed = event('{"id":1,"event":"apple"}')
    assert tunnel.from_server.feed(frame(message(REGULAR, printed)), 0) is Kind.TERMINAL_OUTPUT


@pytest.mark.parametrize(
    ("connection", "changed"),
    [
        (MANAGEMENT, b"\x07\x05\x09\x64harvest"),
        (MANAGEMENT, b"\x04\x04\x06\x64\x06\x01\x09"),
        (EXTENSION_HOST, b"\x0e harvest"),
    ],
)
def test_calls_of_a_version_that_writes_them_in_another_way_count_unless_they_are_clockwork(
    connection: int, changed: bytes
) -> None:
    assert from_client(connection, *[changed] * 6, every=5) == [Kind.MESSAGE] * 3 + [None] * 3


def test_a_version_that_begins_in_another_way_is_judged_by_size_and_rhythm() -> None:
    tunnel = listen(TARGET)
    typed = frame(message(REGULAR, call("remoteterminal", "$input", '[1,"f"]')), mask=MASK)
    assert [tunnel.from_client.feed(typed, at) for at in (0, 1, 7)] == [None, Kind.MESSAGE, Kind.MESSAGE]


def test_a_forwarded_port_is_an_app_of_its_own() -> None:
    tunnel = listen(TARGET)
    said = message(CONTROL, b'{"type":"connectionType","desiredConnectionType":3}')
    assert tunnel.from_client.feed(frame(said, mask=MASK), 0) is None
    assert tunnel.from_client.feed(b"GET / HTTP/1.1\r\nHost: localhost:8000\r\n\r\n", 0) is Kind.MESSAGE
