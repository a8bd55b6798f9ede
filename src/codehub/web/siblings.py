"""The replicas that share a public address, and how each is reached alone: by a unix socket of its own."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

import httpx

SECONDS = 2.0
REPLICAS = "*.sock"
DOORS = "proxy/*.sock"
"""The processes of the front door, which tell about themselves and nothing else."""
ALONE = "serve"


class Siblings:
    """Sockets are named `replica.number.sock`, the number rising with each life: while one is being replaced there are
    two of the same name, and the newer one speaks for it."""

    def __init__(self, own: Path | None) -> None:
        self._own = own

    @property
    def name(self) -> str:
        """This replica's own."""
        return _name(self._own) if self._own is not None else ALONE

    async def answers(
        self, path: str, headers: Mapping[str, str] | None = None, among: Iterable[str] = (REPLICAS,)
    ) -> dict[str, str | None]:
        """What each of the others answers to this question; None where it does not."""
        asked = self._others(among)
        texts = await asyncio.gather(*(_ask(socket, path, headers) for socket in asked.values()))
        return dict(zip(asked, texts, strict=True))

    def _others(self, among: Iterable[str]) -> dict[str, Path]:
        if self._own is None:
            return {}
        sockets = [socket for pattern in among for socket in self._own.parent.glob(pattern)]
        newest = {_name(socket): socket for socket in sorted(sockets, key=_number)}
        newest.pop(self.name, None)
        return newest


def _name(socket: Path) -> str:
    return socket.name.split(".")[0]


def _number(socket: Path) -> int:
    return int(socket.name.split(".")[1])


async def _ask(socket: Path, path: str, headers: Mapping[str, str] | None) -> str | None:
    transport = httpx.AsyncHTTPTransport(uds=str(socket))
    try:
        async with httpx.AsyncClient(transport=transport, timeout=SECONDS, trust_env=False) as client:
            answer = await client.get(f"http://localhost{path}", headers=headers)
    except httpx.HTTPError:
        return None
    return answer.text if answer.is_success else None
