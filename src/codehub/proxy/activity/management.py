"""The calls of a tab's management connection: files, terminals, extensions. What each means.

A call is a list of type, id, channel and command, then its arguments; an event is a list of type and id, then its data.
Strings and JSON stand in clear text.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from codehub.model.activity import Kind
from codehub.proxy.activity.calls import UNREADABLE, Meaning

_EVENT = 0xCC  # of 204, the first byte
_NO_REQUESTS = frozenset((101, 102, 103, *range(0xC8, 0xCD)))
"""Types: withdrawn, subscribed and unsubscribed, and (of 200 to 204) the first bytes of answers and events."""
_FIRST = b"\x05"
"""The first message of all is no list: it tells who the client is."""
_CALL = re.compile(
    rb"\x04\x04\x06\x64\x06[\x80-\xff]{0,4}[\x00-\x7f]\x01[\x00-\x7f]([!-~]+)\x01[\x00-\x7f]([!-~]+)", re.DOTALL
)
_TERMINAL_DATA = re.compile(
    rb'\x04\x02\x06\xcc\x01\x06[\x80-\xff]{0,4}[\x00-\x7f]\x05[\x80-\xff]{0,4}[\x00-\x7f]{"id":\d+,"event":"'
)
"""What a terminal printed, known by its shape: the id is that of a subscription, which after a reconnect was made in
another tunnel. What is printed again to a tab that comes back has another shape."""

_PATH = re.compile(rb'"path":"([^"]*)')
_IDES_OWN = re.compile(
    rb"/\.(?:local/share/code-server|config/code-server|vscode-server|vscode-remote|openvscode-server)(?:/|$)"
    rb"|/User/(?:workspaceStorage|globalStorage|History|Backups|caches|logs)(?:/|$)"
)
"""The IDE's own data folders, to which an idle tab writes every few seconds."""


def saved(head: bytes) -> Kind | None:
    """Somebody's file, unless every path that is seen lies in a folder of the IDE's own."""
    paths = _PATH.findall(head)
    return None if paths and all(map(_IDES_OWN.search, paths)) else Kind.SAVE


def acted(head: bytes) -> Kind | None:
    """The telemetry of the IDE tells of every command that a person gave by keyboard, menu or mouse, and says so even
    where it is switched off: it never leaves the workspace then."""
    return Kind.COMMAND if b'"eventName":"workbenchActionExecuted"' in head else None


_MEANINGS: Mapping[tuple[bytes, bytes], Meaning] = {
    (b"remoteterminal", b"$input"): Kind.TERMINAL_INPUT,
    (b"remoteterminal", b"$sendSignal"): Kind.TERMINAL_INPUT,
    (b"remoteFilesystem", b"writeFile"): saved,
    (b"remoteFilesystem", b"rename"): saved,
    (b"remoteFilesystem", b"delete"): saved,
    (b"remoteFilesystem", b"mkdir"): saved,
    (b"remoteFilesystem", b"copy"): saved,
    (b"remoteFilesystem", b"cloneFile"): saved,
    (b"remoteFilesystem", b"open"): None,  # to read; what is written to it is a `write`
    (b"remoteFilesystem", b"write"): Kind.SAVE,
    (b"remoteFilesystem", b"close"): None,
    (b"telemetry", b"logTelemetry"): acted,
    (b"extensions", b"install"): Kind.COMMAND,
    (b"extensions", b"installFromGallery"): Kind.COMMAND,
    (b"extensions", b"uninstall"): Kind.COMMAND,
}

_UPKEEP_CHANNELS = frozenset((b"telemetry", b"logger", b"request", b"remoteterminal", b"extensionhostdebugservice"))
"""Of these nothing else counts: terminals are measured, resized, renamed and found again by the tab itself."""

_UPKEEP_WORDS = re.compile(
    rb"\$?(?:get|is|has|on|stat|read|readdir|watch|unwatch|scan|when|set|load|log|ping|resolve|connect|realpath|query|check|"
    rb"acknowledge|dispose)(?![a-z])"
)
"""A call whose name begins with one of these asks or tells, and changes nothing."""


@lru_cache(maxsize=512)
def _meaning(channel: bytes, command: bytes) -> Meaning:
    if (channel, command) in _MEANINGS:
        return _MEANINGS[channel, command]
    if channel in _UPKEEP_CHANNELS or _UPKEEP_WORDS.match(command):
        return None
    return channel + b"." + command


class Management:
    """The connection of files, terminals and extensions."""

    @staticmethod
    def is_call(data: bytes | memoryview, start: int, stop: int) -> bool:
        return stop - start > 3 and data[start + 3] not in _NO_REQUESTS

    @staticmethod
    def is_news(data: bytes | memoryview, start: int, stop: int) -> bool:
        return stop - start > 3 and data[start + 3] == _EVENT

    @staticmethod
    def from_client(head: bytes) -> Meaning:
        call = _CALL.match(head)
        if call is None:
            return None if head.startswith(_FIRST) else UNREADABLE
        return _meaning(*call.groups())

    @staticmethod
    def from_server(head: bytes) -> Kind | None:
        return Kind.TERMINAL_OUTPUT if _TERMINAL_DATA.match(head) else None
