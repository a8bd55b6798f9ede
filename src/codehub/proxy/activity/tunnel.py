"""Which tunnel is read by whom: one table, by what the upgrade request asked for."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from codehub.model.activity import Kind
from codehub.proxy.activity import general, jupyter, vscode
from codehub.proxy.activity.frames import Frames, Reader, Side


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Both directions of one WebSocket. Feed each with all that passes, in order; pieces may begin and end anywhere."""

    from_client: Side
    from_server: Side


class Silent:
    """A tunnel in which nothing counts."""

    __slots__ = ()

    def feed(self, data: bytes | memoryview, now: float) -> Kind | None:  # noqa: ARG002
        return None


def listen(target: bytes) -> Tunnel:
    """For the tunnel that a workspace has opened at this target (path and query, as sent on to it).

    That a tunnel opens is no activity, so a reconnect (`reconnection=true`) needs no rule of its own: what VS Code
    sends again after one are its last calls, which count as before, and what terminals printed meanwhile is work."""
    for pattern, made in _READ_BY:
        if pattern.search(target):
            return made()
    return _read(general.Client(), general.Server())


def _read(client: Reader, server: Reader) -> Tunnel:
    return Tunnel(
        Frames(client, general.Pieces(), is_client=True),
        Frames(server, general.Pieces(), is_client=False),
    )


def _vscode() -> Tunnel:
    connection = vscode.Connection()
    return _read(vscode.FromClient(connection), vscode.FromServer(connection))


_READ_BY: tuple[tuple[re.Pattern[bytes], Callable[[], Tunnel]], ...] = (
    # Without frames, as VS Code's own programs may speak: sizes are all that is known.
    (re.compile(rb"[?&]skipWebSocketFrames=true"), lambda: Tunnel(general.Pieces(), general.Pieces())),
    (re.compile(rb"[?&]reconnectionToken="), _vscode),
    (re.compile(rb"/api/kernels/[^/?]+/channels(?:\?|$)"), lambda: _read(jupyter.ToKernel(), jupyter.FromKernel())),
    (re.compile(rb"/terminals/websocket/[^/?]+(?:\?|$)"), lambda: _read(jupyter.ToTerminal(), jupyter.FromTerminal())),
    (re.compile(rb"/api/events/subscribe(?:\?|$)"), lambda: Tunnel(Silent(), Silent())),
)
