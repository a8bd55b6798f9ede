"""Plain HTTP: which request is somebody's, and which is a page's own business (contract 14).

A document that is opened counts, and so does a request of an app. Health checks, parts of a page, what a browser asks
to see whether it has changed, and polling do not."""

import re
from collections.abc import Mapping
from uuid import UUID

from codehub.model.activity import Kind
from codehub.proxy.activity.rhythm import Rhythm

_DOCUMENT = b"document"
_OF_A_SCRIPT = b"empty"
"""As browsers name what a script fetches. What is neither this nor a document is a part of a page."""
_CONDITIONS = (b"if-none-match", b"if-modified-since")
_READ_AHEAD = (b"sec-purpose", b"purpose")

_UNLESS_CLOCKWORK = (Kind.PAGE, Kind.REQUEST)
MOST_WORKSPACES = 1024
"""Of which it remembers the rhythm; the one that was seen first is forgotten first."""

_KNOWN: tuple[tuple[re.Pattern[bytes], Kind | None], ...] = (
    (re.compile(rb"(?:HEAD|OPTIONS|TRACE) "), None),
    (re.compile(rb"\w+ .*/(?:healthz?|livez|readyz|ping|metrics|api/status)$"), None),
    # VS Code: its own files
    (re.compile(rb"GET .*/(?:_?static|vscode-remote-resource|out)(?:/|$)"), None),
    (re.compile(rb"\w+ .*/(?:mint-key|update/check|manifest\.json|favicon\.\w+)$"), None),
    # JupyterLab polls all of these every ten seconds, and stores its own layout as often
    (re.compile(rb"GET .*/api/(?:sessions|kernels|terminals|kernelspecs|contents|config|me|nbconvert)(?:/|$)"), None),
    (re.compile(rb"GET .*/(?:lab/api|lsp)/"), None),
    (re.compile(rb"PUT .*/lab/api/workspaces/"), None),
    (re.compile(rb"\w+ .*/api/contents(?:/|$)"), Kind.SAVE),
    (re.compile(rb"\w+ .*/api/(?:sessions|kernels|terminals)(?:/|$)"), Kind.COMMAND),
)
"""By method and path, the first that matches. They apply to every workspace: an app of its own that answers at one of
these paths is treated the same."""


class Requests:
    """What is asked of workspaces over HTTP, WebSockets aside. It remembers which requests recur like clockwork."""

    __slots__ = ("_rhythms",)

    def __init__(self) -> None:
        self._rhythms: dict[UUID, Rhythm] = {}

    def seen(
        self, workspace_id: UUID, method: bytes, target: bytes, headers: Mapping[bytes, bytes], now: float
    ) -> Kind | None:
        """What a request tells of a person or their work. Header names are in lower case."""
        if any(name in headers for name in _READ_AHEAD):
            return None
        what = method + b" " + target.partition(b"?")[0]
        kind = _kind(what, method, headers)
        if kind in _UNLESS_CLOCKWORK and self._rhythm(workspace_id).is_clockwork(hash(what), now):
            return None
        return kind

    def _rhythm(self, workspace_id: UUID) -> Rhythm:
        rhythm = self._rhythms.get(workspace_id)
        if rhythm is None:
            if len(self._rhythms) >= MOST_WORKSPACES:
                del self._rhythms[next(iter(self._rhythms))]
            rhythm = self._rhythms[workspace_id] = Rhythm()
        return rhythm


def _kind(what: bytes, method: bytes, headers: Mapping[bytes, bytes]) -> Kind | None:
    if _is_document(method, headers):
        return Kind.PAGE
    if headers.get(b"sec-fetch-dest", _OF_A_SCRIPT) != _OF_A_SCRIPT or any(name in headers for name in _CONDITIONS):
        return None
    for pattern, kind in _KNOWN:
        if pattern.match(what):
            return kind
    return Kind.REQUEST


def _is_document(method: bytes, headers: Mapping[bytes, bytes]) -> bool:
    """Where a browser does not say, which it does only over TLS or on one's own machine, by what it would take."""
    destination = headers.get(b"sec-fetch-dest")
    if destination is not None:
        return destination == _DOCUMENT
    return method == b"GET" and b"text/html" in headers.get(b"accept", b"")
